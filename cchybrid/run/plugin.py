"""The plugin that registers the export of schedules as programs."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.model import Schedule
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import ExporterInfo


def _mpi(schedule: Schedule) -> str:
    from cchybrid.run.mpi import export_mpi

    return export_mpi(schedule)


@hookimpl
def cchybrid_exporters() -> Iterable[ExporterInfo]:
    """Return the formats of programs."""
    return (ExporterInfo("mpi", _mpi, "an mpi4py program that performs, checks and times it"),)
