"""Reports of small stores: what holds counts, what does not is named, and files say the same."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from importlib import util
from pathlib import Path

import pytest
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.report.commands import commands_of
from cchybrid_plugins.bench.report.pages import _escaped, write_report
from cchybrid_plugins.bench.report.plots import COLOURS
from cchybrid_plugins.bench.report.reading import Reading, read_store
from cchybrid_plugins.bench.report.sections import compose
from cchybrid_plugins.bench.report.standing import standings
from cchybrid_plugins.bench.row import Row
from cchybrid_plugins.bench.store import Run, Store
from cchybrid_plugins.bench.suite import Suite
from pandas import NA

from cchybrid.cli.app import run as command
from cchybrid.model import Schedule
from cchybrid.model.errors import InputError
from cchybrid.plugin.benchmark_report import Report, Section
from cchybrid.plugin.records import ExporterInfo
from cchybrid.plugin.registry import Registry, load_registry
from cchybrid.system.machine import machine
from tests.plugins.bench.local_runs import COLOURING, fill, made, stored_under, with_seed

SECOND = Contestant(("umda",), time_limit=None, evaluations=20)
VALUES = (
    {"topology": "ring-bi-4", "collective": "AAS", "steps": "2", "lower_bound": "2"},
    {"topology": "mesh-3x3", "collective": "AAB", "steps": "5", "lower_bound": "5"},
    {"topology": "spidergon-8", "collective": "AAS", "steps": "3", "note": "a|b <i>"},
    {"topology": "hypercube-8", "collective": "OAB", "routing": "any"},
    {"topology": "ring-bi-4", "collective": "OAB", "steps": "1", "comparable": "no"},
    {"topology": "ring-bi-4", "collective": "AAB"},
)
SUITE = Suite("tiny", "", tuple(Row.from_text(values, Path()) for values in VALUES))


@pytest.fixture
def runs() -> list[Run]:
    """Return a real run of every row but the last."""
    return [made("schedules", row, COLOURING) for row in SUITE.rows[:5]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in the temporary folder."""
    monkeypatch.chdir(tmp_path)


def store_of(runs: Sequence[Run], suite: Suite = SUITE, *, name: str = "a") -> Path:
    """Write a store with these runs."""
    return fill(Path(f"{name}.sqlite"), suite, runs)


def read(path: Path) -> Reading:
    return read_store(path, None, load_registry())


def report_of(runs: Sequence[Run], suite: Suite = SUITE, *, name: str = "a") -> Report:
    """Return the report of a new store with these runs."""
    return compose(read(store_of(runs, suite, name=name)), None)


def section_of(report: Report, title: str) -> Section:
    (found,) = [section for section in report.sections if section.title == title]
    return found


def written(report: Report, folder: str = "out", *, plots: bool = False) -> dict[str, str]:
    """Write a report, by default without plots, which take half of the time."""
    drawn = report if plots else replace(report, plots=tuple)
    files = write_report(drawn, Path(folder), "Tiny", ["x"])
    return {path.suffix: path.read_text() for path in files if path.name != "runs.csv"}


def test_verdicts_of_a_store(runs: list[Run]) -> None:
    found = standings(read(store_of(runs)))
    assert found.steps.dropna().tolist() == [2, 4, 4, 2, 2]
    assert found.proof.tolist() == [*["certified"] * 5, ""]
    assert found.verdict.tolist() == [
        "equal", "better", "worse", "new", "not comparable", "no result",
    ]  # fmt: skip
    assert found.bound_verdict.tolist() == ["equal", "refuted", "", "", "", ""]
    assert found.routing.tolist() == [*["minimal"] * 3, "any", *["minimal"] * 2]
    assert found.published_is_impossible.tolist() == [False, False, True, False, False, False]


def contributed(
    what: str, author: str, steps: int, how: str = "", *, certified: bool = True, at: float = 1.0
) -> dict[str, object]:
    """Return an entry of a result; ``steps`` are those of the schedule, or of the bound."""
    lower = steps if what == "bound" else 1
    best = steps if what == "schedule" else None
    return {
        "seconds": at, "author": author, "how": how, "what": what, "steps": best, "lower": lower,
        "certified": certified,
    }  # fmt: skip


