"""Runs of designers that crash, hang, report false results or flood; and repeatable runs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cchybrid_plugins.design.api import design
from cchybrid_plugins.design.result import DesignResult

import cchybrid
from cchybrid.design_checker import check_design
from cchybrid.model.errors import InputError, PluginError
from cchybrid.plugin.registry import Registry, load_registry
from tests.plugins.design.faulty_designers import cost_of, path, ring

START = {"initial": "ring-bi-8"}
PLUGIN = "tests.plugins.design.faulty_designers"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    monkeypatch.setenv("CCHYBRID_PLUGINS", PLUGIN)
    return load_registry()


def run(registry: Registry, *designers: str, **rest: Any) -> DesignResult:
    rest = {"time_limit": 20.0, "threads": 2, **rest}
    return design(8, rest.pop("degree", 3), designers=designers, registry=registry, **rest)


@pytest.mark.long
def test_every_failure_is_named_and_the_others_go_on(registry: Registry) -> None:
    expected = {
        "crash": "crash: crashed (signal 11)",
        "raise": "raise: failed: RuntimeError: the designer broke in two lines",
        "vanish": "vanish: crashed (exit 0)",
        "liar": "liar: offered a network of cost 6 as one of 1",
        "outside": "outside: offered a network that is not allowed: links: a link from 0 to 8",
        "loop": "loop: offered a network that is not allowed: links: a link from 2 to 2",
        "star": "star: offered a network that is not allowed: links: node 0 has more than 3 links",
        "twice": "twice: offered a network that is not allowed: links: a link is redundant",
        "apart": "apart: offered a network of cost inf as one of 6",
        "infinite": "infinite: failed: offered a network of infinite cost",
        "notanumber": "notanumber: failed: offered a network whose cost is not a number",
        "garbage": "garbage: sent a line that is not JSON",
        "triples": "triples: sent an event designed whose links [[0, 1, 2]] is no",
        "fractions": "fractions: sent an event designed whose links [[0.5, 1]] is no",
        "bound": "bound: sent an unknown event 'bound'",
        "missing": "missing: failed: AttributeError: ",
    }
    result = run(registry, *expected, "picky", "sound")
    assert result.links == tuple(sorted(ring(8)))
    assert (result.status, result.designer, result.cost) == ("feasible", "sound", 6.0)
    assert result.remarks == ("picky: it likes no task at all",)
    for name, words in expected.items():
        lines = [line for line in result.troubles if line.split(":")[0] == name]
        assert len(lines) == 1, (name, result.troubles)
        assert lines[0].startswith(words)
        assert "\n" not in lines[0]
    check_design(result.record())


@pytest.mark.long
@pytest.mark.parametrize("limit", [{"time_limit": 20.0}, {"time_limit": None, "evaluations": 50}])
def test_a_false_claim_of_an_optimum_is_named(registry: Registry, limit: dict[str, Any]) -> None:
    """The other designer offers a ring before the claim, the exact one a path."""
    limit["initial"] = cchybrid.network("ring-bi-8")
    result = run(registry, "falsely", "nothing", "sound", **limit)
    assert result.links == tuple(sorted(ring(8)))
    assert (result.status, result.proven_by, result.certified) == ("feasible", "", False)
    assert sorted(result.troubles) == [
        "falsely: claims that no network has a cost below 9.625, but one has 6",
        "nothing: claims that there is no network, but one has 6",
    ]


@pytest.mark.long
def test_a_claim_of_an_exact_designer_is_reported_as_such(registry: Registry) -> None:
    result = run(registry, "falsely")
    assert (result.status, result.proven_by, result.certified) == ("optimal", "falsely", False)
    assert result.troubles == ()
    empty = run(registry, "nothing")
    assert (empty.status, empty.proven_by, empty.network) == ("unknown", "", None)


@pytest.mark.long
def test_the_same_seed_and_evaluations_give_the_same_network(registry: Registry) -> None:
    def links(seed: int, **rest: Any) -> tuple[Any, ...]:
        result = design(
            40, 4, designers=["sound", "seeded"], registry=registry, seed=seed, evaluations=40,
            cost=["latency"], **rest,
        )  # fmt: skip
        assert result.designer == "seeded"
        return result.links, result.evaluations, result.cost

    first = links(1)
    assert links(1) == first
    assert links(1, threads=2) == first
    assert links(2)[0] != first[0]
    target = links(1, target=first[2] + 0.02)
    again = links(1, target=first[2] + 0.02)
    # How many networks a designer evaluates until it hears of the end depends on the machine.
    assert (again[0], again[2]) == (target[0], target[2])
    assert first[2] <= target[2] <= first[2] + 0.02


@pytest.mark.long
def test_every_designer_gets_the_initial_network_with_evaluations(registry: Registry) -> None:
    events: list[Any] = []
    result = run(
        registry, "sound", "informed", initial="ring-bi-8", time_limit=None, evaluations=5,
        on_event=events.append,
    )  # fmt: skip
    assert result.designer == "start"
    notes = {event["engine"]: event["metrics"] for event in events if event["event"] == "note"}
    assert notes == {"informed": {"known": 8.0}}


@pytest.mark.long
def test_the_initial_network_is_kept_if_nothing_is_better(registry: Registry) -> None:
    start = cchybrid.network("ring-bi-8")
    result = run(registry, "plain", "informed", initial=start, time_limit=1.0)
    assert (result.designer, result.seconds_to_best < 0.5) == ("start", True)
    assert result.network is not None
    assert result.network.channels == start.channels
    events: list[Any] = []
    better = run(registry, "sound", initial="mesh-2x4", on_event=events.append)
    assert [event["designer"] for event in events if event["event"] == "network"] == ["start"]
    assert better.cost == cost_of(better.task, better.links)


@pytest.mark.slow
def test_a_network_that_meets_the_bound_is_certified_and_ends_the_run(registry: Registry) -> None:
    result = run(registry, "plain", "sound", degree=2, time_limit=60)
    assert (result.status, result.certified, result.proven_by) == ("optimal", True, "")
    assert result.cost == result.bound == 6.0
    assert result.seconds < 20


@pytest.mark.slow
def test_a_target_ends_the_run(registry: Registry) -> None:
    result = run(registry, "plain", target=9.7, time_limit=60)
    assert (result.status, result.links) == ("feasible", path(8))
    assert result.seconds < 20


@pytest.mark.slow
def test_what_a_designer_finds_after_the_goal_makes_no_claim(registry: Registry) -> None:
    """The path meets the goal; the ring that is offered before the claim is dropped."""
    result = run(registry, "twofold", target=9.7, time_limit=60)
    assert (result.status, result.proven_by, result.links) == ("feasible", "", path(8))
    assert result.troubles == ()


@pytest.mark.long
def test_a_designer_that_calls_nothing_is_ended_with_evaluations(registry: Registry) -> None:
    result = run(registry, "unspent", "sound", time_limit=None, evaluations=5)
    assert result.troubles == ("unspent: does not report what it spends of its evaluations",)
    assert result.designer == "sound"


@pytest.mark.long
def test_cost_terms_of_plugins(registry: Registry) -> None:
    few = run(registry, "sound", "plain", cost={"empty-ports": 2.0}, time_limit=2.0)
    assert (few.values, few.cost, few.designer) == ({"empty-ports": 8.0}, 16.0, "sound")
    assert (few.status, few.bound, bool(few.task.extra_terms)) == ("feasible", None, True)
    assert "extra_terms" not in json.dumps(few.to_json())
    large = run(registry, "sound", "plain", cost=["few-links"], time_limit=2.0)
    assert (large.values, large.cost, large.designer) == ({"few-links": 10.0}, -10.0, "plain")
    result = run(registry, "sound", cost=["latency", "spoils"])
    assert (result.links, result.cost) == (tuple(sorted(ring(8))), 3.0)


@pytest.mark.long
def test_cost_terms_that_fail_are_named_in_one_line(registry: Registry) -> None:
    broken = run(registry, "sound", "plain", cost=["latency", "broken"])
    assert (broken.status, broken.network) == ("unknown", None)
    words = "failed: cost term broken failed: ZeroDivisionError: no cost in two lines"
    assert sorted(broken.troubles) == [f"plain: {words}", f"sound: {words}"]
    result = run(registry, "sound", cost=["text"])
    assert result.troubles == (
        "sound: failed: cost term text failed: ValueError: "
        "could not convert string to float: 'a lot'",
    )
    words: dict[str, Any]
    for words, error, line in (
        ({"cost": ["absent"]}, PluginError, "^cost term absent cannot be loaded: AttributeError"),
        ({"cost": ["broken"], **START}, PluginError, "^cost term broken failed: ZeroDivisionError"),
        ({"cost": ["not-a-number"], **START}, InputError, "infinite cost; "),
        ({"cost": ["Latency"]}, InputError, "no cost term is called 'Latency'"),
    ):
        with pytest.raises(error, match=line):
            run(registry, "sound", **words)
    nan = run(registry, "sound", cost=["latency", "not-a-number"])
    assert nan.troubles == ("sound: failed: offered a network of infinite cost",)


@pytest.mark.slow
def test_observers_see_the_run_in_order(registry: Registry) -> None:
    events: list[Any] = []
    found: list[Any] = []
    result = run(registry, "sound", "raise", on_event=events.append,
                 accepted=lambda links, cost: found.append((links, cost)))  # fmt: skip
    names = [event["event"] for event in events]
    assert (names[0], names[-1]) == ("run", "result")
    assert sorted(names[1:-1]) == ["end", "network", "phase", "started", "started", "trouble"]
    assert found == [(result.links, result.cost)]
    assert events[-1]["links"] == [list(link) for link in result.links]


@pytest.mark.parametrize(("nodes", "said"), [(16, False), (18, True)])
def test_a_bisection_by_a_heuristic_is_said_to_be_one(nodes: int, said: bool) -> None:
    found = design(nodes, 3, cost=["bisection"], designers=["annealing"], evaluations=20)
    assert ("the minimum may be smaller" in str(found)) is said
