import math
from dataclasses import replace
from itertools import islice, permutations
from typing import Any

import pytest

from cchybrid.host.run_history import PROOF_ARM, Contribution, RunHistory
from cchybrid.host.strategies import (
    LARGE_DELIVERIES,
    MAX_EXTERNAL,
    AutoOptions,
    RelayOptions,
    auto,
    one_by_one,
    ranked,
)
from cchybrid.plugin.records import EngineInfo, Messages, load_target
from cchybrid.plugin.registry import load_registry
from cchybrid.plugin.strategy import PROVER

HEURISTIC = EngineInfo("h", "m:H", "", priority=2)
OTHER = EngineInfo("o", "m:O", "", priority=3)
EXACT = EngineInfo("x", "m:X", "", kind="exact", priority=1)
STRONG = EngineInfo("y", "m:Y", "", kind="exact", priority=4)
QUICK = EngineInfo("q", "m:Q", "", kind="construction", priority=9)
NEW = EngineInfo("a-new", "m:N", "", external=True)
NEW_EXACT = EngineInfo("a-new-exact", "m:E", "", kind="exact", external=True)
NEW_QUICK = EngineInfo("c", "m:C", "", kind="construction", external=True)
OWN = [each for each in load_registry().engines.values() if not (each.external or each.baseline)]


def plan(
    strategy: str, engines: list[EngineInfo], threads: int = 2, history: RunHistory | None = None
) -> Any:
    found = load_target(load_registry().strategy(strategy).target)
    history = RunHistory(ordered=False) if history is None else history
    return found.phases(engines, threads, history, found.Options())


def names(phases: Any) -> list[list[str]]:
    return [
        [arm.engine.name + (":q" if arm.view == "quotients" else "") for arm in phase.arms]
        for phase in phases
    ]


def found(steps: int | None, lower: int, what: str = "schedule") -> Contribution:
    return Contribution(1.0, "h", "", what, steps, lower, certified=True)


def test_engines_are_ranked_by_priority_then_by_name_never_by_position():
    engines = [HEURISTIC, OTHER, NEW, EngineInfo("b", "m:B", "", priority=9, baseline=True)]
    for order in permutations([*engines, replace(NEW, name="z-first", priority=1000)]):
        assert [engine.name for engine in ranked(order)] == ["o", "h", "z-first", "a-new", "b"]


def finish(history: RunHistory, engines: str) -> None:
    """Add all arms of engines to those that have finished."""
    history.finished |= {(name, view) for name in engines for view in ("instance", "quotients")}


def probe(phases: Any, history: RunHistory) -> None:
    """Give every arm of three phases a slice of two seconds."""
    for phase in islice(phases, 3):
        for arm in phase.arms:
            history.sliced(arm.key, 2.0)


def test_auto_waits_for_kernels_only_of_engines_of_cchybrid_or_if_no_arm_can_work():
    history = RunHistory(ordered=False)
    phases = plan("auto", [HEURISTIC, OTHER, NEW], history=history)
    history.compiling = {"o", "a-new"}
    probed = names(islice(phases, 3))
    assert [] in probed
    assert all("o" not in arm and "a-new" not in arm for arms in probed for arm in arms)
    history.compiling = {"a-new"}
    assert [] not in names(islice(phases, 6))
    finish(history, "ho")
    history.finished.add(PROOF_ARM)
    assert next(phases).arms == ()


def test_auto_starts_no_engine_that_cannot_take_part():
    forwarding = EngineInfo("f", "m:F", "", priority=5, messages="forwarded")
    scatter = EngineInfo("s", "m:S", "", priority=4, messages="direct")
    for ordered, absent in ((False, "f"), (True, "s")):
        phases = plan(
            "auto", [scatter, forwarding, HEURISTIC, OTHER], history=RunHistory(ordered=ordered)
        )
        begun = names(islice(phases, 12))
        assert {"f", "s", "h", "o"} - {name for arms in begun for name in arms} == {absent}
        assert begun[0][:2] == (["f", "o"] if ordered else ["o:q", "s"])
    assert names(plan("auto", [forwarding], history=RunHistory(ordered=False))) == [["f"]]


def test_auto_starts_engines_of_store_and_forward_switching_there_only():
    hops = EngineInfo("f", "m:F", "", priority=5, messages="hop by hop")
    for ordered, hop_by_hop in ((False, False), (False, True), (True, False), (True, True)):
        history = RunHistory(ordered=ordered, hop_by_hop=hop_by_hop)
        begun = names(islice(plan("auto", [hops, HEURISTIC, OTHER], history=history), 12))
        assert any("f" in arms for arms in begun) == (ordered and hop_by_hop)


