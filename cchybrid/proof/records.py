"""The record of a bound provider, as plugins register it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from cchybrid.library.records import API
from cchybrid.model import Instance, LowerBound

BoundFunction = Callable[[Instance], Iterator[LowerBound]]


@dataclass(frozen=True)
class BoundInfo:
    """A bound provider.

    ``target`` is ``package.module:function``, imported only where it runs. The function takes an
    ``Instance`` of kind ``deliver`` and yields increasing ``LowerBound`` objects whose evidence
    ``checker`` can check. Providers run in ascending ``order``: cheap ones first. Unless ``rounds``
    is true, the function sees no steps of several rounds: every step is as wide as the widest.
    """

    name: str
    target: str
    summary: str
    order: int = 100
    rounds: bool = False
    api: int = API


def bounds_of(target: str, rounds: bool, instance: Instance) -> Iterator[LowerBound]:
    """Import a provider and yield its bounds for an instance; the import may take long.

    Parameters
    ----------
    target, rounds
        As in ``BoundInfo``.
    """
    forward = instance.forward
    yield from load_target(target)(forward if rounds else forward.widest)


def load_target(target: str) -> Any:
    """Return the object ``package.module:name``."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def later(target: str) -> Callable[..., Any]:
    """Return a function that, when called, imports ``package.module:name`` and calls it."""

    def call(*arguments: Any) -> Any:
        return load_target(target)(*arguments)

    return call
