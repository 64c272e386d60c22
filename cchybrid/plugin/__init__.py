"""The interface for plugin authors: ``Engine`` and ``Run``, typed records, hooks.

``from cchybrid.plugin import EngineInfo, NoOptions, Stop, hookimpl`` suffices for most plugins.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.imported import BrokenRule, Imported, ImportRequest
from cchybrid.plugin.records import (
    API,
    BenchmarkKind,
    BoundInfo,
    CheckInfo,
    CollectiveInfo,
    CommandInfo,
    CostTermInfo,
    DesignerInfo,
    EngineInfo,
    ExecutorInfo,
    ExporterInfo,
    ImporterInfo,
    NameInfo,
    Observer,
    ProofFormatInfo,
    Roles,
    StrategyInfo,
    TopologyInfo,
)

if TYPE_CHECKING:
    from cchybrid.plugin.engine import Budget, Engine, EngineBase, NoOptions, Run, Stop
    from cchybrid.plugin.executor import Executor, ExecutorSettings, Job, JobAnswer, run_job

__all__ = [
    "API", "BenchmarkKind", "BoundInfo", "BrokenRule", "Budget", "CheckInfo", "CollectiveInfo",
    "CommandInfo", "CostTermInfo", "DesignerInfo", "Engine", "EngineBase", "EngineInfo",
    "Executor", "ExecutorInfo", "ExecutorSettings", "ExporterInfo", "ImportRequest", "Imported",
    "ImporterInfo", "Job", "JobAnswer", "NameInfo", "NoOptions", "Observer", "ProofFormatInfo",
    "Roles", "Run", "Stop", "StrategyInfo", "TopologyInfo", "hookimpl", "run_job",
]  # fmt: skip

_LATER = {
    "cchybrid.plugin.engine": ("Budget", "Engine", "EngineBase", "NoOptions", "Run", "Stop"),
    "cchybrid.plugin.executor": ("Executor", "ExecutorSettings", "Job", "JobAnswer", "run_job"),
}


def __getattr__(name: str) -> Any:
    # Imported at first use: every command loads all plugins, and numpy takes long to import.
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'cchybrid.plugin' has no attribute {name!r}")
