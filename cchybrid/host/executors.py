"""The executor that the user names, and that of clusters."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from cchybrid.model.errors import CchybridError, InputError, PluginError
from cchybrid.model.text import error_line
from cchybrid.plugin.executor import Executor, ExecutorSettings, Job, JobAnswer
from cchybrid.plugin.records import ExecutorInfo
from cchybrid.plugin.registry import Registry
from cchybrid.system.interrupts import interrupts_ignored

LOCAL = "local"
_T = TypeVar("_T")


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
    provider = registry.provider["executor", info.name.lower()]
    made = registry.load("executor", info)
    executor = CheckedExecutor(f"plugin {provider}: executor {info.name}", made, settings)
    try:
        yield executor
    finally:
        with interrupts_ignored():  # a second Ctrl-C must leave no process behind
            executor.close()


class CheckedExecutor:
    """An executor whose errors name its plugin, and whose answers have the right types.

    Parameters
    ----------
    title
        The plugin and the executor, for errors.
    make
        The class of the executor.
    settings
        The settings for it; an error at its end is said, as results count nevertheless.
    """

    def __init__(
        self, title: str, make: Callable[[ExecutorSettings], Executor], settings: ExecutorSettings
    ) -> None:
        self._title, self._say = title, settings.say
        self._executor = self._called(make, settings)

    def _called(self, function: Callable[..., _T], *arguments: Any) -> _T:
        try:
            return function(*arguments)
        except CchybridError:
            raise
        except Exception as error:
            raise PluginError(f"{self._title}: {error_line(error)}") from error

    def slots(self, threads: int) -> int:
        """Return the number of jobs of this many threads that may run at the same time."""
        found = self._called(self._executor.slots, threads)
        if type(found) is not int:
            raise PluginError(f"{self._title}: {found!r:.60} is no number of jobs")
        return found

    def submit(self, job: Job) -> None:
        """Start a job."""
        self._called(self._executor.submit, job)

    def poll(self, seconds: float) -> list[JobAnswer]:
        """Return the answers of jobs that have ended, waiting at most so long for one."""
        found = self._called(lambda: list(self._executor.poll(seconds)))
        for answer in found:
            if not (isinstance(answer, JobAnswer) and isinstance(answer.output, bytes)):
                raise PluginError(f"{self._title}: {answer!r:.60} is no answer of a job")
        return found

    def cancel(self) -> None:
        """End all jobs."""
        self._called(self._executor.cancel)

    def close(self) -> None:
        """End all jobs, and give the machines back."""
        try:
            self._called(self._executor.close)
        except CchybridError as error:
            self._say(str(error))
