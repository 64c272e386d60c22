"""Engines that harm what is around them: the run ends in time, with a verified schedule."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import cchybrid
from cchybrid.plugin.registry import load_registry
from tests.faults.faulty_plugin import DELETABLE
from tests.faults.processes import LIMITS, allowed, gone, metrics, own_processes

ENOUGH = 100_000
"""MiB of memory that no fault reaches but one of memory."""


def solve(*engines: str, **rest: Any) -> tuple[cchybrid.Result, list[Mapping[str, Any]]]:
    """Return the result of a run of these engines, and its events."""
    events: list[Mapping[str, Any]] = []
    rest = {"time_limit": 120.0, "first_schedule": False, **rest}
    network = rest.pop("network", "ring-bi-4")
    # The bound closes the gap unless the host's own schedule is worse than it.
    result = cchybrid.solve(
        cchybrid.instance(network, "AAS"), engines=engines, strategy="race",
        registry=load_registry(), observers=[events.append], **rest,
    )  # fmt: skip
    return result, events


@pytest.fixture
def _endless(monkeypatch) -> None:
    """No bound ends the run before the fault has taken place."""
    monkeypatch.setattr("cchybrid.host.schedule_task.ScheduleTask.is_optimal", False)


def stop_after(name: str) -> Any:
    """Return the functions of a run that ends when an engine has noted this metric."""
    seen: list[Mapping[str, Any]] = []
    return {"on_event": seen.append, "stop": lambda: bool(metrics(seen, name))}


@pytest.mark.usefixtures("_endless")
@pytest.mark.parametrize(
    ("engine", "noted"),
    [
        ("scatter", "kept"),
        ("daemon", "daemon"),
        ("bomb", "forked"),
        ("gigabytes", "written"),
        ("long", "sent"),
        ("never", "deaf"),
    ],
)
def test_the_best_schedule_is_kept_and_nothing_is_left(engine, noted):
    result, events = solve(engine, memory=ENOUGH, **stop_after(noted))
    assert metrics(events, noted), "the fault did not take place"
    assert result.schedule is not None
    assert not cchybrid.verify_schedule(result.schedule)
    # On a busy machine any engine may end too late.
    late = f"{engine}: did not stop when asked"
    assert all(text.startswith(late) for text in result.troubles)
    assert result.troubles or engine != "never"
    gone()


@pytest.mark.usefixtures("_endless")
@pytest.mark.parametrize(
    ("engine", "noted"),
    [("bomb", "forking"), ("flood", "begun"), ("million", "offered"), ("never", "deaf")],
)
def test_the_time_limit_holds(engine, noted):
    for limit in LIMITS:
        result, events = solve(engine, memory=ENOUGH, time_limit=limit)
        if metrics(events, noted):
            break
    assert metrics(events, noted), "the fault did not take place"
    assert result.seconds < limit + allowed(2.0)
    assert result.schedule is not None
    gone()


@pytest.mark.usefixtures("_endless")
def test_environment_folder_and_temporary_files_of_the_host_stay(tmp_path, monkeypatch):
    (tmp_path / "kept").touch()
    (tmp_path / "temporary").mkdir()
    (tmp_path / "temporary" / "file").touch()
    (tmp_path / "temporary" / DELETABLE).touch()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setenv(DELETABLE, str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr("cchybrid.host.shared_instance.MIN_SHARED_DELIVERIES", 0)
    here = Path.cwd()
    result, events = solve("wanderer", "good-1", **stop_after("deleted"))
    assert metrics(events, "deleted")[0] >= 2
    assert not (tmp_path / "temporary" / "file").exists()
    assert (tmp_path / "kept").exists()
    assert result.schedule is not None
    assert result.troubles == ()
    assert Path.cwd() == here
    assert not own_processes()


def test_an_early_lie_about_the_bound_is_withdrawn():
    result, events = solve("early", "good-1")
    claims = [each for each in events if each["event"] == "bound" and each["steps"] == 1_000]
    assert claims or any("1000 steps" in text for text in result.troubles)
    assert (result.status, result.lower_bound.steps) == ("optimal", result.steps)
    assert any(text.startswith("early: claimed a bound") for text in result.troubles)


@pytest.mark.usefixtures("_endless")
def test_a_schedule_of_another_instance_is_refused():
    seen: list[str] = []
    result, events = solve(
        "foreign", "good-1", network="mesh-2x2",
        on_event=lambda event: seen.append(event["event"]),
        stop=lambda: {"schedule", "trouble"} <= {*seen},
    )  # fmt: skip
    assert metrics(events, "foreign")
    assert result.schedule is not None
    assert any(text.startswith("foreign: offered an invalid") for text in result.troubles)


@pytest.mark.usefixtures("_endless")
def test_a_run_keeps_to_its_memory():
    """Together two engines need more than the run has, while each alone does not."""
    seen: list[Mapping[str, Any]] = []
    words = "ended, as the run exceeded 1,600 MiB of memory"
    result, events = solve(
        "grow-1", "grow-2", memory=1600, on_event=seen.append,
        stop=lambda: any(words in each.get("text", "") for each in seen),
    )  # fmt: skip
    assert 500 < max(metrics(events, "grown")) < 1600
    assert sum(text.endswith(words) for text in result.troubles) == 1
    assert result.schedule is not None
    gone()


@pytest.mark.usefixtures("_endless")
def test_memory_that_forked_processes_share_counts_once(monkeypatch):
    monkeypatch.setattr("cchybrid.system.processes.MAX_MEASURE_SECONDS", 60.0)  # it may be busy
    result, events = solve("copies", memory=1200, **stop_after("measured"))
    assert metrics(events, "apiece")[0] > 1200
    assert metrics(events, "measured"), result.troubles
    assert result.schedule is not None
    gone()
