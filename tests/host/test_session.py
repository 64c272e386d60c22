"""The host with engines that crash, hang, report false results or exit."""

import os
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import replace
from typing import Any

import pytest

import cchybrid
from cchybrid.host import first_bounds, session
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import Registry, load_registry
from tests.faults.processes import OWN, own_processes, workers

SMALL = ("ring-bi-4", "AAS")


@pytest.fixture(autouse=True)
def _marked(monkeypatch) -> None:
    monkeypatch.setenv(OWN, uuid.uuid4().hex)


def run(registry: Registry, *engines: str, **rest: Any) -> cchybrid.Result:
    rest = {"time_limit": 20.0, "first_schedule": False, "bounds": False, **rest}
    spec = rest.pop("spec", SMALL)
    if "evaluations" not in rest:  # engines with evaluations run one after another
        rest["strategy"] = "race"
    return cchybrid.solve(cchybrid.instance(*spec), engines=engines, registry=registry, **rest)


FAULTS = {
    "crash": "crashed (signal 11)", "liar": "offered an invalid schedule",
    "babble": "sent a line that is not JSON",
    "raise": "failed: RuntimeError: the engine broke in two lines", "vanish": "crashed (exit 0)",
    "boast": "claimed a bound that a schedule", "forge": "gave evidence for 1 steps, not for 999",
}  # fmt: skip


@pytest.mark.parametrize(
    "engines",
    ["crash liar babble", pytest.param("raise vanish boast forge", marks=pytest.mark.long)],
)
def test_faulty_engines_are_named_and_the_run_goes_on(registry, engines):
    # No greedy schedule is optimal here, so that the run ends when every engine has.
    result = run(registry, *engines.split(), "sound", spec=("spidergon-8", "AAS"))
    assert result.status == "feasible"
    for engine in engines.split():
        found = [text for text in result.troubles if text.startswith(f"{engine}: ")]
        assert any(FAULTS[engine] in text for text in found), (engine, result.troubles)
    assert not own_processes()


@pytest.mark.slow
def test_an_engine_that_has_nothing_to_do_is_a_remark(registry):
    result = run(registry, "picky")
    assert result.remarks == ("picky: it likes no problem at all",)
    assert (result.troubles, result.status) == ((), "unknown")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rouns": "5"}, "did you mean rounds?"),
        pytest.param({"rounds": "many"}, "'many' is not an integer", marks=pytest.mark.long),
        pytest.param({"loud": "perhaps"}, "'perhaps' is not true or false", marks=pytest.mark.long),
        pytest.param({"rate": "x"}, "'x' is not a number", marks=pytest.mark.long),
    ],
)
def test_wrong_options_are_bad_input(registry, options, words):
    with pytest.raises(InputError, match="tuned") as caught:
        run(registry, "tuned", options={"tuned": options})
    assert words in str(caught.value)


def test_the_host_runs_providers_of_low_effort(monkeypatch):
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.full_plugin,tests.lying_bounds")
    registry = load_registry()
    registry.bounds = {
        name: replace(info, effort="low", own_worker=False)
        for name, info in registry.bounds.items()
        if info.own_worker
    }
    names: list[Any] = []
    result = cchybrid.solve(
        "double-star-3", "swap", time_limit=60, registry=registry,
        observers=[lambda event: names.append(event.get("engine"))],
    )  # fmt: skip
    assert (result.steps, result.status, result.bound_by) == (4, "optimal", "halves")
    assert set(names) == {None, "host greedy", "halves"}  # no process was started
    assert {text.split(":")[0] for text in result.troubles} == {
        "bound boaster", "bound broken failed", "bound text failed",
    }  # fmt: skip


@pytest.mark.slow
def test_fewer_steps_than_the_bound_are_infeasible(registry):
    result = run(registry, "sound", steps=1, bounds=True)
    assert (result.status, result.certified, result.schedule) == ("infeasible", True, None)


@pytest.mark.parametrize(
    ("collective", "finder"), [("allgather", "growth"), ("alltoall", "prices")]
)
def test_no_engine_starts_if_the_first_bounds_meet_the_first_schedule(collective, finder):
    instance = cchybrid.instance("dgx-1", collective, switching="store-and-forward")
    result = cchybrid.solve(instance, time_limit=20)
    assert (result.status, result.certified, result.engine) == ("optimal", True, "host greedy")
    assert (result.lower_bound.evidence["kind"], result.bound_by) == ("linear", finder)
    assert not result.evaluations


@pytest.mark.slow
def test_a_short_run_has_the_bound_that_bound_has(monkeypatch):
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


@pytest.mark.slow
def test_the_check_of_options_does_not_depend_on_the_time_limit(registry):
    events: list[str] = []
    with pytest.raises(InputError, match="rounds is 0"):
        run(
            registry, "tuned", options={"tuned": {"rounds": "0"}}, time_limit=0.1,
            observers=[lambda event: events.append(event["event"])],
        )  # fmt: skip
    assert events == ["run"]


@pytest.mark.slow
def test_an_engine_that_does_not_check_its_options_is_named(registry, monkeypatch):
    monkeypatch.setattr(session, "MAX_CHECK_SECONDS", 0.1)
    result = run(registry, "tuned", "sound", options={"tuned": {"rounds": "5"}})
    assert result.schedule is not None
    assert result.troubles == ("tuned: failed: did not check its options within 0 seconds",)


@pytest.mark.slow
def test_a_bound_provider_that_kills_its_process_is_named_alone(registry, monkeypatch):
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.faulty_engines,tests.deadly_bounds")
    result = run(load_registry(), "sound", bounds=True)
    assert (result.status, result.certified) == ("optimal", True)
    assert any("bound provider deadly: crashed (exit 3)" in text for text in result.troubles)


@pytest.mark.slow
def test_when_the_host_is_killed_its_workers_end(tmp_path):
    script = (
        "import cchybrid; "
        "cchybrid.solve(cchybrid.instance('ring-bi-4', 'AAS'), engines=['deaf'], time_limit=60)"
    )
    environment = {**os.environ, "CCHYBRID_PLUGINS": "tests.faulty_engines"}
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
