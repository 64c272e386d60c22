"""Workers that search for bounds and proofs stop soon after a request, whatever they do."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

import cchybrid
from cchybrid.host.wire import encode
from cchybrid.plugin.registry import load_registry
from cchybrid.system.processes import start_module

MAX_STOP_SECONDS = 0.7
"""Seconds from the request until the process has ended; 0.1 where nothing else is running."""

CORE = [asdict(info) for info in load_registry().bound_providers]


def stopped(
    content: dict[str, Any], spec: tuple[str, str], ready: Callable[[dict[str, Any]], bool],
    delay: float = 0.0, seconds: float = 600.0, **more: Any,
) -> tuple[list[dict[str, Any]], float]:  # fmt: skip
    """Start a worker, ask it to stop after an event; return its events and how long it took."""
    job = {
        "run": "cchybrid.host.engine_worker:WorkerRun", "seed": 0, "target": None,
        "budget": {"seconds": seconds, "evaluations": None, "threads": 1, "memory": None},
        "blind": False, "lower": 1, "news": [], **content,
    }  # fmt: skip
    events: list[dict[str, Any]] = []
    with start_module("cchybrid.host.worker") as worker:
        try:
            instance = cchybrid.instance(*spec, **more)
            worker.stdin.write(encode(job) + encode(instance.to_json()))
            worker.stdin.flush()
            for line in worker.stdout:
                events.append(json.loads(line))
                if ready(events[-1]):
                    break
            if seconds > 100:
                time.sleep(delay)
                worker.stdin.write(b'{"stop": true}\n')
                worker.stdin.flush()
            requested = time.monotonic()
            rest = worker.stdout.read()
            took = time.monotonic() - requested
            assert worker.wait(10) == 0
        finally:
            worker.kill()
    assert not rest or rest.endswith(b"\n")
    events.extend(map(json.loads, rest.splitlines()))
    return events, took


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["event"] for event in events]


def is_started(event: dict[str, Any]) -> bool:
    return event["event"] == "started"


@pytest.mark.long
@pytest.mark.parametrize(
    ("spec", "more"),
    [
        (("hypercube-128", "AAS"), {}),
        (("random-regular-128-4-1", "AAB"), {}),
        (("random-regular-128-4-1", "AAB"), {"switching": "store-and-forward"}),
    ],
    ids=lambda value: " ".join(value if isinstance(value, tuple) else value.values()),
)
@pytest.mark.parametrize("delay", [0.0, 0.6])
def test_bound_providers(spec, more, delay):
    content = {"kind": "bounds", "providers": CORE}
    events, took = stopped(content, spec, is_started, delay, **more)
    assert kinds(events)[-1] == "end"
    assert kinds(events).count("end") == 1
    assert "trouble" not in kinds(events)
    assert took < MAX_STOP_SECONDS


@pytest.mark.parametrize("target", ["wait", "count", "flood"])
def test_a_provider_that_ignores_the_time(target):
    own = {"name": target, "target": f"tests.endless_bounds:{target}", "summary": "-"}
    content = {"kind": "bounds", "providers": [own, *CORE]}
    spec = ("ring-bi-4", "AAS")
    events, took = stopped(content, spec, lambda event: event["event"] == "bound", 0.2)
    assert kinds(events)[-1] == "end"
    assert {event.get("provider", target) for event in events} == {target}
    assert took < MAX_STOP_SECONDS


@pytest.mark.slow
def test_the_search_for_a_proof():
    events, took = stopped(
        {"kind": "proof", "steps": 12}, ("mesh-10x10", "OAB"), is_started, 1.0, root=0
    )
    assert kinds(events) == ["started", "end"]
    assert took < MAX_STOP_SECONDS


def test_a_worker_keeps_its_own_time_limit():
    own = {"name": "wait", "target": "tests.endless_bounds:wait", "summary": "-"}
    content = {"kind": "bounds", "providers": [own]}
    begun = time.monotonic()
    events, _ = stopped(content, ("ring-bi-4", "AAS"), is_started, seconds=1.0)
    assert kinds(events) == ["started", "bound", "end"]
    assert time.monotonic() - begun < 10
