"""Workers that are halted in between: they stand still, go on, and are never left behind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import faulty_engines
import pytest

import cchybrid
from cchybrid.host.crew import Crew
from cchybrid.host.worker_process import WorkerProcess
from cchybrid.plugin.registry import Registry, load_registry


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    monkeypatch.setenv("CCHYBRID_PLUGINS", "faulty_engines")
    return load_registry()


@pytest.fixture
def crew() -> Iterator[Crew]:
    crew = Crew()
    yield crew
    crew.close()


def job() -> dict[str, Any]:
    return {
        "kind": "engine", "name": "restless", "engine": "restless", "view": "instance",
        "target_name": f"{faulty_engines.__name__}:Restless", "options": {}, "seed": 7,
        "instance": cchybrid.instance("ring-bi-4", "AAS").to_json(),
        "budget": {"seconds": 60.0, "evaluations": None, "threads": 1, "memory": None},
        "target": None, "blind": False, "lower": 1, "news": [],
    }  # fmt: skip


def started(crew: Crew) -> WorkerProcess:
    crew.start("restless", job())
    worker = crew.get("restless")
    assert worker is not None
    heard = until(lambda: [line for _, line in crew.listen(0.05) if line])
    assert heard[0]["event"] == "started"
    return worker


def until(found: Callable[[], Any]) -> Any:
    late = time.monotonic() + 30
    while time.monotonic() < late:
        if answer := found():
            return answer
    raise AssertionError("it did not happen")


def state(worker: WorkerProcess) -> str:
    return Path(f"/proc/{worker._process.pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_worker_is_halted_when_it_has_started(crew: Crew) -> None:
    worker = started(crew)
    worker.pause()
    assert not worker.paused  # what comes before its start has to be done anyway
    worker.ready = True
    assert worker.paused
    until(lambda: state(worker) == "T")
    worker.resume()
    until(lambda: state(worker) != "T")
    worker.ask_to_stop()
    until(lambda: any(line and line["event"] == "end" for _, line in crew.listen(0.05)))


def test_a_halted_worker_hears_only_the_newest_of_each_kind(crew: Crew) -> None:
    worker = started(crew)
    worker.ready = True
    worker.pause()
    until(lambda: state(worker) == "T")
    for number in range(1000):
        worker.send({"best": 2000 - number, "steps": [[] for _ in range(50)]})
        worker.send({"lower": number})
        worker.send({"draft": number % 3, "steps": []})
    assert not worker._unsent
    assert len(worker._held) == 5
    assert worker._held["best", 0]["best"] == 1001
    worker.resume()
    assert not worker._held


def test_halted_workers_are_ended(crew: Crew) -> None:
    worker = started(crew)
    worker.ready = True
    worker.pause()
    process = worker._process.pid
    assert dict(crew.dismiss_paused()).keys() <= {worker}
    assert crew.names == []
    assert not Path(f"/proc/{process}").exists()


def test_turns_change_where_a_number_of_steps_is_asked_for(registry: Registry) -> None:
    """Schedules of more steps are of no use, and yet nobody waits for a first one."""
    events: list[Any] = []
    cchybrid.solve(
        cchybrid.instance("torus-3x3", "AAS"),
        engines=["random", "restless", "late"],
        steps=3,
        time_limit=12.0,
        registry=registry,
        observers=[events.append],
    )
    first, second = [event for event in events if event["event"] == "phase"][:2]
    assert first["engines"] != second["engines"]
    # A glance takes a quarter of the time at most, and half if it waits for a first schedule.
    assert second["seconds"] - first["seconds"] < 4.2
