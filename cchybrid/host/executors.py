"""The executor that the user names, and that of clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cchybrid.model.errors import CchybridError, InputError, PluginError
from cchybrid.model.text import error_line
from cchybrid.plugin.executor import Executor, ExecutorSettings
from cchybrid.plugin.records import ExecutorInfo
from cchybrid.plugin.registry import Registry
from cchybrid.system.interrupts import interrupts_ignored

LOCAL = "local"


def executor_name(registry: Registry, name: str | None, address: str | None) -> str:
    """Return the name of the executor: that of clusters if only an address is given, or local."""
    if name is None and address is not None:
        return cluster_executor(registry, "--cluster").name
    return (name or LOCAL).lower()


def cluster_executor(registry: Registry, where: str) -> ExecutorInfo:
    """Return the first executor with a session for ``solve``.

    Raises
    ------
    InputError
        No plugin has one; ``where`` is what asks for it.
    """
    for info in registry.executors.values():
        if info.session:
            return info
    raise InputError("no plugin works on other machines", where=where, hint="leave it out")


@contextmanager
def opened(
    registry: Registry,
    name: str,
    address: str | None,
    jobs: int,
    threads: int,
    say: Callable[[str], None],
) -> Iterator[Executor]:
    """Open an executor, and end all its jobs afterwards, even after errors or Ctrl-C.

    Parameters
    ----------
    name
        The executor, in any case.
    address
        Where the machines are found; ``local`` or ``None``: this machine.
    jobs, threads, say
        As in ``ExecutorSettings``.

    Raises
    ------
    InputError
        There is no such executor, or its machines cannot be used.
    """
    info = registry.executor(name)
    if address is not None and info.name == LOCAL:
        raise InputError(
            "this machine has no address", where="--cluster", hint="leave --executor local out"
        )
    settings = ExecutorSettings(None if address == LOCAL else address, jobs, threads, say)
    made = registry.load("executor", info)
    try:
        executor: Executor = made(settings)
    except CchybridError:
        raise
    except Exception as error:
        provider = registry.provider["executor", info.name.lower()]
        raise PluginError(
            f"plugin {provider}: executor {info.name}: {error_line(error)}"
        ) from error
    try:
        yield executor
    finally:
        with interrupts_ignored():  # a second Ctrl-C must leave no process behind
            executor.close()