def with_contributions(run: Run, *contributions: dict[str, object]) -> Run:
    return replace(run, result={**run.result, "contributions": list(contributions)})


@pytest.mark.slow
def test_who_contributed_what(runs: list[Run]) -> None:
    four, method = (
        "quotient by a group of order 4",
        "quotient by a group of order 8 that moves 2 steps",
    )
    first = with_contributions(
        runs[1], contributed("bound", "growth", 1), contributed("bound", "cut", 3),
        contributed("schedule", "tabu", 9, at=2.0), contributed("schedule", "umda", 7, at=3.0),
        contributed("bound", "lns", 4, certified=False),
        contributed("bound", "late", 4, certified=False),
        contributed("bound", "liar", 5, certified=False),
        contributed("schedule", "tabu", 6, at=4.0),
        contributed("schedule", "x on quotients", 5, four, at=5.0),
        contributed("schedule", "x on quotients", 4, method, at=6.0),
        contributed("bound", "prices", 4, at=7.0),
    )  # fmt: skip
    second = with_contributions(
        runs[2], contributed("bound", "cut", 3), contributed("schedule", "tabu", 4, at=8.0)
    )
    alone = with_contributions(
        runs[0], contributed("schedule", "colouring", 3), contributed("schedule", "colouring", 2)
    )
    report = report_of([first, second, alone])
    files = written(report)
    shown = f"umda 7, tabu 6, x on quotients 4 ({method})"
    lines = list(csv.DictReader(files[".csv"].splitlines()))
    assert [line["story"] for line in lines[:4]] == ["colouring 2", shown, "tabu 4", ""]
    assert f'<td class="long">{shown}</td>' in files[".html"]
    assert "colouring 2" not in files[".md"]
    section = section_of(report, "What each engine contributed")
    assert section.table is not None
    assert [*section.table.itertuples(index=False, name=None)] == [
        ("tabu", "schedules", 2, 1, 1, 6.0),
        ("colouring", "schedules", 1, 1, 0, 1.0),
        ("x on quotients", "schedules", 1, 1, 1, 6.0),
        ("umda", "schedules", 1, 0, 1, 3.0),
        ("prices", "bounds", 1, 1, 1, 7.0),
        ("cut", "bounds", 2, 0, 0, 1.0),
        ("lns", "bounds", 1, 0, 1, 1.0),
    ]
    assert "3 of 6 rows have records" in section.text
    assert "other runs do not count, even with as few steps" in section.text
    assert f"Methods of the schedules: {four} (1 row), {method} (1 row)." in section.text


@pytest.mark.parametrize("times", [(9.0, 8.0), (9.0, 8.0, 9.5)])
def test_engine_and_story_are_those_of_the_first_run_to_have_the_steps(
    runs: list[Run], times: tuple[float, ...]
) -> None:
    """Also where more runs are of another engine, or its name comes first in the alphabet."""
    authors = ("another", "early", "another")
    *found, more = (
        with_seed(with_contributions(runs[1], contributed("schedule", author, 4)), seed)
        for seed, author in enumerate((*authors[: len(times)], "none"))
    )
    for run, author, seconds in zip(found, authors, times, strict=False):
        run.result.update(seconds_to_best=seconds, seconds=10.0, engine=author)
        run.result["contributions"] = [
            {**each, "seconds": seconds} for each in run.result["contributions"]
        ]
    failed = replace(more, failure="exit 1")
    rows = standings(read(store_of([*found, failed])))
    assert (rows.engine.iloc[1], rows.story.iloc[1]) == ("early", "early 4")


@pytest.mark.slow
def test_what_is_new_beside_the_papers(runs: list[Run]) -> None:
    report = report_of(runs)
    section = section_of(report, "New beside the papers")
    assert section.table is not None
    lines = section.table.astype(object).itertuples(index=False, name=None)
    assert [line[:5] for line in lines] == [
        ("mesh-3x3 AAB", "better", 5, 4, 4),
        ("hypercube-8 OAB routing any", "nothing published", NA, 2, 2),
        ("spidergon-8 AAS", "impossible", 3, 4, 4),
    ]
    bare = replace(SUITE, rows=(SUITE.rows[3],))
    alone = report_of([runs[3]], bare, name="b")
    assert "New beside the papers" not in [each.title for each in alone.sections]


