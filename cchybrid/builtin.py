"""The plugin that registers what the core itself brings, through the hooks everybody uses."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.bounds import BOUNDS
from cchybrid.collectives import PATTERNS
from cchybrid.export import EXPORTERS
from cchybrid.hookspecs import hookimpl
from cchybrid.records import BoundInfo, CollectiveInfo, ExporterInfo, TopologyInfo
from cchybrid.topologies import FAMILIES


@hookimpl
def cchybrid_topologies() -> Iterable[TopologyInfo]:
    """Return the families of ``cchybrid.topologies``."""
    return FAMILIES


@hookimpl
def cchybrid_collectives() -> Iterable[CollectiveInfo]:
    """Return the patterns of ``cchybrid.collectives``."""
    return PATTERNS


@hookimpl
def cchybrid_bounds() -> Iterable[BoundInfo]:
    """Return the kinds of ``cchybrid.bounds``."""
    return BOUNDS


@hookimpl
def cchybrid_exporters() -> Iterable[ExporterInfo]:
    """Return the formats of ``cchybrid.export``."""
    return EXPORTERS