@pytest.mark.parametrize(("gap", "threads"), [(1, 1), (2, 2), (3, 1), (None, 1)])
def test_auto_probes_first_what_decides_while_the_gap_is_small(gap, threads):
    engines = [EngineInfo(name, "m:E", "", priority=9) for name in "ab"]
    decider = EngineInfo("d", "m:E", "", priority=1, decides=True)
    history = RunHistory(ordered=True, best=None if gap is None else 5 + gap, lower=5)
    begun = next(plan("auto", [*engines, decider], threads, history))
    expected = ["d", "a"][:threads] if gap in (1, 2) else ["a", "b", "d"]
    assert names([begun]) == [expected]


@pytest.mark.parametrize("gap", [1, 2, 3])
def test_auto_prefers_what_decides_while_the_gap_is_small(gap):
    """Nothing contributes, so the priors decide after the probes; ``d`` is ranked last."""
    engines = [EngineInfo(name, "m:E", "", priority=9) for name in "abc"]
    for ordered in (True, False):
        for decides in (True, False):
            history = RunHistory(ordered=ordered, best=5 + gap, lower=5)
            last = EngineInfo("d", "m:E", "", priority=1, decides=decides)
            *_, final = names(islice(plan("auto", [*engines, last], history=history), 12))
            assert ("d" in final) == (decides and ordered and gap < 3)
            assert "d:q" not in final


def test_auto_goes_on_with_what_decides_between_probes_while_the_gap_is_small():
    engines = [EngineInfo(name, "m:E", "", priority=9 - k) for k, name in enumerate("abcdefgh")]
    decider = EngineInfo("s", "m:E", "", priority=10, decides=True)
    history = RunHistory(ordered=True, best=6, lower=5)
    phases = plan("auto", [decider, *engines], history=history)
    begun = names(islice(phases, 6))
    assert [arms == ["s"] for arms in begun] == [False, True] * 3
    history.lower = 2
    assert ["s"] not in names(islice(phases, 3))


@pytest.mark.parametrize(
    ("strategy", "engines", "expected"),
    [
        ("race", [HEURISTIC, OTHER, EXACT], [["h", "o", "x"]]),
        ("race", [QUICK, HEURISTIC], [["q", "h"]]),
        ("relay", [EXACT, QUICK, HEURISTIC], [["q"], ["x"], ["h"], ["x"]]),
        ("relay", [EXACT, HEURISTIC, OTHER], [["x"], ["h", "o"], ["x"], ["h", "o"]]),
        ("relay", [QUICK], [["q"]]),
        ("relay", [HEURISTIC, OTHER], [["h", "o"]]),
        ("relay", [EXACT], [["x"]]),
        ("quotients", [HEURISTIC, EXACT], [["h:q", "x:q"]]),
        ("auto", [HEURISTIC], [["h"]]),
        ("auto", [NEW, NEW_EXACT], [["a-new", "a-new-exact"], ["a-new:q", "a-new-exact:q"]]),
        ("auto", [QUICK, NEW_QUICK, HEURISTIC], [["q", "c"], ["q"]]),
        ("auto", [NEW, QUICK], [["q", "a-new"], ["q"]]),
    ],
)
def test_the_first_phases(strategy, engines, expected):
    endless = len(engines) > 1 and strategy in ("auto", "relay")
    assert names(islice(plan(strategy, engines), len(expected) + (not endless))) == expected


def test_exact_engines_get_the_threads_that_are_left():
    [phase] = plan("race", [HEURISTIC, EXACT], 8)
    assert {arm.engine.name: arm.threads for arm in phase.arms} == {"h": 1, "x": 7}
    exact, first = islice(plan("relay", [EXACT, HEURISTIC, OTHER]), 2)
    assert (first.share < 1.0, exact.arms[0].threads) == (True, 2)


def test_one_by_one_runs_constructions_then_heuristics_then_exact_engines():
    phases = one_by_one([EXACT, HEURISTIC, QUICK, OTHER, NEW], 2)
    assert names(phases) == [["q"], ["o"], ["h"], ["a-new"], ["x"]]


def test_relay_chooses_the_exact_engine_of_the_highest_priority():
    for order in permutations([EXACT, STRONG, NEW_EXACT, HEURISTIC]):
        first, others, again = names(islice(plan("relay", list(order)), 3))
        assert first == again == ["y"]
        assert sorted(others) == ["a-new-exact", "h", "x"]


