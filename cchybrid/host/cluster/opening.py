"""Opening of the executor that the user names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

from cchybrid.model.errors import CchybridError, InputError, PluginError
from cchybrid.model.text import error_line
from cchybrid.plugin.executor import Executor, ExecutorSettings
from cchybrid.plugin.registry import Registry
from cchybrid.system.interrupts import interrupts_ignored

LOCAL = "local"
DASK = "dask"


def executor_name(name: str | None, address: str | None) -> str:
    """Return the name of the executor: ``dask`` if only an address is given, else ``local``."""
    return (name or (LOCAL if address is None else DASK)).lower()


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
    module, _, kind = info.target.partition(":")
    settings = ExecutorSettings(None if address == LOCAL else address, jobs, threads, say)
    try:
        executor: Executor = getattr(import_module(module), kind)(settings)
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
