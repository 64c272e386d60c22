"""The plugin that registers the export of schedules as pages."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.model import Schedule
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import ExporterInfo


def _page(schedule: Schedule) -> str:
    from cchybrid.view.drawing.page import page

    return page(schedule)


@hookimpl
def cchybrid_exporters() -> Iterable[ExporterInfo]:
    """Return the format of pages."""
    return (ExporterInfo("html", _page, "an interactive page, as of cchybrid draw"),)