def test_a_store_is_read_while_it_is_written(runs: list[Run]) -> None:
    path = store_of(runs[:1])
    with Store(path, write=True) as store:
        store.put(runs[1])
        assert standings(read(path)).steps[:3].tolist() == [2, 4, NA]


@pytest.mark.slow
def test_runs_that_do_not_hold_are_named_and_not_counted(runs: list[Run]) -> None:
    forged = with_seed(runs[0], 1)
    forged = replace(forged, result={**forged.result, "seconds_to_best": -1.0})
    failed = Run(runs[1].row, COLOURING, 1, "crashed", {})
    other = replace(runs[2], result={**runs[2].result, "digest": "another"})
    path = store_of([*runs[:2], forged, failed, other])
    report = compose(read(path), None)
    assert [*zip(report.table.runs, report.table.failures, strict=True)][:3] == [
        (1, 0), (2, 1), (0, 0),
    ]  # fmt: skip
    assert report.table.state.tolist()[2:4] == ["no run counts", "not run"]
    contestants = section_of(report, "Contestants")
    (line,) = contestants.table.to_dict("records")  # type: ignore[union-attr]
    assert (line["rows"], line["runs"], line["failures"]) == (2, 3, 1)
    text = written(report)[".md"]
    assert "6 rows, 3 runs, 2 of them verified again for this report; 2 runs more that" in text
    assert f"{runs[0].row} \\[colouring, seed 1\\]: does not hold" in text
    assert "another" not in text.split("## Contestants")[1].split("##")[0]


@pytest.mark.parametrize(("wall", "busy"), [(3.0, True), (1.2, False)])
def test_a_busy_machine_is_named(runs, wall, busy):
    clocks = {
        f"{part}_seconds": {"colouring": {"processor": 1.0, "wall": wall}}
        for part in ("start", "search")
    }
    quiet = {**clocks, "search_seconds": {"colouring": {"processor": 9.0, "wall": 9.0}}}
    found = [replace(run, result={**run.result, **clocks}) for run in runs[:2]]
    found.append(replace(runs[2], result={**runs[2].result, **quiet}))
    line = "in 2 of 3 rows engines took more than 1.5 times as much wall time as processor time"
    assert any(fact.startswith(line) for fact in report_of(found).facts) == busy


@pytest.mark.slow
def test_the_rows_and_seeds_that_contestants_lack_are_counted(runs: list[Run]) -> None:
    other = stored_under(runs[0], SECOND)
    stored = [*runs[:3], with_seed(runs[0], 1), other]
    facts = report_of(stored).facts
    assert facts[0].endswith(
        "colouring, 20 evaluations, 1 thread; seeds 0 in 2 rows, seeds 0-1 in 1 row"
    )
    assert facts[1].endswith("umda, 20 evaluations, 1 thread; seeds 0 in 1 row")
    assert facts[2].startswith("contestants have runs of different rows or seeds: 3 of the 8 runs")
    whole = report_of([runs[0], other], name="b").facts
    assert not any("different rows" in fact for fact in whole)


@pytest.mark.slow
def test_runs_without_a_search_are_counted(runs: list[Run]) -> None:
    late = with_seed(runs[0], 1)
    clocks = {"start_seconds": {"colouring": {"processor": 1, "wall": 2}}, "search_seconds": {}}
    late = replace(late, result={**late.result, **clocks})
    report = report_of([runs[0], late])
    section = section_of(report, "Contestants")
    assert section.table["no search"].tolist() == [1]  # type: ignore[index]
    assert "the time was too short, or no engine could take part" in section.text
    unstarted = {"start_seconds": {}, "search_seconds": {}}  # the first schedule met the bound
    never = [
        replace(late, seed=seed, result={**late.result, "seed": seed, **unstarted})
        for seed in (2, 3)
    ]
    section = section_of(report_of([runs[0], late, *never], name="c"), "Contestants")
    assert section.table["no search"].tolist() == [3]  # type: ignore[index]
    before = report_of(runs[:1], name="b")
    section = section_of(before, "Contestants")
    assert "no search" not in section.table  # type: ignore[operator]


