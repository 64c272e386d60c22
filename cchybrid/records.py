"""The typed records that plugins register; ``hookspecs`` says when each is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from cchybrid.model import Collective, Instance, LowerBound, Network, Schedule

API = 1
"""The version of the plugin surface; a plugin written for another one is refused."""


@dataclass(frozen=True)
class TopologyInfo:
    """A family of networks that users name, such as ``mesh-4x8``.

    Parameters
    ----------
    name
        The family: ``mesh``.
    usage
        How users write a member: ``mesh-AxB[xC...]``.
    pattern
        Regular expression that a whole lower-case name must match: ``mesh-(\\d+(?:x\\d+)+)``.
    build
        Called with the pattern's groups (strings) in order; returns the network, whose name is
        set by the caller. Raises ``InputError`` for parameters that make no sense.
    summary
        One line, shown by ``cchybrid topologies``.
    example
        A name that works: ``mesh-4x4``.
    """

    name: str
    usage: str
    pattern: str
    build: Callable[..., Network]
    summary: str
    example: str
    api: int = API


@dataclass(frozen=True)
class Roles:
    """Who takes part in a collective.

    ``participants`` are the nodes that the collective is about, ascending; ``root`` is one of
    them; ``transmitters`` and ``receivers`` are subsets, both equal to ``participants`` unless
    the user or the file says otherwise. ``argument`` is what the user wrote behind the
    collective's name and a colon, or "".
    """

    participants: tuple[int, ...]
    root: int
    transmitters: tuple[int, ...]
    receivers: tuple[int, ...]
    argument: str = ""


@dataclass(frozen=True)
class CollectiveInfo:
    """A collective that users name, such as ``AAB``.

    ``build`` makes the messages from the roles. ``usage`` shows how users write it.
    """

    name: str
    usage: str
    build: Callable[[Roles], Collective]
    summary: str
    api: int = API


@dataclass(frozen=True)
class EngineInfo:
    """An engine: an optimizer that offers assignments and may prove bounds.

    Parameters
    ----------
    name
        What users write behind ``--engine``.
    target
        ``package.module:Class``, imported only in the engine's own worker process.
    summary
        One line, shown by ``cchybrid engines``.
    proves
        Whether the engine can show that a number of steps is impossible.
    requires
        Distributions it needs beyond cchybrid's own; listed without importing them.
    baseline
        Whether the engine is there to compare others with: it takes part only where it is named,
        and leaves the processors to the others where it is not.
    quick
        Whether it ends by itself within a second or so: it goes first, and where it closes the
        case, no other engine is started.
    api
        The version of the plugin surface that the engine was written for.
    """

    name: str
    target: str
    summary: str
    proves: bool = False
    requires: tuple[str, ...] = ()
    baseline: bool = False
    quick: bool = False
    api: int = API


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


@dataclass(frozen=True)
class ExporterInfo:
    """A way to write a verified schedule for other tools: ``export(schedule)`` returns the text."""

    name: str
    export: Callable[[Schedule], str]
    summary: str
    api: int = API


BoundFunction = Callable[[Instance], Iterator[LowerBound]]


class Observer(Protocol):
    """Called with every event of a run, in order; schedules and bounds in it are verified ones.

    An event is a mapping with at least ``event`` (its kind) and ``seconds`` (since the start);
    ``docs/hooks.md`` lists the kinds.
    """

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Take note of one event; an exception costs the observer its place, not the run."""


def load_target(target: str) -> Any:
    """Return what ``package.module:name`` names."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)
