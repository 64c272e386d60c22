"""The typed records that plugins register; ``hookspecs`` says when each is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Protocol

from cchybrid.library.records import API, CollectiveInfo, Roles, TopologyInfo
from cchybrid.model import Schedule
from cchybrid.proof.records import BoundFunction, BoundInfo, load_target

__all__ = [
    "API",
    "KINDS",
    "BoundFunction",
    "BoundInfo",
    "CollectiveInfo",
    "EngineInfo",
    "ExporterInfo",
    "Observer",
    "Roles",
    "TopologyInfo",
    "load_target",
]

Kind = Literal["heuristic", "exact", "construction"]
KINDS: tuple[Kind, ...] = ("heuristic", "exact", "construction")


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
    kind
        ``heuristic``: finds schedules. ``exact``: may also show that a number of steps is
        impossible. ``construction``: ends by itself within a second or so.
    priority
        Engines of one kind are tried in descending priority, those of equal priority by name. The
        engines of cchybrid have priorities above 0; others are tried after them, and earn more
        time by what they find.
    baseline
        Whether the engine is there to compare others with: it takes part only where it is named.
    prepares
        Whether the engine has a method ``prepare``, which compiles what ``solve`` needs: it runs
        once per installation, outside the time limit.
    former_names
        Names that the engine had before: they still work, and the user is referred to ``name``.
    requires
        Distributions it needs beyond cchybrid's own; listed without importing them.
    api
        The version of the plugin interface that the engine was written for.
    """

    name: str
    target: str
    summary: str
    _: KW_ONLY
    kind: Kind = "heuristic"
    priority: int = 0
    baseline: bool = False
    prepares: bool = False
    former_names: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    api: int = API

    @property
    def proves(self) -> bool:
        """Whether the engine may report bounds."""
        return self.kind == "exact"


@dataclass(frozen=True)
class ExporterInfo:
    """A way to write a verified schedule for other tools: ``export(schedule)`` returns the text."""

    name: str
    export: Callable[[Schedule], str]
    summary: str
    api: int = API


class Observer(Protocol):
    """Called with every event of a run, in order; schedules and bounds in it are verified ones.

    An event is a mapping with at least ``event`` (its kind) and ``seconds`` (since the start);
    ``docs/hooks.md`` lists the kinds.
    """

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Take note of one event; an exception costs the observer its place, not the run."""
