"""The instance of a run and its Problem: from the host to all workers.

A small instance is sent to every worker as a line of JSON, and the worker builds the Problem. The
messages of a large one are checked and its Problem is built once: the host writes the instance to a
file without a name, a child process (``problem_builder``) writes its Problem to another one, and
the workers map them. Its paths are listed by each worker that reads them; many never do. A worker
that finds no complete Problem, as the child process has failed, builds its own.
"""

import contextlib
import gc
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from cchybrid.host.wire import encode
from cchybrid.model import Instance
from cchybrid.model.json_fields import parse_json
from cchybrid.problem import Problem, build_problem, count_deliveries, too_large
from cchybrid.system.processes import private_memory, start_module
from cchybrid.system.shared_file import SharedFile, UnfinishedError, read

MIN_SHARED_DELIVERIES = 8_000
"""Deliveries from which on an instance is shared. Below, a dozen workers usually need less time for
reading it and building its Problem than another process for its start."""
BUILDER = "cchybrid.host.problem_builder"
"""Module that builds the Problem; none of its code comes from plugins."""


class SharedInstance:
    """The host's side: the instance as a line, or in files that workers map.

    Parameters
    ----------
    instance
        The instance whose Problem workers need, or ``None``.
    record
        Returns what workers get, as JSON: usually the instance.
    memory
        Limit of the address space of the process that builds the Problem, in MiB.
    """

    def __init__(
        self, instance: Instance | None, record: Callable[[], Mapping[str, Any]], memory: int | None
    ) -> None:
        self._instance = instance
        self._record = record
        self._memory = memory
        self._problem: SharedFile | None = None
        self._tried = False
        self._builder: subprocess.Popen[bytes] | None = None
        self._open = contextlib.ExitStack()

    def build(self) -> None:
        """Start to build the Problem of a large instance, once."""
        instance = self._instance
        if self._tried or self._file is None or instance is None or too_large(instance.forward):
            return
        self._tried = True
        with contextlib.suppress(OSError):  # then every worker builds its own
            problem = SharedFile()
            self._open.callback(problem.close)
            try:
                descriptors = {"instance": self._file.reader, "problem": problem.writer}
                builder = start_module(BUILDER, descriptors=list(descriptors.values()))
                self._builder = builder
                self._open.callback(_end, builder)
                self._problem = problem
                if builder.stdin is not None:
                    with builder.stdin as stream:
                        stream.write(encode({**descriptors, "memory": self._memory}))
            finally:
                problem.close_writer()

    @property
    def memory(self) -> int:
        """The bytes of the files, which workers map, and of the process that builds the Problem."""
        found = 0 if self._file is None else self._file.size
        if self._problem is not None:
            found += self._problem.size
        if self._builder is not None and self._builder.poll() is None:
            found += private_memory(self._builder.pid)
        return found

    def files(self, role: str) -> dict[str, int]:
        """Return the descriptors of the files for a worker; none if it gets ``line``."""
        if self._file is None:
            return {}
        found = {"instance": self._file.reader}
        if role == "engine" and self._problem is not None:
            found["problem"] = self._problem.reader
        return found

    @cached_property
    def line(self) -> bytes:
        """The instance as a line, encoded once for all workers."""
        return encode(dict(self._record()))

    @cached_property
    def _file(self) -> SharedFile | None:
        """The file of a large instance; ``None`` if it is small or no file can be written."""
        if self._instance is None or count_deliveries(self._instance) < MIN_SHARED_DELIVERIES:
            return None
        with contextlib.suppress(OSError):
            file = SharedFile()
            self._open.callback(file.close)
            file.write(self._instance)
            return file
        return None

    def close(self) -> None:
        """End the process that builds the Problem, and close the files."""
        self._open.close()


def _end(builder: subprocess.Popen[bytes]) -> None:
    builder.kill()
    builder.wait()
    for stream in (builder.stdout, builder.stderr):
        if stream is not None:
            stream.close()


class ReceivedInstance:
    """The worker's side: the instance and its Problem, read when they are first used.

    Parameters
    ----------
    files
        The descriptors of the files; none if the instance comes as a line.
    read_line
        Called for that line, at once: lines of news follow it.
    """

    def __init__(self, files: Mapping[str, int], read_line: Callable[[], bytes]) -> None:
        self._files = files
        self._line = b"" if files else read_line()

    @cached_property
    def instance(self) -> Instance:
        """The instance."""
        if isinstance(self._mapped, Problem):
            return self._mapped.origin.instance
        with _no_collections():
            if "instance" in self._files:
                instance: Instance = read(self._files["instance"])
                return instance
            return Instance.from_json(self.record)

    @cached_property
    def record(self) -> Any:
        """The JSON object that came as a line."""
        return parse_json(self._line.decode())

    @cached_property
    def problem(self) -> Problem:
        """The Problem of the instance."""
        return self._mapped if isinstance(self._mapped, Problem) else build_problem(self.instance)

    @property
    def refusal(self) -> str | None:
        """The reason why no engine can work on the Problem, if there is one."""
        return self._mapped if isinstance(self._mapped, str) else None

    @cached_property
    def _mapped(self) -> Problem | str | None:
        """The Problem that another process has built, or its reason; ``None`` if it was ended."""
        if "problem" not in self._files:
            return None
        with contextlib.suppress(UnfinishedError, OSError), _no_collections():
            problem: Problem | str = read(self._files["problem"])
            return problem
        return None


@contextlib.contextmanager
def _no_collections() -> Iterator[None]:
    """Keep the garbage collector from objects that stay until the process ends.

    A quarter of a million messages would be visited again and again.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
