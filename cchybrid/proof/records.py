"""The typed record of a kind of lower bound, as plugins register it."""

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
    """A kind of lower bound.

    ``target`` is ``package.module:function``, imported only where it runs. The function takes an
    ``Instance`` that is of kind ``deliver`` and yields ever better ``LowerBound`` objects whose
    evidence ``certify`` can check. Providers run in ascending ``order``: the cheap ones first.
    """

    name: str
    target: str
    summary: str
    order: int = 100
    api: int = API


def load_target(target: str) -> Any:
    """Return what ``package.module:name`` names."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)
