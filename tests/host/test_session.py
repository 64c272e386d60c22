"""The host with engines that crash, hang, report false results, flood or exit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cchybrid
from cchybrid.host import first_bounds, session
from cchybrid.model.errors import InputError
from cchybrid.plugin import warm_up
from cchybrid.plugin.registry import Registry, load_registry
from tests import faulty_engines
from tests.faults.processes import OWN, own_processes, workers

SMALL = ("ring-bi-4", "AAS")


@pytest.fixture(autouse=True)
def _marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OWN, uuid.uuid4().hex)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.faulty_engines")
    return load_registry()


def run(registry: Registry, *engines: str, **rest: Any) -> cchybrid.Result:
    rest = {"time_limit": 20.0, "first_schedule": False, **rest}
    spec = rest.pop("spec", SMALL)
    if "evaluations" not in rest:  # engines with evaluations run one after another
        rest["strategy"] = "race"
    return cchybrid.solve(cchybrid.instance(*spec), engines=engines, registry=registry, **rest)


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ("crash", "crashed (signal 11)"),
        pytest.param(
            "raise", "failed: RuntimeError: the engine broke in two lines", marks=pytest.mark.long
        ),
        pytest.param("vanish", "crashed (exit 0)", marks=pytest.mark.long),
        ("liar", "offered an invalid schedule"),
        pytest.param("nonsense", "offered an invalid schedule", marks=pytest.mark.long),
        pytest.param("boast", "claimed a bound that a schedule", marks=pytest.mark.long),
        pytest.param("forge", "gave evidence for 1 steps, not for 999", marks=pytest.mark.long),
        ("babble", "sent a line that is not JSON"),
        pytest.param(
            "infinite",
            "is no object of finite numbers: x is no finite number",
            marks=pytest.mark.long,
        ),
        pytest.param(
            "listed",
            "sent an event note whose metrics [1, 2] is no object of finite numbers",
            marks=pytest.mark.long,
        ),
        pytest.param("endless", "sent an event end whose searched", marks=pytest.mark.long),
        pytest.param("nested", "sent a line that is not JSON", marks=pytest.mark.long),
        pytest.param("surrogate", "failed: RuntimeError: half a face", marks=pytest.mark.long),
        pytest.param("missing", "failed: AttributeError", marks=pytest.mark.long),
        pytest.param(
            "defaults", "failed: options of defaults: no value is right", marks=pytest.mark.long
        ),
    ],
)
def test_a_faulty_engine_is_named_and_the_run_goes_on(
    registry: Registry, engine: str, words: str
) -> None:
    result = run(registry, engine, "late")
    assert result.schedule is not None
    assert result.status in ("optimal", "feasible")
    assert any(text.startswith(f"{engine}: ") and words in text for text in result.troubles)
    assert not own_processes()


@pytest.mark.long
def test_an_engine_that_ignores_sigterm_is_killed_with_its_children(registry: Registry) -> None:
    result = run(registry, "hang", time_limit=7.0)
    assert result.status == "unknown"
    assert result.troubles == ("hang: did not stop when asked; terminated",)
    assert not own_processes()


@pytest.mark.long
def test_an_engine_that_ignores_should_stop_is_terminated(registry: Registry) -> None:
    result = run(registry, "deaf", time_limit=7.0)
    assert result.troubles == ("deaf: did not stop when asked; terminated",)


@pytest.mark.long
def test_a_child_in_another_session_is_found(registry: Registry) -> None:
    run(registry, "escape", time_limit=5.0)
    assert not own_processes()


@pytest.mark.long
def test_a_child_that_writes_without_end_is_ended_with_its_worker(registry: Registry) -> None:
    result = run(registry, "orphan", "late", time_limit=8.0)
    assert result.schedule is not None
    assert result.seconds < 10
    assert not own_processes()


@pytest.mark.long
def test_a_flood_of_output_blocks_no_engine(registry: Registry) -> None:
    for seconds in (3.0, 30.0):  # on a busy machine the engine may not start in time
        result = run(registry, "flood", time_limit=seconds)
        if result.schedule is not None:
            break
    assert result.schedule is not None


@pytest.mark.long
def test_memory_is_limited(registry: Registry) -> None:
    result = run(registry, "hog", memory=2048, time_limit=90.0)
    assert result.status == "unknown"
    assert result.troubles == ("hog: failed: ran out of its 2048 MiB of memory",)


def test_an_engine_that_has_nothing_to_do_is_a_remark(registry: Registry) -> None:
    result = run(registry, "picky")
    assert result.remarks == ("picky: it likes no problem at all",)
    assert result.troubles == ()
    assert result.status == "unknown"


@pytest.mark.long
def test_heuristics_go_on_where_exact_engines_give_up(registry: Registry) -> None:
    """With another seed; engines that failed or are unsupported do not run again."""
    events: list[Mapping[str, Any]] = []
    result = cchybrid.solve(
        cchybrid.instance(*SMALL),
        engines=["restless", "helpless", "picky", "crash"],
        strategy="relay",
        options={"relay": {"heuristic_share": 0.15}},
        time_limit=16.0,
        first_schedule=False,
        registry=registry,
        observers=[events.append],
    )
    phases = [event["engines"] for event in events if event["event"] == "phase"]
    assert [sorted(names) for names in phases] == [
        ["crash", "picky", "restless"],
        ["helpless"],
        ["restless"],
    ]
    seeds = {event["metrics"]["seed"] for event in events if event["event"] == "note"}
    assert len(seeds) == 2
    # Without any schedule they get twice their share of the time.
    (handover,) = [
        event["seconds"]
        for event in events
        if event["event"] == "phase" and event["engines"] == ["helpless"]
    ]
    assert handover > 2.5
    assert sorted(result.remarks) == [
        "helpless: too large for it",
        "picky: it likes no problem at all",
    ]
    assert len(result.troubles) == 1


def test_options_reach_the_engine(registry: Registry) -> None:
    result = run(registry, "tuned", options={"tuned": {"rounds": 5, "loud": True}})
    assert result.schedule is not None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rouns": "5"}, "did you mean rounds?"),
        ({"rounds": "many"}, "'many' is not an integer"),
        pytest.param({"rounds": "0"}, "rounds is 0; use at least 1", marks=pytest.mark.long),
        pytest.param({"loud": "perhaps"}, "'perhaps' is not true or false", marks=pytest.mark.long),
        pytest.param({"rate": "x"}, "'x' is not a number", marks=pytest.mark.long),
    ],
)
def test_wrong_options_are_bad_input(
    registry: Registry, options: dict[str, str], words: str
) -> None:
    with pytest.raises(InputError, match="tuned") as caught:
        run(registry, "tuned", options={"tuned": options})
    assert words in str(caught.value)


@pytest.mark.long
def test_all_faulty_engines_at_once_leave_the_verdict_to_the_sound_one(registry: Registry) -> None:
    names = [
        info.name
        for info in faulty_engines.cchybrid_engines()
        if info.name not in ("hog", "unready")
    ]
    for seconds in (15.0, 60.0):  # a dozen processes start slowly on a busy machine
        result = run(registry, *names, time_limit=seconds)
        if result.schedule is not None:
            break
    assert result.schedule is not None
    assert not cchybrid.verify_schedule(result.schedule)
    assert not own_processes()


@pytest.mark.long
def test_a_wrong_bound_provider_does_not_stop_the_others(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.faulty_engines,tests.lying_bounds")
    result = run(load_registry(), "sound")
    assert (result.status, result.certified) == ("optimal", True)
    assert result.bound_by != "boaster"
    troubles = " ".join(result.troubles)
    assert "bound boaster: gave evidence for 1 steps, not for 99" in troubles
    assert "bound broken failed: ZeroDivisionError" in troubles


def test_the_host_runs_providers_of_low_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.full_plugin,tests.lying_bounds")
    registry = load_registry()
    registry.bounds = {
        name: replace(info, effort="low", own_worker=False)
        for name, info in registry.bounds.items()
        if info.own_worker
    }
    names: list[Any] = []
    result = cchybrid.solve(
        "double-star-3",
        "swap",
        time_limit=60,
        registry=registry,
        observers=[lambda event: names.append(event.get("engine"))],
    )
    assert (result.steps, result.status, result.bound_by) == (4, "optimal", "halves")
    assert set(names) == {None, "host greedy", "halves"}  # no process was started
    assert {text.split(":")[0] for text in result.troubles} == {
        "bound boaster", "bound broken failed", "bound text failed",
    }  # fmt: skip


def test_an_observer_that_raises_is_removed(registry: Registry) -> None:
    def broken(event: Mapping[str, Any]) -> None:
        raise KeyError("no")

    seen: list[str] = []
    result = run(registry, "sound", observers=[broken, lambda event: seen.append(event["event"])])
    assert result.schedule is not None
    assert any("observer" in text for text in result.troubles)
    assert seen[0] == "run"
    assert seen[-1] == "result"


def test_an_unreachable_destination_is_infeasible_and_certified(registry: Registry) -> None:
    result = run(registry, "sound", spec=("ring-uni-4", "pairs:0>1"))
    assert result.status == "optimal"
    network = cchybrid.Network.from_arcs("line", 3, [(0, 1), (1, 2)])
    instance = cchybrid.Instance(
        network, cchybrid.Collective("pairs", (cchybrid.Message(2, (0,)),))
    )
    result = cchybrid.solve(instance, engines=["sound"], registry=registry)
    assert (result.status, result.certified, result.schedule) == ("infeasible", True, None)


def test_fewer_steps_than_the_bound_are_infeasible(registry: Registry) -> None:
    result = run(registry, "sound", steps=1)
    assert result.status == "infeasible"
    assert result.certified
    assert result.schedule is None


@pytest.mark.parametrize(
    ("collective", "finder"), [("allgather", "growth"), ("alltoall", "prices")]
)
def test_no_engine_starts_if_the_first_bounds_meet_the_first_schedule(
    collective: str, finder: str
) -> None:
    instance = cchybrid.instance("dgx-1", collective, switching="store-and-forward")
    result = cchybrid.solve(instance, time_limit=20)
    assert result.status == "optimal"
    assert result.certified
    assert result.engine == "host greedy"
    assert (result.lower_bound.evidence["kind"], result.bound_by) == ("linear", finder)
    assert not result.evaluations


def test_a_short_run_has_the_bound_that_bound_has(monkeypatch: pytest.MonkeyPatch) -> None:
    # Four leaves of a switch that stores: cuts show 3 steps, cuts over time 4. The host itself
    # looks at both, however late they are.
    monkeypatch.setattr(first_bounds, "MAX_FIRST_SECONDS", 0.0)
    star = cchybrid.Network.from_links(
        "star", 5, [(0, leaf) for leaf in range(1, 5)], switches=(0,)
    )
    instance = cchybrid.instance(star, "allgather", switching="store-and-forward")
    solved = cchybrid.solve(instance, time_limit=0.01)
    assert (solved.steps, solved.status, solved.certified) == (4, "optimal", True)
    assert cchybrid.bound(instance, time_limit=60).lower_bound == solved.lower_bound


def test_options_are_checked_before_the_search_starts(registry: Registry) -> None:
    events: list[str] = []
    for _ in range(3):
        with pytest.raises(InputError, match="rounds is 0"):
            run(
                registry, "sound", "tuned", options={"tuned": {"rounds": "0"}},
                observers=[lambda event: events.append(event["event"])],
            )  # fmt: skip
    assert "schedule" not in events


@pytest.mark.long
def test_an_engine_whose_preparation_never_ends_is_named(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_up, "MAX_PREPARE_SECONDS", 1.0)
    result = run(registry, "unready", "sound")
    assert result.schedule is not None
    assert result.troubles == ("unready: could not be prepared: not ready after 1 seconds",)


@pytest.mark.long
def test_a_run_does_not_wait_for_the_kernels_of_a_newcomer(registry: Registry) -> None:
    engines = ["unready", "restless"]
    for seconds in (3.0, 20.0):  # on a busy machine the engine may not start in time
        result = cchybrid.solve(
            cchybrid.instance("torus-4x4", "AAS"), engines=engines, time_limit=seconds,
            first_schedule=False, registry=registry,
        )  # fmt: skip
        if result.search_seconds.get("restless", 0.0) > 0:
            break
    assert result.search_seconds["restless"] > 0
    assert result.seconds < seconds + 10


def test_the_check_of_options_does_not_depend_on_the_time_limit(registry: Registry) -> None:
    events: list[str] = []
    with pytest.raises(InputError, match="rounds is 0"):
        run(
            registry, "tuned", options={"tuned": {"rounds": "0"}}, time_limit=0.1,
            observers=[lambda event: events.append(event["event"])],
        )  # fmt: skip
    assert events == ["run"]


def test_an_engine_that_does_not_check_its_options_is_named(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MAX_CHECK_SECONDS", 0.1)
    result = run(registry, "tuned", "sound", options={"tuned": {"rounds": "5"}})
    assert result.schedule is not None
    assert result.troubles == ("tuned: failed: did not check its options within 0 seconds",)


def test_a_schedule_above_the_target_is_no_result(registry: Registry) -> None:
    result = run(registry, "sound", spec=("mesh-3x3", "AAS"), steps=6)
    assert result.steps is None or result.steps <= 6


@pytest.mark.long
def test_the_order_of_the_engines_decides_nothing(registry: Registry) -> None:
    found = [
        run(registry, *names, spec=("mesh-3x3", "AAS"), evaluations=50, threads=1,
            time_limit=None)
        for names in (("sound", "colouring"), ("colouring", "sound"), ("Colouring", "SOUND"))
    ]  # fmt: skip
    steps = [result.schedule.steps for result in found if result.schedule]
    assert len(steps) == 3
    assert steps[0] == steps[1] == steps[2]


@pytest.mark.long
def test_a_time_limit_ends_a_run_with_evaluations_too(registry: Registry) -> None:
    result = run(registry, "deaf", evaluations=5, time_limit=2.0)
    assert result.seconds < 10


@pytest.mark.long
def test_observers_cannot_spoil_each_others_events(registry: Registry) -> None:
    seen: list[str] = []

    def spoil(event: Any) -> None:
        event.clear()

    result = run(registry, "sound", observers=[spoil, lambda event: seen.append(event["event"])])
    assert result.troubles == ()
    assert "result" in seen


def test_a_bound_provider_that_kills_its_process_is_named_alone(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.faulty_engines,tests.deadly_bounds")
    result = run(load_registry(), "sound")
    assert (result.status, result.certified) == ("optimal", True)
    assert any("bound provider deadly: crashed (exit 3)" in text for text in result.troubles)


def test_every_event_is_logged_in_order(registry: Registry) -> None:
    events: list[Mapping[str, Any]] = []
    run(registry, "sound", observers=[events.append])
    times = [event["seconds"] for event in events]
    assert times == sorted(times)
    json.dumps(events)


def test_when_the_host_is_killed_its_workers_end(tmp_path: Path) -> None:
    script = (
        "import cchybrid; "
        "cchybrid.solve(cchybrid.instance('ring-bi-4', 'AAS'), engines=['deaf'], time_limit=60)"
    )
    environment = {
        **os.environ,
        "CCHYBRID_PLUGINS": "tests.faulty_engines",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    host = subprocess.Popen([sys.executable, "-c", script], env=environment, cwd=tmp_path)
    deadline = time.monotonic() + 30
    while not workers():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1.0)
    host.send_signal(signal.SIGKILL)
    host.wait()
    while own_processes():
        assert time.monotonic() < deadline
        time.sleep(0.05)
