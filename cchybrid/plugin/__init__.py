"""The interface for plugin authors: ``Engine`` and ``Run``, typed records, hooks.

``from cchybrid.plugin import EngineInfo, NoOptions, Stop, hookimpl`` suffices for most plugins.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.imported import BrokenRule, Imported, ImportRequest
from cchybrid.plugin.records import (
    API,
    BoundInfo,
    CollectiveInfo,
    CostTermInfo,
    DesignerInfo,
    EngineInfo,
    ExporterInfo,
    ImporterInfo,
    Observer,
    Roles,
    TopologyInfo,
)

if TYPE_CHECKING:
    from cchybrid.plugin.engine import Budget, Engine, NoOptions, Run, Stop

__all__ = [
    "API", "BoundInfo", "BrokenRule", "Budget", "CollectiveInfo", "CostTermInfo", "DesignerInfo",
    "Engine", "EngineInfo", "ExporterInfo", "ImportRequest", "Imported", "ImporterInfo",
    "NoOptions", "Observer", "Roles", "Run", "Stop", "TopologyInfo", "hookimpl",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # Imported at first use: every command loads all plugins, and numpy takes long to import.
    if name not in ("Budget", "Engine", "NoOptions", "Run", "Stop"):
        raise AttributeError(f"module 'cchybrid.plugin' has no attribute {name!r}")
    return getattr(import_module("cchybrid.plugin.engine"), name)