@pytest.mark.slow
def test_a_contestant_has_one_colour_in_all_plots(runs: list[Run]) -> None:
    found = [contributed("schedule", "umda", steps, at=at) for steps, at in ((9, 0.1), (2, 0.2))]
    second = with_contributions(stored_under(runs[0], SECOND), *found)
    first = with_contributions(runs[0], contributed("schedule", "colouring", 2))
    report = report_of([first, second, *runs[1:]])
    settled, _, convergence = report.plots()
    assert settled[0] == (
        "Share of rows settled against seconds, 1 row that all contestants ran; medians of all"
        " seeds, runs without success as infinite"
    )
    for _, svg in (settled, convergence):
        assert COLOURS[0] in svg
        assert COLOURS[1] in svg
    older = {key: value for key, value in runs[1].result.items() if key != "contributions"}
    alone = [replace(runs[1], result=older), second]
    report = report_of(alone, name="b")
    ((_, svg),) = report.plots()  # there is no row that both ran
    assert COLOURS[1] in svg
    assert COLOURS[0] not in svg


def test_failures_and_troubles_are_reported(runs: list[Run]) -> None:
    failed = Run(SUITE.rows[5].name, COLOURING, 0, "exit -9: killed", {})
    shown = replace(runs[0], result={**runs[0].result, "troubles": ["engine x: crashed"]})
    files = written(report_of([shown, failed]))
    assert "ring-bi-4 AAB \\[colouring, seed 0\\]: exit -9: killed" in files[".md"]
    assert "seed 0]: engine x: crashed" in files[".html"]


@pytest.mark.long
def test_teams_stand_beside_their_members(runs: list[Run]) -> None:
    team = replace(COLOURING, engines=("colouring", "umda"))
    seeded = contributed("schedule", "colouring", runs[0].result["steps"], "from umda's schedule")
    both = [with_contributions(runs[0], {**seeded, "seeded_by": "umda"}), *runs[1:]]
    all_runs = [*runs, *(stored_under(run, team) for run in both)]
    files = written(report_of(all_runs))
    assert "colouring+umda beside colouring: no difference shown 5 of 5 rows" in files[".md"]
    assert "| colouring+umda | colouring | umda | 1 | 1 |" in files[".md"]
    assert Path("out/teams.csv").read_text().count("colouring+umda") == 5
    alone = written(report_of(runs, name="b"), "two")
    assert "Teams beside" not in alone[".md"]


class Page(HTMLParser):
    """Checks that elements nest, and gathers ids and the rows of tables."""

    VOID = ("meta", "input", "br", "hr", "img", "link")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.slow
def test_files_say_the_same_and_need_nothing_else(runs: list[Run]) -> None:
    both = [*runs, *(stored_under(run, SECOND) for run in runs)]
    reading = read(store_of(both))
    files = written(compose(reading, None), plots=True)
    lines = list(csv.DictReader(files[".csv"].splitlines()))
    assert [line["row"] for line in lines] == [row.name for row in SUITE.rows]
    assert lines[2]["note"] == "a|b <i>"
    assert (lines[1]["steps"], lines[1]["verdict"], lines[1]["bound_verdict"]) == (
        "4", "better", "refuted",
    )  # fmt: skip
    page = Page()
    page.feed(files[".html"])
    assert page.open == []
    assert page.seen.count("svg") == 3
    assert len(page.ids) == len(set(page.ids))
    assert all(link[0] == "#" and link[1:] in page.ids for link in page.links)
    assert not re.search(r"https?://|url\((?!#)|@import", files[".html"])
    for name in (row.name for row in SUITE.rows):
        assert f"| {name} |" in files[".md"]
        assert f">{name}</td>" in files[".html"]
    assert "spidergon-8 AAS: 4 steps, published 3 (which a certified bound rules" in files[".md"]
    registry = load_registry()
    commands = commands_of(reading.checked, registry.benchmark("schedules"), registry)
    options = "--evaluations 20 --threads 1 --seeds 1 --store a.sqlite"
    assert f"cchybrid bench run tiny.toml --engine umda {options}" in commands


def test_the_command_of_a_contestant_without_some_engines(runs: list[Run]) -> None:
    contestant = replace(SECOND, engines=None, without=("lns", "tabu"))
    reading = read(store_of([replace(runs[0], contestant=contestant)]))
    registry = load_registry()
    (command,) = commands_of(reading.checked, registry.benchmark("schedules"), registry)
    assert "tiny.toml --without lns+tabu --no-first-schedule --evaluations 20" in command