def test_the_slices_of_a_side_of_relay_grow_while_it_gains_and_are_halved_when_not():
    history = RunHistory(ordered=True)
    lengths = []
    for phase in islice(plan("relay", [EXACT, HEURISTIC], history=history), 12):
        assert phase.pause
        lengths.append(phase.seconds)
        if len(lengths) in (1, 4, 5):
            history.contributed(phase.arms[0].key, found(9, 1))
        elif len(lengths) in (2, 6):
            history.drafted(found(9, 1, "draft"), is_gain=len(lengths) == 6)
    assert lengths[::2] == [4.0, 5.0, 2.5, 3.125, 2.0, 2.0]  # gained in the slices 1 and 5
    assert lengths[1::2] == [2.0, 2.0, 2.5, 3.125, 2.0, 2.0]  # in 4 and 6


def test_relay_leaves_out_what_has_finished_and_ends_with_the_last():
    history = RunHistory(ordered=True)
    phases = plan("relay", [EXACT, HEURISTIC, OTHER], history=history)
    assert names(islice(phases, 2)) == [["x"], ["h", "o"]]
    finish(history, "xo")
    assert names(islice(phases, 2)) == [["h"], ["h"]]
    finish(history, "h")
    assert names(phases) == []


def test_auto_probes_every_arm_the_strongest_first():
    for engines in permutations([QUICK, HEURISTIC, OTHER, EXACT, STRONG]):
        first, *rest = phases = list(islice(plan("auto", list(engines)), 6))
        strongest = ["o:q", "o"]
        probes = [["q"], strongest, ["x", "h"], ["y", "y:q"], strongest, strongest]
        assert names(phases) == probes
    assert not first.pause
    assert all(phase.pause and {arm.threads for arm in phase.arms} == {1} for phase in rest)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("seconds", [5.0, 10.0, 35.0, 60.0])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("count", [1, 3, 9])
