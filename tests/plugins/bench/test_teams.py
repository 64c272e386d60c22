"""Teams beside their members."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.report.significance import NOT_SHOWN
from cchybrid_plugins.bench.report.teams import beside_members, members_of, seeds_of_teams
from pandas import DataFrame

from cchybrid.host.run_history import Contribution

UMDA = Contestant(("umda",), time_limit=10.0)
CPSAT = Contestant(("cpsat",), time_limit=10.0)
TEAM = Contestant(("cpsat", "umda"), "relay", time_limit=10.0)
AUTO = Contestant(None, time_limit=10.0)
OTHER = Contestant(("cpsat",), time_limit=20.0)


def runs(
    contestant: Contestant, seconds: Sequence[float | None], **more: Any
) -> list[dict[str, Any]]:
    return [
        {
            "row": "r", "key": contestant.key, "contestant": contestant.name, "seed": seed,
            "success": value is not None, "closed": value is not None,
            "seconds_to_best": 0.0 if value is None else value, "seconds": 9.0, "contributions": (),
            "versions": {}, **more,
        }
        for seed, value in enumerate(seconds)
    ]  # fmt: skip


def test_the_members_of_a_team_run_alone_under_the_same_budget() -> None:
    helped = Contestant(None, time_limit=10.0, first_schedule=True)
    others = replace(AUTO, without=("umda",))
    listed = (UMDA, CPSAT, TEAM, AUTO, OTHER, helped, others)
    code: dict[str, set[tuple[str, str]]] = {each.key: set() for each in listed}
    assert members_of(TEAM.key, code) == [UMDA.key, CPSAT.key]
    assert members_of(AUTO.key, code) == [CPSAT.key]  # baselines take part only if they are named
    assert members_of(UMDA.key, code) == []
    assert members_of(helped.key, code) == []  # they do not have the greedy schedule
    assert members_of(others.key, code) == [CPSAT.key]


def test_members_have_the_options_of_the_team_and_no_strategy() -> None:
    few = replace(UMDA, options={"umda": {"population": "4"}})
    team = replace(TEAM, options={"umda": {"population": "4"}, "relay": {"slice": "1"}})
    others = replace(CPSAT, strategy="quotients")
    code: dict[str, set[tuple[str, str]]] = {
        each.key: set() for each in (UMDA, CPSAT, few, others, TEAM, team)
    }
    assert members_of(team.key, code) == [CPSAT.key, few.key]
    assert members_of(TEAM.key, code) == [UMDA.key, CPSAT.key]


def test_members_had_their_present_code_when_the_team_ran() -> None:
    mine, team = Contestant(("mine",), time_limit=10.0), {"engine cpsat": "1", "engine lns": "1"}
    for versions, members in (
        ({"engine cpsat": "1", "python": "3"}, ["cpsat"]), ({"engine cpsat": "2"}, []),
    ):  # fmt: skip
        lines = [*runs(AUTO, [1.0], versions=team), *runs(CPSAT, [1.0], versions=versions)]
        lines += runs(mine, [0.1], versions={"engine mine": "1"})  # was not installed
        found = beside_members(DataFrame(lines)).to_dict("records")
        assert [line["member"] for line in found] == members


def test_the_better_member_has_more_successes_then_fewer_seconds() -> None:
    lines = [*runs(UMDA, [1.0, None]), *runs(CPSAT, [5.0, 7.0]), *runs(TEAM, [2.0, 4.0])]
    (line,) = beside_members(DataFrame(lines)).to_dict("records")
    assert (line["member"], line["members"]) == ("cpsat", "cpsat; umda")
    assert (line["successes"], line["member_successes"]) == (2, 2)
    assert (line["seconds"], line["member_seconds"]) == (3.0, 6.0)
    assert line["low"] < 3.0 < line["high"]
    assert line["verdict"] == NOT_SHOWN


def test_a_run_without_success_counts_with_its_time_limit() -> None:
    lines = [*runs(UMDA, [1.0, None]), *runs(TEAM, [None, None])]
    (line,) = beside_members(DataFrame(lines)).to_dict("records")
    assert (line["seconds"], line["member_seconds"]) == (10.0, 5.5)
    endless = Contestant(("umda",), time_limit=None, evaluations=5)
    both = Contestant(("cpsat", "umda"), time_limit=None, evaluations=5)
    lines = [*runs(endless, [None]), *runs(both, [None])]
    (line,) = beside_members(DataFrame(lines)).to_dict("records")
    assert (line["seconds"], line["verdict"]) == (9.0, NOT_SHOWN)


@pytest.mark.parametrize("seconds", [0.2, math.nan])
def test_failing_early_is_not_better_than_a_success(seconds: float) -> None:
    alone = Contestant(("umda",), time_limit=None, evaluations=5)
    both = Contestant(("cpsat", "umda"), time_limit=None, evaluations=5)
    failed = [{**line, "seconds": seconds} for line in runs(both, [None, None, None])]
    lines = [*runs(alone, [8.0, 8.5, None]), *failed]
    (line,) = beside_members(DataFrame(lines)).to_dict("records")
    assert (line["seconds"], line["member_seconds"]) == (9.0, 8.5)
    assert line["verdict"] not in ("better", "faster")


def test_the_better_member_has_the_higher_rate_of_any_number_of_runs() -> None:
    lines = [*runs(UMDA, [1.0]), *runs(CPSAT, [2.0, 2.0, 2.0, None, None]), *runs(TEAM, [1.0])]
    (line,) = beside_members(DataFrame(lines)).to_dict("records")
    assert line["member"] == "umda"


LESS, MORE = [1.0, 2.0, 3.0, 1.5, 2.5, 3.5], [4.0, 5.0, 6.0, 4.5, 5.5, 6.5]


def test_more_rows_show_less() -> None:
    """Holm's correction: what one row shows alone, three such rows do not."""
    for ours, theirs, word in ((LESS, MORE, "better"), (MORE, LESS, "worse")):
        lines = [
            line
            for row in "abc"
            for line in (*runs(UMDA, theirs, row=row), *runs(TEAM, ours, row=row))
        ]
        assert beside_members(DataFrame(lines[:12])).verdict.tolist() == [word]
        assert beside_members(DataFrame(lines)).verdict.tolist() == [NOT_SHOWN] * 3


