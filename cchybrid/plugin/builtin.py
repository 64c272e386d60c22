"""The plugin that registers the networks, collectives and bound providers of cchybrid."""

from collections.abc import Iterable

from cchybrid.library.collectives import PATTERNS
from cchybrid.library.topologies import FAMILIES
from cchybrid.plugin import records
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.proof import BOUNDS


@hookimpl
def cchybrid_topologies() -> Iterable[records.TopologyInfo]:
    """Return the families of ``cchybrid.library.topologies``."""
    return FAMILIES


@hookimpl
def cchybrid_collectives() -> Iterable[records.CollectiveInfo]:
    """Return the patterns of ``cchybrid.library.collectives``."""
    return PATTERNS


@hookimpl
def cchybrid_executors() -> Iterable[records.ExecutorInfo]:
    """Return the executor of this machine."""
    return (
        records.ExecutorInfo(
            "local", "cchybrid.host.local_executor:LocalExecutor", "processes of this machine"
        ),
    )


@hookimpl
def cchybrid_bounds() -> Iterable[records.BoundInfo]:
    """Return the bound providers of ``cchybrid.proof``."""
    return BOUNDS


@hookimpl
def cchybrid_strategies() -> Iterable[records.StrategyInfo]:
    """Return the strategies of ``cchybrid.host.strategies``."""
    summaries = {
        "auto": "probes all engines, then gives time to those that gain",
        "race": "all engines at once",
        "relay": "heuristics first, then the exact engine",
        "quotients": "all engines at once, on quotients by symmetries only",
    }
    return [
        records.StrategyInfo(name, f"cchybrid.host.strategies:{name.upper()}", summary)
        for name, summary in summaries.items()
    ]
