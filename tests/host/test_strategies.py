from __future__ import annotations

from cchybrid.host.strategies import STRATEGIES, one_by_one, race, relay
from cchybrid.records import EngineInfo

HEURISTIC = EngineInfo("h", "m:H", "")
OTHER = EngineInfo("o", "m:O", "")
EXACT = EngineInfo("x", "m:X", "", proves=True)


def names(phases: list) -> list[list[str]]:
    return [[seat.engine.name for seat in phase.seats] for phase in phases]


def test_race_seats_everybody_at_once() -> None:
    assert names(race([HEURISTIC, OTHER, EXACT], 2)) == [["h", "o", "x"]]


def test_relay_hands_over_from_heuristics_to_exact_engines_and_back() -> None:
    phases = relay([EXACT, HEURISTIC, OTHER], 2)
    assert names(phases) == [["h", "o"], ["x"], ["h", "o"]]
    assert phases[0].share < 1.0
    assert phases[1].seats[0].threads == 2


def test_relay_hands_over_to_the_last_exact_engine() -> None:
    other = EngineInfo("y", "m:Y", "", proves=True)
    phases = relay([EXACT, other, HEURISTIC], 2)
    assert names(phases) == [["x", "h"], ["y"], ["x", "h"]]
    assert phases[1].seats[0].threads == 2
    assert phases[0].share < 1.0 == phases[1].share


def test_relay_begins_with_what_ends_in_a_moment() -> None:
    quick = EngineInfo("q", "m:Q", "", quick=True)
    phases = relay([EXACT, quick, HEURISTIC], 2)
    assert names(phases) == [["q"], ["h"], ["x"], ["h"]]
    assert names(relay([quick], 2)) == [["q"]]
    assert names(race([quick, HEURISTIC], 2)) == [["q", "h"]]


def test_relay_of_one_kind_is_a_race() -> None:
    assert names(relay([HEURISTIC, OTHER], 2)) == [["h", "o"]]
    assert names(relay([EXACT], 2)) == [["x"]]


def test_exact_engines_get_the_threads_that_are_left() -> None:
    seats = {seat.engine.name: seat.threads for seat in race([HEURISTIC, EXACT], 8)[0].seats}
    assert seats == {"h": 1, "x": 7}


def test_heuristics_among_themselves_share_the_threads() -> None:
    assert [seat.threads for seat in race([HEURISTIC, OTHER], 8)[0].seats] == [4, 4]
    assert [seat.threads for seat in race([HEURISTIC, OTHER], 1)[0].seats] == [1, 1]
    assert [seat.threads for seat in relay([EXACT, HEURISTIC], 6)[0].seats] == [6]


def test_one_by_one_is_what_its_name_says() -> None:
    assert names(one_by_one([EXACT, HEURISTIC, OTHER], 1)) == [["h"], ["o"], ["x"]]


def test_auto_is_there() -> None:
    assert set(STRATEGIES) == {"auto", "race", "relay"}
