"""The section on the steps of each contestant in each row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.report.sections import compose

from cchybrid.plugin.benchmark_report import Section
from tests.plugins.bench.test_statistics import FAST, SLOW, outcome, read

TITLE = "Steps of each contestant"


def sections_of(*outcomes: dict[str, Any]) -> list[Section]:
    sections = compose(read(*outcomes), None).sections
    return [each for each in sections if each.title == TITLE]


def steps_of(row: str, contestant: Contestant, *steps: int | None) -> list[dict[str, Any]]:
    return [outcome(row, contestant, seed, steps=each) for seed, each in enumerate(steps)]


def test_each_row_has_the_steps_of_each_contestant() -> None:
    """Several seeds, equal ones, none found, a failure, and a contestant without runs."""
    failed = outcome("c", SLOW, 1, failure="crashed")
    (section,) = sections_of(
        *steps_of("b", SLOW, 14, 13, 14, 14), *steps_of("b", FAST, 29, 11, 29),
        *steps_of("a", FAST, 7), *steps_of("c", FAST, None, 8), *steps_of("c", SLOW, 5), failed,
        *steps_of("same", FAST, 6), *steps_of("same", SLOW, 6),
        *steps_of("d", FAST, 4, 4), *steps_of("d", SLOW, None),
    )  # fmt: skip
    table: Any = section.table
    assert [*table.columns] == ["row", "colouring", "cpsat"]
    assert [*table.itertuples(index=False, name=None)] == [
        ("b AAS", "11, 29, 29", "13, 14, 14"),
        ("c AAS", "8, none, none", "5, none, none"),
        ("d AAS", "4", "none"),
    ]
    record: Any = section.record
    assert section.file == "steps.csv"
    assert [*record.iloc[0]] == ["b AAS", "colouring", 3, 11.0, 29.0, 29.0]
    assert [*record.columns] == ["row", "contestant", "runs", "best", "median", "worst"]


@pytest.mark.parametrize(("names", "there"), [(8, True), (9, False)])
def test_more_contestants_are_in_files_alone(names: int, there: bool) -> None:
    several = [Contestant((f"engine-{number}",)) for number in range(names)]
    (section,) = sections_of(
        *(outcome("a", each, steps=4 + place) for place, each in enumerate(several))
    )
    assert (section.table is not None) == there
    assert ("runs.csv" in section.text) != there
    assert section.record is not None


def test_without_differences_there_is_no_such_section() -> None:
    assert sections_of(*steps_of("a", FAST, 4), *steps_of("a", SLOW, 4)) == []
    assert sections_of(*steps_of("a", FAST, 4, 5)) == []  # one contestant
    reading = read(*steps_of("a", FAST, 4))
    bare = compose(replace(reading, runs=reading.runs[:0]), None)
    assert TITLE not in [each.title for each in bare.sections]


def test_contestants_that_never_searched_have_no_rate_and_no_rank() -> None:
    """With a contestant that searched beside them, and alone."""
    idle = [
        outcome("a", each, steps=None, seconds_to_best=None, searched=False, seconds=1.0)
        for each in (FAST, SLOW)
    ]
    other = Contestant(("tabu",))
    for more in ([], [outcome("a", other, seconds=1.0)]):
        sections = compose(read(*idle, *more), None).sections
        (table,) = (each.table for each in sections if each.title == "Contestants")
        found: Any = table
        assert [*found["success rate"]] == ["", "", *["100 %"] * len(more)]
        assert [*found["95 % interval"]] == ["", "", *["21 to 100 %"] * len(more)]
        assert "seconds over all runs" not in found