def test_runs_of_one_seed_are_compared() -> None:
    """Every seed is a little faster: the pairs show it, where the means of each side do not."""
    theirs = [1.0, 9.0, 5.0, 3.0, 7.0, 8.0]
    lines = [*runs(UMDA, theirs), *runs(TEAM, [each - 0.1 for each in theirs])]
    assert beside_members(DataFrame(lines)).verdict.tolist() == ["better"]
    fewer = [line for line in lines if line["seed"] or line["key"] == UMDA.key]
    assert beside_members(DataFrame(fewer)).verdict.tolist() == [NOT_SHOWN]


def test_better_is_better_than_every_member_and_worse_than_the_better_one_is_worse() -> None:
    middle = [each + 2.0 for each in LESS]
    for ours, word in ((LESS, NOT_SHOWN), (middle, NOT_SHOWN), ([0.1] * 6, "better")):
        lines = [*runs(UMDA, LESS), *runs(CPSAT, MORE), *runs(TEAM, ours)]
        assert beside_members(DataFrame(lines)).verdict.tolist() == [word]
    longer = [*LESS, 2.2, 3.2]
    lines = [*runs(UMDA, longer), *runs(CPSAT, [9.0] * 8)]
    lines += runs(TEAM, [each + 2.0 for each in longer])
    assert beside_members(DataFrame(lines)).verdict.tolist() == ["worse"]


def test_a_team_is_not_worse_than_the_better_member_because_another_one_is_faster() -> None:
    lines = [*runs(UMDA, [*[1.0] * 9, None]), *runs(CPSAT, [5.0] * 10), *runs(TEAM, [3.0] * 10)]
    (line,) = beside_members(DataFrame(lines)).to_dict("records")
    assert (line["member"], line["verdict"]) == ("cpsat", NOT_SHOWN)


def test_seeds_are_counted_over_all_runs() -> None:
    first = Contribution(1.0, "umda", "", "schedule", 7, 5, certified=True)
    last = Contribution(2.0, "cpsat", "", "schedule", 6, 5, certified=True, seeded_by="umda")
    lines = [
        *runs(TEAM, [2.0, None], contributions=(first, last)),
        *runs(UMDA, [1.0], contributions=(first,)),
    ]
    assert seeds_of_teams(DataFrame(lines)).to_dict("records") == [
        {
            "contestant": "cpsat+umda (relay)", "found by": "cpsat", "seeded by": "umda",
            "runs": 2, "successes": 1,
        }
    ]  # fmt: skip
    assert seeds_of_teams(DataFrame(runs(UMDA, [1.0]))).empty
