from __future__ import annotations

from itertools import islice

from cchybrid.host.run_history import Contribution, Course
from cchybrid.host.strategies import (
    PROVER,
    STRATEGIES,
    Phase,
    Strategy,
    auto,
    one_by_one,
    quotients,
    race,
    relay,
)
from cchybrid.plugin.records import EngineInfo

HEURISTIC = EngineInfo("h", "m:H", "")
OTHER = EngineInfo("o", "m:O", "")
EXACT = EngineInfo("x", "m:X", "", kind="exact")
LATE = EngineInfo("y", "m:Y", "", kind="exact")
QUICK = EngineInfo("q", "m:Q", "", kind="construction")


def phases(strategy: Strategy, engines: list[EngineInfo], threads: int = 2) -> list[Phase]:
    return list(strategy(engines, threads, Course(ordered=False)))


def names(found: list[Phase]) -> list[list[str]]:
    return [[seat.name for seat in phase.seats] for phase in found]


def found(steps: int | None, lower: int, what: str = "schedule") -> Contribution:
    return Contribution(1.0, "h", "", what, steps, lower, certified=True)


def test_race_seats_everybody_at_once() -> None:
    assert names(phases(race, [HEURISTIC, OTHER, EXACT])) == [["h", "o", "x"]]


def test_relay_hands_over_from_heuristics_to_exact_engines_and_back() -> None:
    plan = phases(relay, [EXACT, HEURISTIC, OTHER])
    assert names(plan) == [["h", "o"], ["x"], ["h", "o"]]
    assert plan[0].share < 1.0
    assert plan[1].seats[0].threads == 2


def test_relay_hands_over_to_the_last_exact_engine() -> None:
    plan = phases(relay, [EXACT, LATE, HEURISTIC])
    assert names(plan) == [["x", "h"], ["y"], ["x", "h"]]
    assert plan[1].seats[0].threads == 2
    assert plan[0].share < 1.0 == plan[1].share


def test_relay_begins_with_what_ends_in_a_moment() -> None:
    assert names(phases(relay, [EXACT, QUICK, HEURISTIC])) == [["q"], ["h"], ["x"], ["h"]]
    assert names(phases(relay, [QUICK])) == [["q"]]
    assert names(phases(race, [QUICK, HEURISTIC])) == [["q", "h"]]


def test_relay_of_one_kind_is_a_race() -> None:
    assert names(phases(relay, [HEURISTIC, OTHER])) == [["h", "o"]]
    assert names(phases(relay, [EXACT])) == [["x"]]


def test_quotients_is_a_race_on_quotients() -> None:
    plan = phases(quotients, [HEURISTIC, EXACT])
    assert names(plan) == [["h on quotients", "x on quotients"]]
    assert {seat.view for seat in plan[0].seats} == {"quotients"}


def test_exact_engines_get_the_threads_that_are_left() -> None:
    [phase] = phases(race, [HEURISTIC, EXACT], 8)
    assert {seat.engine.name: seat.threads for seat in phase.seats} == {"h": 1, "x": 7}


def test_heuristics_among_themselves_share_the_threads() -> None:
    def threads(strategy: Strategy, engines: list[EngineInfo], number: int) -> list[int]:
        return [seat.threads for seat in phases(strategy, engines, number)[0].seats]

    assert threads(race, [HEURISTIC, OTHER], 8) == [4, 4]
    assert threads(race, [HEURISTIC, OTHER], 1) == [1, 1]
    assert threads(relay, [EXACT, HEURISTIC], 6) == [6]


def test_one_by_one_is_what_its_name_says() -> None:
    assert names(phases(one_by_one, [EXACT, HEURISTIC, OTHER])) == [["h"], ["o"], ["x"]]


def test_the_strategies_are_there() -> None:
    assert set(STRATEGIES) == {"auto", "race", "relay", "quotients"}


def test_auto_of_one_engine_is_that_engine() -> None:
    assert names(phases(auto, [HEURISTIC])) == [["h"]]


def test_auto_gives_every_way_a_glance_the_strongest_first() -> None:
    course = Course(ordered=False)
    plan = list(islice(auto([QUICK, HEURISTIC, OTHER, EXACT, LATE], 2, course), 6))
    assert names(plan) == [
        ["q"],
        ["o on quotients", "o"],
        ["x", "h"],
        ["y", "y on quotients"],
        ["o on quotients", "o"],
        ["o on quotients", "o"],
    ]
    assert not plan[0].pause
    assert all(phase.pause for phase in plan[1:])
    assert all(seat.threads == 1 for phase in plan[1:] for seat in phase.seats)


def test_auto_decides_soon_where_steps_have_an_order() -> None:
    course = Course(ordered=True, best=4, lower=3)
    plan = list(islice(auto([HEURISTIC, OTHER, EXACT], 4, course), 3))
    assert names(plan) == [["o", "h"], ["o on quotients", "x"], [PROVER, "x on quotients"]]
    assert plan[1].seats[0].threads == 2


def test_the_prover_waits_until_few_steps_are_open() -> None:
    course = Course(ordered=True, best=9, lower=3)
    plan = auto([HEURISTIC, EXACT], 2, course)
    assert PROVER not in {name for phase in islice(plan, 4) for name in names([phase])[0]}
    course.turned_out("h", found(4, 3))
    assert names([next(plan)]) == [[PROVER]]
    course = Course(ordered=True, provable=False, best=4, lower=3)
    plan = auto([HEURISTIC, EXACT], 2, course)
    assert PROVER not in {name for phase in islice(plan, 8) for name in names([phase])[0]}


def test_auto_goes_on_with_what_has_paid_off() -> None:
    course = Course(ordered=False, left=50.0)
    plan = auto([HEURISTIC, OTHER, EXACT], 2, course)
    for phase in islice(plan, 3):
        for seat in phase.seats:
            course.took(seat.name, 2.0)
    course.turned_out("h", found(20, 10))
    course.turned_out("h", found(15, 10))
    assert names([next(plan)])[0][0] == "h"
    course.took("h", 40.0)
    course.took("h", 40.0)
    assert "h" not in names([next(plan)])[0]
    # The weaker one on quotients had no glance, and gets its turn when the others had theirs.
    for worker in ("o", "x", "o on quotients", "x on quotients"):
        course.took(worker, 60.0)
    assert "h on quotients" in names([next(plan)])[0]


def test_auto_ends_when_nobody_has_anything_to_give() -> None:
    course = Course(ordered=False)
    plan = auto([HEURISTIC, EXACT], 2, course)
    next(plan)
    course.spent |= {"h", "x", "h on quotients", "x on quotients"}
    assert list(plan) == []


def test_gains_are_shares_of_the_gap() -> None:
    course = Course(ordered=False)
    course.turned_out("h", found(20, 10))
    course.turned_out("o", found(15, 10))
    course.turned_out("x", found(15, 14, "bound"))
    assert course.gap == 1
    assert course.worth("h", 0.1) > course.worth("x", 0.1) > course.worth("o", 0.1)
    assert course.worth("n", 0.2) > course.worth("n", 0.1)
    before = course.worth("x", 0.1)
    course.took("x", 1.0)
    assert course.worth("x", 0.1) < before
    assert [entry.steps for entry in course.contributions] == [20, 15, 15]