@pytest.mark.long
def test_the_same_store_gives_the_same_files(runs: list[Run]) -> None:
    both = [*runs, *(stored_under(run, SECOND) for run in runs)]
    first = report_of(both)
    Path("b").mkdir()
    second = report_of(both[::-1], name="b/a")
    one, two = (
        written(report, name, plots=True) for report, name in ((first, "one"), (second, "two"))
    )
    assert one == two


@pytest.mark.slow
@pytest.mark.usefixtures("no_plots")
def test_a_report_names_the_machines_of_its_runs(runs: list[Run]) -> None:
    old, other = dict(runs[1].result), {**runs[2].result, "machine": "Abacus 1 |x|"}
    del old["machine"]
    stored = [runs[0], replace(runs[1], result=old), replace(runs[2], result=other), runs[3]]
    store_of(stored)
    store_of(runs[:1], name="b")
    assert command(["bench", "report", "a.sqlite", "b.sqlite"]) == 0
    text = Path("a-report/report.md").read_text()
    own = machine()
    for line in ("Abacus 1 \\|x\\|; runs: 1", f"{_escaped(own)}; runs: 2", "unknown; runs: 1"):
        assert f"\n- machine {line}\n" in text
    assert "\n- several machines: seconds may differ by them, too\n" in text
    theirs = " and ".join(sorted([own, "Abacus 1 |x|", "unknown"]))
    assert f"machine {_escaped(f'{theirs} or {own}')}." in text


@pytest.mark.slow
def test_two_stores(runs: list[Run]) -> None:
    late = {"seconds": 100.0, "seconds_to_best": 100.0}
    slower = replace(runs[1], result={**runs[1].result, **late})
    path = store_of(runs[:3])
    other = store_of([runs[0], slower, runs[3]], name="b")
    report = compose(read(path), read(other))
    section = section_of(report, "Compared with b.sqlite")
    assert section.table is None  # one run each shows no difference of times
    text = written(report)[".md"]
    assert "## Compared with b.sqlite" in text
    assert "2 rows in both, 2 of them with no difference shown" in text
    assert "with Holm's correction for 2 comparisons" in text
    assert "1 rows only here. 1 rows only there." in text
    assert "Both stores hold the same runs, and no others, of 1 row." in text
    assert "Settings that differ" not in text


@pytest.mark.slow
def test_two_stores_of_other_budgets_and_versions(runs: list[Run]) -> None:
    more = replace(COLOURING, evaluations=40)
    changed = {"budget": {"evaluations": 40, "threads": 1},
               "versions": {**runs[0].result["versions"], "cchybrid": "0.1.0"}}  # fmt: skip
    longer = stored_under(replace(runs[0], result={**runs[0].result, **changed}), more)
    there = store_of([longer], name="b")
    text = written(compose(read(store_of(runs[:1])), read(there)))[".md"]
    now = runs[0].result["versions"]["cchybrid"]
    assert (
        "Settings that differ, here or there: budget 20 evaluations, 1 thread or 40 evaluations,"
        f" 1 thread; cchybrid {now} or 0.1.0." in text
    )


def test_contestants_that_only_one_of_two_stores_has_are_named(runs: list[Run]) -> None:
    option = replace(COLOURING, options={"colouring": {"order": "random"}})
    there = store_of([stored_under(runs[0], option)], name="b")
    text = written(compose(read(store_of(runs[:1])), read(there)))[".md"]
    assert "Settings that differ, here or there: contestant colouring or colouring colour" in text


