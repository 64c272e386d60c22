"""Workers that are paused: they stop, continue, and always end with the run."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import cchybrid
from cchybrid.host import worker_process
from cchybrid.host.events import End, Started
from cchybrid.host.wire import encode, encode_steps
from cchybrid.host.worker_pool import WorkerPool
from cchybrid.host.worker_process import WorkerProcess
from tests import faulty_engines


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool()
    yield pool
    pool.close()


JOB = {
    "run": "cchybrid.host.engine_worker:WorkerRun", "kind": "engine", "engine": "restless",
    "view": "instance", "quotients": {}, "horizons": ["steps"],
    "target_name": f"{faulty_engines.__name__}:Restless", "options": {}, "seed": 7,
    "budget": {"seconds": 60.0, "evaluations": None, "threads": 1, "memory": None},
    "target": None, "blind": False, "lower": 1, "news": [],
}  # fmt: skip


@pytest.fixture
def worker(pool: WorkerPool) -> WorkerProcess:
    """Return a worker that has said that it has started."""
    instance = cchybrid.instance("ring-bi-4", "AAS")
    pool.start(SEAT, JOB, encode(instance.to_json()))
    [(seat, event), *_] = until(lambda: list(pool.listen(0.05)))
    assert (seat, type(event)) == (SEAT, Started)
    return pool._workers[SEAT]


SEAT = 5


def until(found: Callable[[], Any]) -> Any:
    late = time.monotonic() + 30
    while time.monotonic() < late:
        if answer := found():
            return answer
    raise AssertionError("it did not happen")


def state(worker: WorkerProcess) -> str:
    return Path(f"/proc/{worker._process.pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.slow
def test_a_worker_is_paused_when_it_has_started(pool, worker):
    worker.pause()
    assert not worker.paused  # only after it has started
    worker.mark_started()
    assert worker.paused
    until(lambda: state(worker) == "T")
    paused = worker.spent
    time.sleep(0.3)
    worker.resume()
    assert worker.spent == paused  # a pause does not count
    until(lambda: state(worker) != "T")
    worker.ask_to_stop()
    until(lambda: any(isinstance(event, End) for _, event in pool.listen(0.05)))
    while pool.has([SEAT]):
        list(pool.listen(0.05))
    spent = worker.spent
    assert (spent.start_processor, spent.start_wall) == (paused.start_processor, paused.start_wall)
    assert min(spent.start_processor, spent.start_wall) > 0
    assert spent.search_wall > paused.search_wall


@pytest.mark.slow
def test_a_paused_worker_gets_only_the_newest_line_of_each_kind(worker):
    worker.mark_started()
    worker.pause()
    until(lambda: state(worker) == "T")
    for number in range(1000):
        worker.send({"best": 2000 - number, "steps": encode_steps(((),) * 50)})
        worker.send({"lower": number})
        author = ("tabu", "umda")[number % 2]
        worker.send(
            {"draft": number % 3, "violations": 1, "steps": "[]", "by": author, "number": 0}
        )
    assert not worker._unsent
    assert len(worker._pending_news) == 8
    assert worker._pending_news["best",]["best"] == 1001
    worker.resume()
    assert not worker._pending_news


@pytest.mark.slow
@pytest.mark.parametrize(
    ("worked", "wall", "how"),
    [
        (0.2, 2.5, None),  # waits for a processor
        (0.2, 3.5, "terminated"),  # still
        (0.4, 0.5, "killed"),  # had time to end, and did not
    ],
)
def test_a_worker_that_waits_for_a_processor_does_not_ignore_sigterm(
    worker, monkeypatch, worked, wall, how
):
    kill, sent = worker._signal, []

    def signal_later(number: signal.Signals) -> bool:
        """Let only SIGKILL reach the worker."""
        sent.append(number)
        return number != signal.SIGKILL or kill(number)

    monkeypatch.setattr(worker, "_signal", signal_later)
    clock = SimpleNamespace(seconds=lambda: worked, wall=wall)
    monkeypatch.setattr(worker_process, "WorkingTime", lambda *_: clock)
    worker.terminate()
    worker.enforce()
    assert (signal.SIGKILL in sent) == (how is not None)
    if how is not None:
        until(lambda: worker.returncode is not None)
        assert worker.exited.how == how


@pytest.mark.slow
def test_a_worker_that_others_have_stopped_ends_by_sigterm(worker):
    os.kill(worker._process.pid, signal.SIGSTOP)
    until(lambda: state(worker) == "T")
    worker.terminate()
    until(lambda: worker.returncode is not None)
    assert worker.returncode == -signal.SIGTERM


@pytest.mark.slow
def test_a_long_line_is_sent_while_listening(pool, worker):
    """A wait for events ends when the pipe has room, so a line of many pipes is sent at once."""
    os.kill(worker._process.pid, signal.SIGSTOP)  # so that it does not read the line at once
    worker.send({"lower": 2, "ignored": "x" * (1 << 22)})
    assert worker.has_unsent
    list(pool.listen(0.0))
    assert worker.stdin in pool._selector.get_map()
    os.kill(worker._process.pid, signal.SIGCONT)
    while worker.has_unsent:
        list(pool.listen(60))
    list(pool.listen(0.0))
    assert worker.stdin not in pool._selector.get_map()


@pytest.mark.slow
def test_a_worker_that_is_being_sent_a_line_can_be_ended(pool, worker):
    worker.mark_started()
    worker.send({"lower": 2, "ignored": "x" * (1 << 22)})
    list(pool.listen(0.0))
    pool.dismiss(SEAT)
    assert not pool.seats
    assert not list(pool.listen(0.0))


@pytest.mark.slow
def test_paused_workers_are_ended(pool, worker):
    worker.mark_started()
    worker.pause()
    process = worker._process.pid
    assert dict(pool.dismiss_paused()).keys() <= {SEAT}
    assert pool.seats == []
    assert not Path(f"/proc/{process}").exists()


def test_the_largest_paused_workers_without_gain_are_superfluous(pool):
    memory = {5: 300, 6: 500, 7: 200, 8: 900, 9: 600}
    gain = {9: 0.25}
    for seat, size in memory.items():
        # The one in seat 8 works, so it is never ended.
        worker = SimpleNamespace(memory=size, paused=seat != 8)
        pool._workers[seat] = cast(WorkerProcess, worker)

    def superfluous(limit: int) -> list[int]:
        return pool.superfluous(2500 - limit, lambda seat: gain.get(seat, 0.0))

    assert superfluous(2500) == []
    assert superfluous(2499) == [6]
    assert superfluous(2000) == [6]
    assert superfluous(1999) == [6, 5]
    assert superfluous(0) == [6, 5, 7, 9]
    pool._workers.clear()


@pytest.mark.long
def test_a_sleeping_engine_does_not_keep_others_from_work(registry):
    events: list[Any] = []
    result = cchybrid.solve(
        cchybrid.instance("ring-bi-6", "AAB"), engines=["deaf", "crowd", "hang", "restless"],
        time_limit=7.0, first_schedule=False, registry=registry, observers=[events.append],
    )  # fmt: skip
    assert result.schedule is not None
    phases = [event["engines"] for event in events if event["event"] == "phase"]
    assert "deaf" in phases[0]
    assert any("restless" in names for names in phases[1:])