def test_external_engines_are_probed_in_the_first_tenth_of_the_time(
    ordered, seconds, threads, count
):
    """No engine offers anything, so every phase takes its whole share of the time that is left."""
    external = [replace(NEW, name=f"new-{number}") for number in range(count)]
    history, now, waiting = RunHistory(ordered), 0.0, {each.name for each in external}
    slices = []
    for phase in plan("auto", [*external, *OWN], threads, history):
        probed = [arm for arm in phase.arms if arm.engine.external]
        if not probed:
            break
        assert len(probed) <= MAX_EXTERNAL
        assert phase.pause
        slices.append(phase.share * (seconds - now))
        now += slices[-1]
        waiting -= {arm.engine.name for arm in probed}
    assert not waiting
    assert now <= seconds / 10
    assert min(slices) >= 0.9 * seconds / 10 / -(-count // MAX_EXTERNAL)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("gap", [None, 1, 5])
@pytest.mark.parametrize("kind", ["heuristic", "exact", "construction"])
def test_no_priority_of_an_external_engine_displaces_one_of_cchybrid(ordered, gap, kind):
    """From its probe on it takes part as an arm of a weak engine: it gets no probe of another."""
    history = RunHistory(ordered, best=gap and 5 + gap, lower=5)
    probes = list(islice(plan("auto", OWN, history=history), 8))
    own = names(probes)[0]
    assert "classical" in own
    assert "tabu" in {arm.engine.name for phase in probes for arm in phase.arms}
    messages: Messages
    for priority, messages in ((0, "any"), (1000, "any"), (1000, "direct"), (1000, "forwarded")):
        new = replace(NEW, kind=kind, priority=priority, messages=messages)
        found = list(islice(plan("auto", [new, *OWN], history=history), 9))
        fits = messages in ("any", "forwarded" if ordered else "direct")
        assert names(found)[0] == ([*own, "a-new"] if fits else own)
        assert found[fits:][:8] == probes


def test_an_external_engine_whose_kernels_are_being_compiled_is_probed_later():
    history = RunHistory(ordered=False)
    history.compiling = {"a-new"}
    phases = plan("auto", [NEW, HEURISTIC, OTHER], history=history)
    assert names(islice(phases, 2)) == [["o:q", "o"], ["h"]]
    history.compiling = set()
    assert names([next(phases)]) == [["a-new"]]


def test_auto_probes_exact_engines_earlier_where_steps_have_an_order():
    history = RunHistory(ordered=True, best=4, lower=3)
    phases = list(islice(plan("auto", [HEURISTIC, OTHER, EXACT], 4, history), 3))
    assert names(phases) == [["o", "h"], ["o:q", "x"], [PROVER, "x:q"]]
    assert phases[1].arms[0].threads == 2


def test_the_prover_waits_until_the_gap_is_small():
    history = RunHistory(ordered=True, best=9, lower=3)
    phases = plan("auto", [HEURISTIC, EXACT], history=history)
    assert PROVER not in {name for row in names(islice(phases, 4)) for name in row}
    history.contributed(("h", "instance"), found(4, 3))
    assert names([next(phases)]) == [[PROVER]]
    history = RunHistory(ordered=True, provable=False, best=4, lower=3)
    phases = plan("auto", [HEURISTIC, EXACT], history=history)
    assert PROVER not in {name for row in names(islice(phases, 8)) for name in row}


@pytest.mark.parametrize(("best", "first"), [(5, "x"), (9, "o")])
def test_near_the_bound_the_exact_engine_goes_before_heuristics(best, first):
    history = RunHistory(ordered=True, provable=False, best=best, lower=3)
    phases = plan("auto", [HEURISTIC, OTHER, EXACT], history=history)
    probe(phases, history)
    assert names([next(phases)])[0][0] == first


def test_auto_continues_with_the_arm_of_the_best_score():
    history = RunHistory(ordered=False)
    phases = plan("auto", [HEURISTIC, OTHER, EXACT], history=history)
    probe(phases, history)
    h = ("h", "instance")
    history.contributed(h, found(20, 10))
    history.contributed(h, found(15, 10))
    assert names([next(phases)])[0][0] == "h"
    history.sliced(h, 40.0)
    history.sliced(h, 40.0)
    assert "h" not in names([next(phases)])[0]
    # The weaker engine on quotients is not probed; it runs after the others.
    for name in ("o", "x"):
        history.sliced((name, "instance"), 60.0)
        history.sliced((name, "quotients"), 60.0)
    assert "h:q" in names([next(phases)])[0]


def test_slices_grow_up_to_a_limit():
    options = AutoOptions(slice_seconds=4.0, max_slice_seconds=6.0)
    phases = auto([HEURISTIC, EXACT], 2, RunHistory(ordered=False), options)
    lengths = [phase.seconds for phase in islice(phases, 6) if phase.seconds is not None]
    assert lengths[:3] == [4.0, 5.0, 6.0]


def test_probes_and_slices_are_longer_with_many_deliveries():
    def lengths(deliveries: int) -> list[tuple[float | None, float | None]]:
        history = RunHistory(ordered=False, deliveries=deliveries)
        phases = plan("auto", [HEURISTIC, OTHER, EXACT], history=history)
        return [(phase.patience, phase.seconds) for phase in islice(phases, 6)]

    short = lengths(5)
    assert lengths(LARGE_DELIVERIES) == short
    longer = [tuple(each and pytest.approx(3 * each) for each in pair) for pair in short]
    assert lengths(3 * LARGE_DELIVERIES) == longer
    long = AutoOptions(max_slice_seconds=6.0).scaled(3 * LARGE_DELIVERIES)
    assert long.max_slice_seconds == pytest.approx(18.0)


def test_no_engine_goes_to_quotients_of_an_instance_without_symmetry():
    history = RunHistory(ordered=False)
    phases = plan("auto", [HEURISTIC, OTHER, EXACT], history=history)
    assert names([next(phases)]) == [["o:q", "o"]]
    history.asymmetric = True
    rest = {name for row in names(islice(phases, 8)) for name in row}
    assert {"h", "o", "x"} <= rest
    assert not any(name.endswith(":q") for name in rest)


def test_options_out_of_range_are_refused():
    with pytest.raises(ValueError, match="slice_seconds is 0"):
        AutoOptions(slice_seconds=0)
    for options, words in (
        ({"growth": 0.9}, "at least 1"), ({"growth": math.inf}, "above 0"),
        ({"slice_seconds": 0}, "slice_seconds is 0"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            RelayOptions(**options)


def test_auto_ends_when_all_arms_have_finished():
    history = RunHistory(ordered=False)
    phases = plan("auto", [HEURISTIC, EXACT], history=history)
    next(phases)
    finish(history, "hx")
    assert list(phases) == []
    assert PROOF_ARM not in history.finished


def test_gains_are_shares_of_the_gap():
    history = RunHistory(ordered=False)
    h, o, x, n = ((name, "instance") for name in "hoxn")
    history.contributed(h, found(20, 10))
    history.contributed(o, found(15, 10))
    history.contributed(x, found(15, 14, "bound"))
    assert history.gap == 1
    assert history.score(h, 0.1) > history.score(x, 0.1) > history.score(o, 0.1)
    assert history.score(n, 0.2) > history.score(n, 0.1)
    before = history.score(x, 0.1)
    history.sliced(x, 1.0)
    assert history.score(x, 0.1) < before
    assert [entry.steps for entry in history.contributions] == [20, 15, 15]
