"""The hooks that a plugin may implement: the whole plugin surface on one screen.

A plugin is a module (or object) with functions marked ``@hookimpl``, named by an entry point in
the group ``cchybrid``. ``docs/hooks.md`` has a complete, tested example of every hook.
"""

from __future__ import annotations

from collections.abc import Iterable

import pluggy

from cchybrid.plugin.records import (
    BoundInfo,
    CollectiveInfo,
    EngineInfo,
    ExporterInfo,
    Observer,
    TopologyInfo,
)

hookspec = pluggy.HookspecMarker("cchybrid")
hookimpl = pluggy.HookimplMarker("cchybrid")


class HookSpecs:
    """Every hook is asked once, when the registry is loaded, and returns typed records."""

    @hookspec
    def cchybrid_engines(self) -> Iterable[EngineInfo]:  # type: ignore[empty-body]
        """Return the engines to register; their code is imported only in their own workers."""

    @hookspec
    def cchybrid_topologies(self) -> Iterable[TopologyInfo]:  # type: ignore[empty-body]
        """Return the families of networks that users may name."""

    @hookspec
    def cchybrid_collectives(self) -> Iterable[CollectiveInfo]:  # type: ignore[empty-body]
        """Return the collectives that users may name."""

    @hookspec
    def cchybrid_bounds(self) -> Iterable[BoundInfo]:  # type: ignore[empty-body]
        """Return kinds of lower bounds; every bound is checked before it counts."""

    @hookspec
    def cchybrid_exporters(self) -> Iterable[ExporterInfo]:  # type: ignore[empty-body]
        """Return ways to write a verified schedule for other tools."""

    @hookspec
    def cchybrid_observers(self) -> Iterable[Observer]:  # type: ignore[empty-body]
        """Return callables that are told every verified event of every run."""
