"""The executor of benchmark runs on this machine."""

from __future__ import annotations

from cchybrid.host.cluster.local import LocalExecutor
from cchybrid.plugin.executor import ExecutorSettings


def local(jobs: int) -> LocalExecutor:
    return LocalExecutor(ExecutorSettings(jobs=jobs))
