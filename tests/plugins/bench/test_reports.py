"""The committed reports count what their overview says."""

import csv
import re
from pathlib import Path

import pytest
from cchybrid_plugins.bench.report.standing import STUDY
from cchybrid_plugins.bench.suite import read_suite

from tests.plugins.bench.kinds import needs

FOLDER = Path(__file__).parents[3] / "docs" / "reports"
OVERVIEW = re.findall(
    r"^\| \[([\w-]+)\]\(\1/report\.md\) \| `([^`]+)` \| (\d+) \| (\d+) \| (.+) \|$",
    (FOLDER / "README.md").read_text(),
    re.M,
)

DESIGNS = re.findall(
    r"^\| \[([\w-]+)\]\(\1/report\.md\) \| `([^`]+)` \| (\d+) \| (\d+ better.+) \|$",
    (FOLDER / "README.md").read_text(),
    re.M,
)
ROWS = [(*row[:3], row[4]) for row in OVERVIEW] + DESIGNS
"""The name, the command, the number of rows, and the numbers of verdicts, of every report."""
KINDS = {"forestcoll": "throughputs", **{name: "designs" for name, *_ in DESIGNS}}
"""The kinds of those reports that are not of schedules."""


def test_every_report_is_in_the_overview() -> None:
    listed = {name for name, *_ in ROWS} | {"foreign"}  # an audit of files, no benchmark
    assert listed == {p.parent.name for p in FOLDER.glob("*/report.csv")}


def table_of(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((FOLDER / name / "report.csv").read_text().splitlines()))


@pytest.mark.parametrize(
    ("name", "command", "rows", "beside"),
    [pytest.param(*row, marks=needs(KINDS.get(row[0], "schedules")), id=row[0]) for row in ROWS],
)
def test_a_report_says_what_the_overview_says(
    name: str, command: str, rows: str, beside: str
) -> None:
    table, suite = table_of(name), read_suite(name).rows
    if name in KINDS and KINDS[name] == "throughputs":
        assert [(row["topology"], row["collective"], row["published"]) for row in table] == [
            (row.topology, row.collective, row.rounds_per_chunk) for row in suite
        ]
    else:  # a report of designs has a line per column of a row
        assert list(dict.fromkeys(row["row"] for row in table)) == [row.name for row in suite]
    assert len(suite) == int(rows)
    verdicts = [row["verdict"] for row in table]
    for word in ("better", "equal", "worse", "new"):
        if counts := re.findall(rf"(\d+) {word}\b", beside):
            assert verdicts.count(word) == sum(map(int, counts)), word
    text = (FOLDER / name / "report.md").read_text()
    assert f"{command.removesuffix(' --jobs 2')}" in text


@pytest.mark.parametrize(("name", "closed"), [(row[0], row[3]) for row in OVERVIEW])
def test_the_overview_says_how_many_rows_are_closed(name: str, closed: str) -> None:
    table = table_of(name)
    if KINDS.get(name) == "throughputs":
        assert [row["proof"] for row in table].count("yes") == int(closed)
        return
    states = [row["state"].split(",")[0] for row in table]
    assert states.count("optimal") == int(closed)
    for row, state in zip(table, states, strict=True):
        # The largest networks of ``scale`` have no schedule within the time limit, and
        # ``success-hypercubes`` was run in part.
        unknown = {"scale": "nothing found", "success-hypercubes": "not run"}.get(name)
        if state not in (STUDY, unknown):
            assert row["steps"]
            assert row["lower_bound"]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/report.csv")), ids=lambda p: p.parent.name)
def test_nothing_is_called_worse_or_not_worse_without_a_comparison(path: Path) -> None:
    """The report and its line of the overview say how many rows were compared."""
    table = list(csv.DictReader(path.read_text().splitlines()))
    verdicts = [row["verdict"] for row in table if row.get("network", "") == ""]
    compared = sum(verdict in ("better", "equal", "worse") for verdict in verdicts)
    report = path.with_suffix(".md").read_text()
    shown = re.search(r"^## Worse than published\n\n(.+)$", report, re.M)
    if shown is not None:
        words = f"{verdicts.count('worse')} of the {compared} rows that are compared."
        nothing = "Nothing was published that the results of these rows could be compared with."
        assert shown[1] == (words if compared else nothing)
    overview = (FOLDER / "README.md").read_text()
    (line,) = re.findall(rf"^\| \[{path.parent.name}\]\(.+$", overview, re.M) or [""]
    assert "none worse" not in line
    for number in re.findall(r"of (\d+) compared", line):
        assert int(number) == compared
    if " worse" in line:
        assert "compared" in line
