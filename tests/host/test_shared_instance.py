"""An instance that all workers share: equal to one of their own, whatever fails."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import cchybrid
from cchybrid.host import problem_builder, shared_instance
from cchybrid.host.engine_worker import run_engine
from cchybrid.host.shared_instance import ReceivedInstance, SharedInstance
from cchybrid.plugin.registry import Registry, load_registry
from cchybrid.problem import Problem, build_problem, demand
from cchybrid.system.shared_file import SharedFile, read
from tests.examples import examples
from tests.faults.processes import OWN, own_processes
from tests.mapped_engines import is_mapped
from tests.named_instances import named
from tests.random_instances import instances

SPEC = ("mesh-3x3", "AAS")
NEVER = 1 << 60


@pytest.fixture(autouse=True)
def _marked(monkeypatch) -> None:
    monkeypatch.setenv(OWN, f"shared-{os.getpid()}-{time.monotonic_ns()}")


@pytest.fixture
def registry(monkeypatch) -> Registry:
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.mapped_engines")
    return load_registry()


@pytest.fixture
def all_shared(monkeypatch) -> None:
    """Every instance is shared, however small."""
    monkeypatch.setattr(shared_instance, "MIN_SHARED_DELIVERIES", 0)


def refuse_line() -> bytes:
    raise AssertionError("it reads a line")


@contextmanager
def sharing(instance: cchybrid.Instance, memory: int | None = None) -> Iterator[SharedInstance]:
    shared = SharedInstance(instance, instance.to_json, memory)
    try:
        yield shared
    finally:
        shared.close()


def assert_equal(first: Any, second: Any, place: str = "", seen: set[int] | None = None) -> None:
    """Compare two objects with all that they refer to; arrays are of the same kind, too."""
    seen = set() if seen is None else seen
    assert type(first) is type(second), place
    if id(first) in seen:
        return
    seen.add(id(first))
    if isinstance(first, np.ndarray):
        np.testing.assert_array_equal(first, second, place, strict=True)
        for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS", "WRITEABLE", "ALIGNED"):
            assert first.flags[flag] == second.flags[flag], f"{place} {flag}"
    elif type(first) in (list, tuple):
        assert len(first) == len(second), place
        for index, (one, other) in enumerate(zip(first, second, strict=True)):
            assert_equal(one, other, f"{place}[{index}]", seen)
    elif hasattr(first, "__dict__") and not isinstance(first, type):
        derived = {key for key in vars(type(first)) if is_cached(type(first), key)}
        keys = (vars(first).keys() & vars(second).keys()) | (
            (vars(first).keys() ^ vars(second).keys()) - derived
        )
        for key in sorted(keys):
            assert_equal(getattr(first, key), getattr(second, key), f"{place}.{key}", seen)
    else:
        assert first == second, place


def is_cached(owner: type, key: str) -> bool:
    return isinstance(vars(owner)[key], cached_property)


@given(instances())
@settings(max_examples=examples(60))
def test_a_mapped_problem_equals_one_that_is_built(instance):
    own = build_problem(instance)
    file = SharedFile()
    try:
        file.write(build_problem(instance))
        mapped: Problem = read(file.reader)
    finally:
        file.close()
    assert_equal(own, mapped)
    assert mapped.origin.instance == instance
    assert mapped.structure.routes.network is mapped.structure.network or instance.network.endpoints
    cost = np.arange(own.resources) % 3 + 1.0
    for delivery in np.flatnonzero(own.required).tolist():
        assert own.price(delivery, cost) == mapped.price(delivery, cost)


@given(instances())
@settings(max_examples=examples(40))
def test_a_mapped_instance_equals_the_line(instance):
    with pytest.MonkeyPatch.context() as patch, sharing(instance) as shared:
        patch.setattr(shared_instance, "MIN_SHARED_DELIVERIES", 0)
        files = shared.files("bounds")
        found = ReceivedInstance(files, refuse_line)
        assert list(files) == ["instance"]
        assert (found.instance, found.instance.digest) == (instance, instance.digest)
        line = ReceivedInstance({}, lambda: shared.line)
        assert_equal(line.instance, found.instance)
        assert_equal(line.problem, found.problem)


def test_a_small_instance_is_a_line():
    with sharing(cchybrid.instance(*SPEC)) as shared:
        shared.build()
        assert shared.files("engine") == {}
        assert ReceivedInstance({}, lambda: shared.line).instance == cchybrid.instance(*SPEC)


@pytest.mark.usefixtures("all_shared")
@pytest.mark.parametrize("words", ["mesh-3x3 AAS", "ring-bi-6 AAR hops"])
def test_the_problem_is_built_in_another_process(words):
    with sharing(named(words), 4096) as shared:
        shared.build()
        shared.build()
        files = shared.files("engine")
        assert list(files) == ["instance", "problem"]
        assert list(shared.files("options")) == list(shared.files("proof")) == ["instance"]
        assert len(own_processes()) <= 1
        found = ReceivedInstance(files, refuse_line)
        assert found.instance is found.problem.origin.instance
        assert is_mapped(found.problem.option_path)
        assert_equal(build_problem(named(words)), found.problem)
        assert not is_mapped(found.problem.path_resource)  # listed when it is first read
    assert not own_processes()


@pytest.mark.usefixtures("all_shared")
@pytest.mark.parametrize("fault", ["crash", "half", "disk"])
def test_without_a_complete_file_a_worker_builds_its_own(fault, monkeypatch):
    monkeypatch.setattr(shared_instance, "BUILDER", "tests.faulty_builder")
    monkeypatch.setenv("CCHYBRID_FAULT", fault)
    with sharing(cchybrid.instance(*SPEC)) as shared:
        shared.build()
        found = ReceivedInstance(shared.files("engine"), refuse_line)
        assert not is_mapped(found.problem.option_path)
        assert_equal(build_problem(cchybrid.instance(*SPEC)), found.problem)


def test_a_problem_too_large_is_refused_with_the_reason(monkeypatch):
    """Neither every worker nor the child process builds what has no room."""
    instance = cchybrid.instance("mesh-3x3", "AAS", switching="store-and-forward")
    monkeypatch.setattr(demand, "MAX_ARCS", 72 * 24)
    problem, own = SharedFile(), SharedFile()
    try:
        own.write(instance)
        line = json.dumps({"instance": own.reader, "problem": problem.writer, "memory": None})
        monkeypatch.setattr(sys, "stdin", io.StringIO(line + "\n"))
        for name in ("die_with_parent", "avoid_full_collections"):
            monkeypatch.setattr(problem_builder, name, lambda: None)
        before = signal.getsignal(signal.SIGINT)
        problem_builder.main()
        signal.signal(signal.SIGINT, before)
        problem.close_writer()
        found = ReceivedInstance({"instance": own.reader, "problem": problem.reader}, refuse_line)
        assert found.refusal is not None
        assert found.refusal.endswith(": 72 messages, each over any of 24 channels")
        assert found.instance == instance
        sent: list[tuple[str, str]] = []
        run: Any = SimpleNamespace(send=lambda kind, text: sent.append((kind, text)))
        target = load_registry().engine("colouring").target
        job = {"engine": "colouring", "target_name": target, "options": {}, "view": "quotients"}
        run_engine(run, job, found)
        assert sent == [("unsupported", found.refusal)]
    finally:
        problem.close()
        own.close()
    monkeypatch.setattr(demand, "MAX_ARCS", 72 * 24 + 1)
    assert build_problem(instance).complete


def test_no_engine_starts_where_no_problem_can_be_built(registry, monkeypatch):
    """Each would take the time of the bounds, only to say so."""
    instance = cchybrid.instance("mesh-3x3", "AAS", switching="store-and-forward", ports=1)
    monkeypatch.setattr(demand, "MAX_ARCS", 72 * 24)
    seen: list[str] = []
    result = cchybrid.solve(
        instance,
        engines=["colouring"],
        time_limit=20,
        on_event=lambda event: seen.append(event["event"]),
        registry=registry,
    )
    assert "phase" not in seen
    assert result.steps is not None
    reason = "72 messages, each over any of 24 channels"
    assert f"no engine takes part: a Problem too large to build: {reason}" in result.remarks
    monkeypatch.setattr(shared_instance, "MIN_SHARED_DELIVERIES", 0)
    shared = SharedInstance(instance, dict, None)
    shared.build()
    assert "problem" not in shared.files("engine")
    shared.close()


@pytest.mark.long
@pytest.mark.parametrize("spec", [SPEC, ("ring-bi-6", "AAR")])
def test_results_are_equal_with_and_without_sharing(registry, spec, monkeypatch):
    found = []
    for minimum, mapped in ((NEVER, [0.0]), (0, [1.0])):
        monkeypatch.setattr(shared_instance, "MIN_SHARED_DELIVERIES", minimum)
        events: list[dict[str, Any]] = []
        result = cchybrid.solve(
            cchybrid.instance(*spec), registry=registry, engines=["observant"], evaluations=30,
            threads=1, time_limit=None, seed=5, first_schedule=False, observers=[events.append],
        )  # fmt: skip
        record = result.to_json()
        shown = ("steps", "lower_bound", "status", "certified", "engine")
        found.append((result.schedule.steps, *map(record.get, shown)))
        metrics = [event.get("metrics", {}) for event in events if event["event"] == "note"]
        assert [each["mapped"] for each in metrics if "mapped" in each] == mapped
    assert found[0] == found[1]
    assert not own_processes()


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_leaves_no_file_and_no_process(number, tmp_path):
    """The signal arrives while the Problem is being built and a worker waits for it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    script = (
        "import cchybrid\n"
        "from cchybrid.host import shared_instance\n"
        "shared_instance.MIN_SHARED_DELIVERIES = 0\n"
        "shared_instance.BUILDER = 'tests.faulty_builder'\n"
        "cchybrid.solve(cchybrid.instance('ring-bi-4', 'AAS'), engines=['colouring'],\n"
        "    first_schedule=False, time_limit=60)\n"
    )
    environment = {
        **os.environ, "TMPDIR": str(folder), "CCHYBRID_FAULT": "hang",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }  # fmt: skip
    with subprocess.Popen([sys.executable, "-c", script], env=environment, cwd=tmp_path) as host:
        late = time.monotonic() + 60
        expected = ("faulty_builder", "host.worker")
        while not all(any(name in line for line in own_processes().values()) for name in expected):
            assert time.monotonic() < late
            time.sleep(0.05)
        time.sleep(0.5)
        assert not list(folder.iterdir())
        host.send_signal(number)
        host.wait(60)
    while own_processes():
        assert time.monotonic() < late
        time.sleep(0.05)
    assert not list(folder.iterdir())
