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

THROUGHPUTS = ["forestcoll"]


def test_every_report_is_in_the_overview() -> None:
    listed = {name for name, *_ in (*OVERVIEW, *DESIGNS)}
    listed |= {"foreign"}  # an audit of files, no benchmark
    assert listed == {p.parent.name for p in FOLDER.glob("*/report.csv")}


@needs("throughputs")
@pytest.mark.parametrize("name", THROUGHPUTS)
def test_a_report_of_throughputs_says_what_the_overview_says(name: str) -> None:
    command, rows, certified, beside = next(each[1:] for each in OVERVIEW if each[0] == name)
    table = list(csv.DictReader((FOLDER / name / "report.csv").read_text().splitlines()))
    suite = read_suite(name).rows
    assert [(row["topology"], row["collective"], row["published"]) for row in table] == [
        (row.topology, row.collective, row.rounds_per_chunk) for row in suite
    ]
    assert len(table) == int(rows)
    assert [row["proof"] for row in table].count("yes") == int(certified)
    for number, word in re.findall(r"(\d+) (better|equal|worse|new)\b", beside):
        assert [row["verdict"] for row in table].count(word) == int(number), word
    assert command in (FOLDER / name / "report.md").read_text()


@needs("designs")
@pytest.mark.parametrize(
    ("name", "command", "rows", "columns"), DESIGNS, ids=[row[0] for row in DESIGNS]
)
def test_a_report_of_designs_says_what_the_overview_says(
    name: str, command: str, rows: str, columns: str
) -> None:
    table = list(csv.DictReader((FOLDER / name / "report.csv").read_text().splitlines()))
    names = list(dict.fromkeys(row["row"] for row in table))
    assert names == [row.name for row in read_suite(name).rows]
    assert len(names) == int(rows)
    verdicts = [row["verdict"] for row in table]
    for word in ("better", "equal", "worse"):
        counts = map(int, re.findall(rf"(\d+) {word}\b", columns))
        assert verdicts.count(word) == sum(counts), word
    assert command in (FOLDER / name / "report.md").read_text()


@pytest.mark.parametrize(
    ("name", "command", "rows", "closed", "beside"),
    [row for row in OVERVIEW if row[0] not in THROUGHPUTS],
    ids=lambda text: text if re.fullmatch(r"[a-z-]+", text) else "",
)
def test_a_report_says_what_the_overview_says(
    name: str, command: str, rows: str, closed: str, beside: str
) -> None:
    table = list(csv.DictReader((FOLDER / name / "report.csv").read_text().splitlines()))
    assert len(table) == int(rows)
    assert [row["row"] for row in table] == [row.name for row in read_suite(name).rows]
    states = [row["state"].split(",")[0] for row in table]
    scheduled = [row for row, state in zip(table, states, strict=True) if state != STUDY]
    if name == "scale":  # its largest networks have no schedule within the time limit
        scheduled = [row for row in scheduled if row["state"] != "nothing found"]
    assert all(row["steps"] and row["lower_bound"] for row in scheduled)
    assert states.count("optimal") == int(closed)
    verdicts = [row["verdict"] for row in table]
    for number, word in re.findall(r"(\d+) (better|equal|worse|new)\b", beside):
        assert verdicts.count(word) == int(number), word
    text = (FOLDER / name / "report.md").read_text()
    assert f"{command.removesuffix(' --jobs 2')} " in text


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
