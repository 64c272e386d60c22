"""The plugin that registers the exporters to the formats of other tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import ExporterInfo


def _later(module: str, function: str) -> Callable[..., Any]:
    """Return a function that imports a module of this package when it is called."""

    def export(*arguments: Any) -> Any:
        return getattr(import_module(f"cchybrid.exchange.{module}"), function)(*arguments)

    return export


@hookimpl
def cchybrid_exporters() -> Iterable[ExporterInfo]:
    """Return the formats of other tools."""
    return (
        ExporterInfo("msccl", _later("export_msccl", "export_msccl"), "MSCCL XML, for GPUs"),
        ExporterInfo(
            "mscclpp", _later("export_mscclpp", "export_mscclpp"), "JSON plan of MSCCL++, for GPUs"
        ),
        ExporterInfo(
            "goal", _later("export_goal", "export_goal"), "GOAL, for LogGOPSim", sized=True
        ),
        ExporterInfo(
            "anynet", _later("export_graphs", "export_anynet"), "the network, for BookSim"
        ),
        ExporterInfo(
            "graphml", _later("export_graphs", "export_graphml"), "the network and its use, GraphML"
        ),
        ExporterInfo("dot", _later("export_graphs", "export_dot"), "the same for Graphviz"),
        ExporterInfo(
            "routes", _later("export_tables", "export_routes"), "routing tables of all nodes, CSV"
        ),
        ExporterInfo(
            "jsonl", _later("export_tables", "export_jsonl"), "a JSON object per transfer and line"
        ),
    )
