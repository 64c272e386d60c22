"""All worker processes of a run: started, listened to, told news, and none left behind."""

from __future__ import annotations

import selectors
import uuid
from collections.abc import Iterator, Sequence
from typing import Literal

from cchybrid.host.process import WorkerProcess, kill_strays
from cchybrid.host.wire import GarbledError, Line


class Crew:
    """The workers that are alive, by name."""

    def __init__(self) -> None:
        self._run_id = uuid.uuid4().hex
        self._workers: dict[str, WorkerProcess] = {}
        self._selector = selectors.DefaultSelector()

    @property
    def names(self) -> list[str]:
        """The names of the workers that have not been dismissed."""
        return list(self._workers)

    def has(self, names: Sequence[str]) -> bool:
        """Return whether any of these workers has not been dismissed yet."""
        return any(name in self._workers for name in names)

    def all_are(self, state: Literal["ready", "heard"], names: Sequence[str]) -> bool:
        """Return whether those of these workers that are still here are all in that state."""
        return all(getattr(self._workers[name], state) for name in names if name in self._workers)

    def get(self, name: str) -> WorkerProcess | None:
        """Return a worker by name, ``None`` if it has been dismissed."""
        return self._workers.get(name)

    def start(self, name: str, job: Line) -> None:
        """Start a worker on a job."""
        worker = WorkerProcess(name, job, self._run_id)
        self._workers[name] = worker
        self._selector.register(worker.stdout, selectors.EVENT_READ, (worker, True))
        self._selector.register(worker.stderr, selectors.EVENT_READ, (worker, False))

    def share(self, line: Line, author: str) -> None:
        """Tell every worker but the author."""
        for name, worker in self._workers.items():
            if name != author:
                worker.send(line)

    def listen(self, seconds: float) -> Iterator[tuple[WorkerProcess, Line | None]]:
        """Wait a moment, then yield what workers said; ``None`` where one has ended or babbles."""
        for key, _ in self._selector.select(seconds):
            worker, speaks = key.data
            if worker.name not in self._workers:
                continue  # dismissed over what another worker said a moment ago
            if not speaks:
                worker.drain()
            else:
                try:
                    for line in worker.read():
                        yield worker, line
                except GarbledError as error:
                    worker.garbled = str(error)
                    yield worker, None
            if key.fd in worker.closed and worker.name in self._workers:
                self._selector.unregister(key.fd)
        for worker in list(self._workers.values()):
            worker.flush()
            worker.press()
            if worker.returncode is not None:
                yield worker, None

    def pause(self, names: Sequence[str]) -> None:
        """Halt these workers, as far as they are still here."""
        for name in names:
            if name in self._workers:
                self._workers[name].pause()

    def dismiss_paused(self) -> Iterator[tuple[WorkerProcess, Line]]:
        """End the workers that stand still; yield what they had said and nobody had read."""
        for worker in list(self._workers.values()):
            if worker.paused:
                for line in self.dismiss(worker):
                    yield worker, line

    def ask(self, names: Sequence[str], politely: bool) -> None:
        """Ask workers to stop; ``listen`` follows up with signals. Impolitely: SIGTERM at once."""
        for name in names:
            if name in self._workers:
                self._workers[name].ask_to_stop()
                if not politely:
                    self._workers[name].terminate()

    def dismiss(self, worker: WorkerProcess) -> list[Line]:
        """End what is left of a worker; return the lines that were still in its pipe."""
        if self._workers.pop(worker.name, None) is None:
            return []
        for descriptor in {worker.stdout, worker.stderr} - worker.closed:
            self._selector.unregister(descriptor)
        return worker.close()

    def close(self) -> None:
        """End every process of the run, those too that left their worker's group."""
        for worker in list(self._workers.values()):
            self.dismiss(worker)
        self._selector.close()
        kill_strays(self._run_id)
