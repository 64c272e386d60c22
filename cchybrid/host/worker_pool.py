"""All worker processes of a run, by seat: start, read, send news, pause, end."""

import selectors
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator

from cchybrid.host.events import Event
from cchybrid.host.wire import Line, encode
from cchybrid.host.worker_process import GRACE_SECONDS, MARK, WorkerProcess, kill
from cchybrid.system.cleanup import CleanupProcess
from cchybrid.system.process_tree import children


class WorkerPool:
    """The worker processes that are running."""

    def __init__(self) -> None:
        self._run_id = uuid.uuid4().hex
        self._workers: dict[int, WorkerProcess] = {}
        self._cleanup: CleanupProcess | None = None
        self._selector = selectors.DefaultSelector()

    @property
    def seats(self) -> list[int]:
        """The seats of the running workers."""
        return list(self._workers)

    def has(self, seats: Iterable[int]) -> bool:
        """Return whether any of these workers is running."""
        return any(seat in self._workers for seat in seats)

    def start(
        self, seat: int, job: Line, instance: bytes, descriptors: Collection[int] = ()
    ) -> None:
        """Start a worker on a job and an instance, encoded as a line, or in inherited files.

        Raises
        ------
        OSError
            If the system has too few processes, open files or memory left.
        """
        if self._cleanup is None:
            self._cleanup = CleanupProcess(f"{MARK}={self._run_id}-")
        mark = f"{self._run_id}-{seat}-"
        worker = WorkerProcess(job, instance, mark, descriptors)
        self._workers[seat] = worker
        self._selector.register(worker.stdout, selectors.EVENT_READ, (seat, True))
        self._selector.register(worker.stderr, selectors.EVENT_READ, (seat, False))

    def mark_started(self, seat: int) -> None:
        """Record that the engine of a worker has started: from now on it can be paused."""
        if seat in self._workers:
            self._workers[seat].mark_started()

    def share(self, line: Line, author: int) -> None:
        """Send news to every worker except the author."""
        data = encode(line)
        for seat, worker in self._workers.items():
            if seat != author:
                worker.send(line, data)

    def listen(self, seconds: float) -> Iterator[tuple[int, Event]]:
        """Wait for events up to this many seconds; yield them, and the ends of processes.

        It also ends when a pipe has room for bytes that wait to be sent.
        """
        self._register_unsent()
        for key, _ in self._selector.select(seconds):
            seat, is_output = key.data
            worker = self._workers.get(seat)
            if worker is None or key.fd == worker.stdin:
                continue  # dismissed because of an earlier event, or flushed below
            if is_output:
                for event in worker.read():
                    yield seat, event
            else:
                worker.drain()
            if key.fd in worker.closed and seat in self._workers:
                self._selector.unregister(key.fd)
        for seat, worker in list(self._workers.items()):
            worker.flush()
            worker.enforce()
            if worker.returncode is not None and seat in self._workers:
                for event in self.dismiss(seat):
                    yield seat, event
                yield seat, worker.exited

    def _register_unsent(self) -> None:
        """Select the pipes that bytes wait for, and no other pipe to a worker."""
        for seat, worker in self._workers.items():
            registered = worker.stdin in self._selector.get_map()
            if worker.has_unsent and not registered:
                self._selector.register(worker.stdin, selectors.EVENT_WRITE, (seat, False))
            elif registered and not worker.has_unsent:
                self._selector.unregister(worker.stdin)

    def pause(self, seats: Iterable[int]) -> None:
        """Pause these workers as soon as their engines have started."""
        for seat in seats:
            if seat in self._workers:
                self._workers[seat].pause()

    def resume(self, seat: int) -> None:
        """Continue a paused worker."""
        self._workers[seat].resume()

    def working_time(self, seat: int) -> float:
        """Return the seconds since its start in which a worker could work; see ``WorkingTime``."""
        return self._workers[seat].clock.seconds()

    def measure(self) -> int:
        """Measure the memory of every worker; return the sum, in bytes."""
        tree = children()
        for worker in self._workers.values():
            outside = worker.measure(tree)
            if self._cleanup is not None:
                self._cleanup.watch(outside)
        return sum(worker.memory for worker in self._workers.values())

    def measure_again(self) -> int:
        """Measure what forked processes share once; return the sum of all workers, in bytes."""
        for worker in self._workers.values():
            worker.measure_again()
        return sum(worker.memory for worker in self._workers.values())

    def memory_of(self, seat: int) -> int:
        """Return the bytes of a worker when last measured."""
        return self._workers[seat].memory

    def superfluous(
        self, excess: int, gain: Callable[[int], float], *, paused: bool = True
    ) -> list[int]:
        """Return the paused workers, or the others, to end so that ``excess`` bytes become free.

        Those of the least ``gain`` come first, and of these the largest, so that few are ended.
        """
        chosen = []
        own = {seat: each.memory for seat, each in self._workers.items() if each.paused == paused}
        for seat in sorted(own, key=lambda seat: (gain(seat), -own[seat])):
            if excess <= 0:
                break
            chosen.append(seat)
            excess -= own[seat]
        return chosen

    def dismiss_paused(self) -> Iterator[tuple[int, Event]]:
        """End the paused workers; yield the events that they had sent before, and their seconds."""
        yield from self._dismiss([seat for seat, each in self._workers.items() if each.paused])

    def ask_to_stop(self, seats: Iterable[int], grace: float = GRACE_SECONDS) -> None:
        """Ask workers to stop; ``listen`` sends SIGTERM after ``grace`` seconds, then SIGKILL."""
        for seat in seats:
            if seat in self._workers:
                self._workers[seat].ask_to_stop(grace)
                if grace <= 0:
                    self._workers[seat].terminate()

    def dismiss(self, seat: int) -> list[Event]:
        """End a worker; return the events that were still in its pipe, and its seconds."""
        return [event for _, event in self._dismiss([seat])]

    def _dismiss(self, seats: Iterable[int]) -> list[tuple[int, Event]]:
        """End workers; return the events that were still in their pipes, and their seconds."""
        workers = {seat: self._workers.pop(seat) for seat in seats if seat in self._workers}
        for worker in workers.values():
            for descriptor in {worker.stdin, worker.stdout, worker.stderr} - worker.closed:
                if descriptor in self._selector.get_map():
                    self._selector.unregister(descriptor)
        if workers:
            kill(workers.values())
        return [
            (seat, event)
            for seat, worker in workers.items()
            for event in (*worker.close(), worker.spent)
        ]

    def close(self) -> None:
        """End every process of the run."""
        self._dismiss(self.seats)
        if self._cleanup is not None:
            self._cleanup.close()
        self._selector.close()
