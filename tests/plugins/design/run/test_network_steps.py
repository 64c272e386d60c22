"""Networks with the fewest steps: proven by a bound, by exhaustion, or not."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest
from cchybrid_plugins.design import network_steps
from cchybrid_plugins.design.annealing.engine import Annealing, AnnealingOptions
from cchybrid_plugins.design.network.all_networks import all_networks
from cchybrid_plugins.design.network.local_run import LocalDesignRun
from cchybrid_plugins.design.network.record import design_record
from cchybrid_plugins.design.network.steps import instance_of, proven_steps
from cchybrid_plugins.design.network.steps_walk import rooted
from cchybrid_plugins.design.network.task import DesignTask
from cchybrid_plugins.design.network_steps import NetworkSteps, NoScheduleError, fewest_steps
from cchybrid_plugins.design.result import DesignResult

from cchybrid.checker import EvidenceError
from cchybrid.checker import proven_steps as steps_of_evidence
from cchybrid.design_checker import check_design
from cchybrid.model import CommunicationModel, LowerBound
from cchybrid.model.errors import InputError
from cchybrid.problem import build_problem
from cchybrid.referee.verify import verify_schedule
from cchybrid.toolkit.kernels.first_fit import first_fit
from tests.plugins.design.network.plain_distances import ring, torus
from tests.proof.optimum import fewest_steps as optimum


def check(found: NetworkSteps) -> None:
    """Verify schedule and evidence again."""
    schedule = found.result.schedule
    assert schedule is not None
    assert schedule.instance == instance_of(found.task, found.links)
    assert verify_schedule(schedule) == ()
    assert found.steps >= found.steps_bound
    record = design_record(found.task, found.links)
    check_design(record)
    record["claims"]["steps_bound"] += 1
    with pytest.raises(EvidenceError, match="steps bound is"):
        check_design(record)
    if found.result.certified:
        evidence = found.result.lower_bound.evidence
        assert steps_of_evidence(schedule.instance.to_json(), evidence) <= found.steps


@pytest.mark.slow
def test_a_bound_proves_the_network() -> None:
    task = DesignTask(8, 3, collective="AAS")
    found = fewest_steps(task, time_limit=60, threads=1)
    check(found)
    assert (found.steps, found.steps_bound, found.proven) == (4, 4, "by a bound")
    assert found.to_json()["proven"] == "by a bound"
    assert 0 < found.seconds_to_best <= found.seconds


@pytest.mark.long
def test_no_network_of_12_nodes_with_3_links_takes_7_steps() -> None:
    """All 332 networks are refuted, although the bound over all networks is 7."""
    task = DesignTask(12, 3, collective="AAS")
    lines: list[str] = []
    found = fewest_steps(task, time_limit=100, threads=1, report=lines.append)
    check(found)
    assert (found.steps, found.steps_bound, found.proven) == (8, 7, "by exhaustion")
    assert found.listed >= 332
    assert len(lines) == found.solved
    for links in all_networks(task):
        bound = proven_steps(task, links, 8)
        assert bound is not None
        anyhow = DesignTask(12, 3, collective="AAS", model=CommunicationModel(routing="any"))
        record = instance_of(anyhow, links).to_json()
        assert steps_of_evidence(record, dict(bound.evidence)) >= 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("nodes", "degree", "collective", "model"),
    [
        (5, 3, "AAS", CommunicationModel()),
        (5, 2, "AAB", CommunicationModel("store-and-forward", 1, 1)),
        (5, 3, "AOR", CommunicationModel("wormhole", 1, 1)),
        (5, 3, "OAB", CommunicationModel("store-and-forward", 1, 2)),
    ],
)
def test_the_proven_network_is_the_best_of_all(
    nodes: int, degree: int, collective: str, model: CommunicationModel
) -> None:
    """The twin solves every network, those with fewer links included, with every root."""
    task = DesignTask(nodes, degree, collective=collective, model=model)
    found = fewest_steps(task, time_limit=60, threads=1)
    check(found)
    assert found.proven != "not proven"
    best = found.steps
    for each in all_networks(task, maximal=False):
        for links in rooted(task, each):
            instance = instance_of(task, links)
            steps = optimum(instance, first_fit(build_problem(instance), 0).steps)
            assert steps >= best
            best = min(best, steps)
    assert best == found.steps


@pytest.fixture
def two_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the bound over all networks be 2, and prove nothing of a single one."""
    monkeypatch.setattr(network_steps, "steps_of_all_networks", lambda task: 2)
    monkeypatch.setattr(network_steps, "proven_steps", lambda task, links, steps: None)


@pytest.mark.long
@pytest.mark.parametrize(("routing", "listed"), [("minimal", 3), ("any", 1)])
@pytest.mark.usefixtures("two_steps")
def test_networks_with_fewer_links_are_listed_where_they_count(routing: str, listed: int) -> None:
    """A ring of five takes 3 steps. Refuted by ``solve`` for minimal routing, so is the path."""
    model = CommunicationModel(routing=routing)  # type: ignore[arg-type]
    task = DesignTask(5, 2, collective="AAS", model=model)
    found = fewest_steps(task, time_limit=60, threads=1)
    assert (found.steps, found.proven, found.listed) == (3, "by exhaustion", listed)


