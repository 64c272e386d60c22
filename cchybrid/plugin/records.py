"""The typed records that plugins register; ``hookspecs`` says when each is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from cchybrid.library.records import API, CollectiveInfo, Roles, TopologyInfo
from cchybrid.model import Schedule
from cchybrid.proof.records import BoundFunction, BoundInfo, load_target

__all__ = [
    "API",
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