@pytest.mark.slow
def test_the_runs_are_written_as_csv(runs: list[Run]) -> None:
    steps = runs[0].result["steps"]
    improved = with_contributions(
        runs[0], contributed("schedule", "tabu", steps + 2, at=0.5),
        contributed("schedule", "tabu", steps, at=1.0), contributed("bound", "cut", steps, at=2.0),
    )  # fmt: skip
    report = report_of([improved, *runs[1:]])
    written(report, plots=True)
    lines = list(csv.DictReader(Path("out/runs.csv").read_text().splitlines()))
    assert [line["row"] for line in lines] == [row.name for row in SUITE.rows[:5]]
    assert json.loads(lines[0]["convergence"]) == [
        [0.5, steps + 2, 1], [1.0, steps, 1], [2.0, steps, steps],
    ]  # fmt: skip
    assert (lines[0]["nodes"], lines[0]["channels"], lines[0]["status"]) == ("4", "8", "optimal")
    page = Path("out/report.html").read_text()
    assert "Steps (solid) and bound (dotted) against seconds" in page


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cchybrid_plugins.bench.report.plots.plots", lambda rows, runs: [])


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Schedule]:
    """Replace the drawing of pages by a short text; return the schedules that were drawn."""
    found: list[Schedule] = []

    def page(schedule: Schedule) -> str:
        found.append(schedule)
        return f"<!DOCTYPE html>{len(schedule.steps)} steps"

    info = ExporterInfo("html", page, "stands in for what a plugin registers")
    monkeypatch.setattr(Registry, "exporter", lambda self, name: {"html": info}[name])
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("no_plots")
def test_rows_are_linked_to_the_pages_of_their_schedules(
    runs: list[Run], drawn: list[Schedule], capsys: pytest.CaptureFixture[str]
) -> None:
    later = [
        with_seed(replace(run, result={**run.result, "seconds_to_best": 99.0}), 1) for run in runs
    ]
    store_of([*later, *runs])
    assert command(["bench", "report", "a.sqlite", "--pages"]) == 0
    assert "written to a-report/pages: 5 pages" in capsys.readouterr().out
    assert len(drawn) == 5
    page = Page()
    page.feed(Path("a-report/report.html").read_text())
    links = {link for link in page.links if not link.startswith("#")}
    assert links == {f"pages/{path.name}" for path in Path("a-report/pages").iterdir()}
    assert "pages/hypercube-8-oab-routing-any.html" in links
    assert Path("a-report/pages/mesh-3x3-aab.html").read_text() == "<!DOCTYPE html>4 steps"
    commands = Path("a-report/report.md").read_text()
    assert "cchybrid bench report a.sqlite --pages" in commands


@pytest.mark.usefixtures("no_plots")
def test_a_page_has_the_nodes_that_the_file_of_the_row_has_now(drawn: list[Schedule]) -> None:
    """First a sends to b, then c: names, positions and switches are outside the digest."""
    row = Row.from_text({"topology": "net.edgelist", "collective": "OAB"}, Path().absolute())
    Path("net.edgelist").write_text("a b\nb c\n")
    store_of([made("schedules", row, COLOURING)], Suite("tiny", "", (row,)))
    Path("net.edgelist").write_text("c b\nb a\n")
    assert command(["bench", "report", "a.sqlite", "--pages"]) == 0
    (schedule,) = drawn
    network = schedule.instance.network
    assert schedule.instance.name == row.name
    assert [network.node_name(step[0].path[0]) for step in schedule.steps] == ["c", "b"]


@pytest.mark.usefixtures("drawn", "no_plots")
def test_pages_of_similar_rows_have_different_files(
    runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    store_of(runs[:2])
    monkeypatch.setattr("cchybrid_plugins.bench.report.schedule_pages.MAX_NAME_LENGTH", 0)
    assert command(["bench", "report", "a.sqlite", "--pages"]) == 0
    assert {path.name for path in Path("a-report/pages").iterdir()} == {"row.html", "row-2.html"}


@pytest.mark.slow
@pytest.mark.usefixtures("no_plots")
def test_a_row_that_is_too_large_for_a_page_has_none(
    runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(schedule: Schedule) -> str:
        raise InputError("too large")

    info = ExporterInfo("html", refuse, "stands in for what a plugin registers")
    monkeypatch.setattr(Registry, "exporter", lambda self, name: info)
    store_of(runs[:1])
    assert command(["bench", "report", "a.sqlite", "--pages"]) == 0
    assert not Path("a-report/pages").exists()


@pytest.mark.parametrize("package", ["jinja2", "matplotlib", "pandas", "scipy"])
def test_a_missing_package_is_named(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = util.find_spec
    monkeypatch.setattr(
        "cchybrid.view.extras.find_spec", lambda name: None if name == package else real(name)
    )
    assert command(["bench", "report", "a.sqlite"]) == 2
    assert f"a report needs {package}; pip install 'cchybrid[report]'" in capsys.readouterr().err