@pytest.mark.slow
@pytest.mark.usefixtures("two_steps")
def test_a_network_that_is_not_refuted_is_not_called_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    real = network_steps.solve

    def weak(instance, **rest):  # type: ignore[no-untyped-def]
        result = real(instance, **rest)
        bound = dataclasses.replace(result.certified_bound, steps=1)
        return dataclasses.replace(result, certified_bound=bound)

    monkeypatch.setattr(network_steps, "solve", weak)
    found = fewest_steps(DesignTask(5, 2, collective="AAS"), time_limit=60, threads=1)
    assert (found.steps, found.proven) == (3, "not proven")


@pytest.mark.parametrize(
    ("status", "certified", "words"),
    [
        ("optimal", True, "fewest on this network (certified)"),
        ("optimal", False, "fewest on this network (claimed)"),
        ("feasible", True, "at least 2 on this network"),
    ],
)
def test_a_certified_bound_below_the_steps_does_not_certify_them(
    status: str, certified: bool, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result is called certified if its bound is, whether or not the schedule attains it."""
    real = network_steps.solve

    def solved(instance, **rest):  # type: ignore[no-untyped-def]
        changes = {"status": status, "certified": certified, "certified_bound": LowerBound(2)}
        return dataclasses.replace(real(instance, **rest), **changes)

    monkeypatch.setattr(network_steps, "solve", solved)
    task = DesignTask(5, 2, collective="AAS")
    found = fewest_steps(task, listed_nodes=0, time_limit=1, threads=1)
    assert found.to_json()["steps_certified"] is (words.endswith("(certified)"))
    result: Any = SimpleNamespace(task=task, network_steps=found, steps_bound=found.steps_bound)
    assert DesignResult._steps_lines(result)[0] == f"AAS: {found.steps} steps, verified; {words}"


@pytest.mark.slow
def test_what_is_not_proven_is_not_called_proven() -> None:
    """In a second, some schedule of the torus is found; 7 steps are proven best, more are not."""
    task = DesignTask(16, 4, collective="AAS")
    found = fewest_steps(task, [torus(4, 4)], time_limit=1, slice_seconds=1, threads=1)
    check(found)
    assert found.steps_bound == 7
    assert found.proven == ("by a bound" if found.steps == 7 else "not proven")


@pytest.mark.long
@pytest.mark.parametrize("routing", ["minimal", 1])
def test_16_nodes_with_4_links_in_7_steps(routing: str | int) -> None:
    """Torus and hypercube take 8. The bound over all networks is 7, so no network is better."""
    model = CommunicationModel(routing=routing)  # type: ignore[arg-type]
    task = DesignTask(16, 4, collective="AAS", model=model)
    run = LocalDesignRun(task, evaluations=30_000)
    Annealing(AnnealingOptions()).design(task, run)
    assert run.links is not None
    found = fewest_steps(task, [run.links], time_limit=120, threads=1)
    check(found)
    assert (found.steps, found.proven, found.result.certified) == (7, "by a bound", True)


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False], ids=["after a schedule", "before"])
def test_an_interrupt_keeps_the_best(known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = network_steps.solve, 0

    def interrupted(instance, **rest):  # type: ignore[no-untyped-def]
        nonlocal calls
        calls += 1
        if calls == 2 or not known:
            raise KeyboardInterrupt
        return real(instance, **rest)

    monkeypatch.setattr(network_steps, "solve", interrupted)
    task = DesignTask(16, 4, collective="AAB")
    monkeypatch.setattr(network_steps, "steps_of_all_networks", lambda task: 2)
    monkeypatch.setattr(network_steps._Search, "_count", lambda search, links: 2.0)
    monkeypatch.setattr(network_steps, "walk", lambda *arguments: iter([torus(4, 4)]))
    if not known:
        with pytest.raises(KeyboardInterrupt):
            fewest_steps(task, [torus(4, 4)], time_limit=5, threads=1)
        return
    found = fewest_steps(task, [torus(4, 4)], time_limit=5, threads=1)
    assert found.interrupted
    assert (found.solved, found.proven) == (2, "not proven")
    assert found.result.schedule is not None
    assert verify_schedule(found.result.schedule) == ()


def test_without_any_schedule_there_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    real = network_steps.solve

    def unknown(instance, **rest):  # type: ignore[no-untyped-def]
        return dataclasses.replace(real(instance, **rest), schedule=None)

    monkeypatch.setattr(network_steps, "solve", unknown)
    with pytest.raises(NoScheduleError, match="use more seconds"):
        fewest_steps(DesignTask(5, 2, collective="AAS"), time_limit=5, threads=1)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(InputError, match="no collective"):
        fewest_steps(DesignTask(8, 3))
    with pytest.raises(InputError, match="has more than 3 links"):
        fewest_steps(DesignTask(16, 3, collective="AAS"), [torus(4, 4)])
    with pytest.raises(InputError, match="not connected"):
        fewest_steps(DesignTask(8, 3, collective="AAS"), [ring(4)])
    with pytest.raises(InputError, match="fault-tolerant"):
        fewest_steps(DesignTask(8, 3, collective="AAS", fault_tolerant=True))
