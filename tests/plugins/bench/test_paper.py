"""The files for a paper: a table that LaTeX takes, whatever is in it, and a plot as PDF."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.report.paper import paper_files
from cchybrid_plugins.bench.report.plots import COLOURS, convergence_pdf, plots
from cchybrid_plugins.bench.report.reading import Reading, run_table
from cchybrid_plugins.bench.report.standing import standings
from cchybrid_plugins.bench.report.statistics import judged
from cchybrid_plugins.bench.row import Published, Row
from cchybrid_plugins.bench.store import Run

from cchybrid.cli.app import run as command
from cchybrid.host.run_history import Contribution
from cchybrid.library.instance_spec import InstanceSpec
from cchybrid.model.errors import InputError
from cchybrid.plugin.benchmark import CheckedSuite
from tests.plugins.bench.test_report import (
    contributed,
    folder,
    no_plots,
    runs,
    store_of,
    with_contributions,
)

__all__ = ["folder", "no_plots", "runs"]

FAST, SLOW = Contestant(("tabu",)), Contestant(("umda",))
ODD = "/x/a_b%&#{$^~\\.json"
"""A file whose name has every character with a meaning in LaTeX."""


def rows_of(*topologies: str, **published: Any) -> tuple[Row, ...]:
    return tuple(Row(InstanceSpec(name, "AAS"), Published(**published)) for name in topologies)


def outcomes(
    row: Row, contestant: Contestant, *seconds: float, **facts: Any
) -> list[dict[str, Any]]:
    """Return a run for each of these seconds to the best schedule."""
    known = {"steps": 4, "lower_bound": 4, "certified": True, "seconds": 9.0, **facts}
    return [
        {"row": row.name, "key": contestant.key, "seed": seed, "seconds_to_best": value, **known}
        for seed, value in enumerate(seconds)
    ]


def files_of(rows: tuple[Row, ...], *found: list[dict[str, Any]]) -> dict[str, bytes]:
    table = run_table(line for lines in found for line in lines)
    reading = Reading(rows, table, CheckedSuite(Path("x"), "my suite", rows, {}))
    standing = standings(reading)
    return paper_files(reading, standing, judged(reading.runs, standing), "1.2.3")


def table_of(rows: tuple[Row, ...], *found: list[dict[str, Any]]) -> str:
    text = files_of(rows, *found)["report.tex"].decode()
    check_latex(text)
    return text


def check_latex(text: str) -> None:
    """Check that braces and environments nest, and that every line has a cell per column."""
    plain = re.sub(r"^% .*$|\\[\\{}%&#_$]|\\rlap\{\$\^\*\$\}", "", text, flags=re.M)
    assert not re.search(r"[$%#^~_]", plain.replace(r"\textbackslash", ""))
    depth = 0
    for letter in plain:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    assert depth == 0
    opened: list[str] = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if what == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened
    (form,) = re.findall(r"\{@\{\}(?:l|p\{0\.28\\linewidth\})(r+)@\{\}\}", text)
    for line in text.splitlines():
        if line.endswith(r"\\") and "&" in line:
            spanned = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", line))
            assert len(re.findall(r"(?<!\\)&", line)) + spanned == len(form), line
    for cell in re.findall(r"\\cmidrule\(lr\)\{\d+-(\d+)\}", text):
        assert int(cell) <= len(form) + 1
    if latex := shutil.which("pdflatex"):
        compile_with(latex, text)


def compile_with(latex: str, text: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "report.tex").write_text(text)
        (Path(folder) / "paper.tex").write_text(
            "\\documentclass{article}\\usepackage{booktabs,longtable}"
            "\\begin{document}\\input{report.tex}\\end{document}"
        )
        done = subprocess.run(
            [latex, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:]


def test_published_values_stand_beside_ours() -> None:
    first, second, third = rows_of("a", "b", "c", steps=5, lower_bound=3)
    second = replace(second, published=replace(second.published, comparable=False))
    text = table_of(
        (first, second, third),
        outcomes(first, FAST, 1.0, 1.1, 1.2), outcomes(first, SLOW, 5.0, 5.1, 5.2),
        outcomes(second, FAST, 1.0, 1.1, 1.2, steps=6),
        outcomes(second, SLOW, 1.05, 1.1, 1.4, steps=6),
    )  # fmt: skip
    assert (
        r"a AAS & 3 & 5 & 4 & \textbf{4} & 100 & 1.10 & \textbf{4} & 100 & 5.10\rlap{$^*$} \\"
        in text
    )
    assert r"b AAS & (3) & (5) & 4 & 6 & 100 & 1.10 & 6 & 100 & 1.18 \\" in text
    assert r"c AAS & 3 & 5 &  & --- & & & --- & & \\" in text
    (caption,) = re.findall(r"\\caption\{(.*?)\}\n\\label\{tab:my-suite\}", text, re.S)
    words = " ".join(caption.replace("{}", "").split())
    assert words.startswith(
        "Suite my suite, 3 instances; 60 s, 1 thread a run; seeds 0-2; cchybrid 1.2.3."
    )
    assert "with Holm{'}s correction for 2 comparisons" in words
    assert "published values in parentheses are of another instance" in words


def test_published_rates_stand_beside_ours() -> None:
    (row,) = rows_of("a", steps=4, rates={"umda": 62.5})
    text = table_of((row,), outcomes(row, FAST, 1.0), outcomes(row, SLOW, 1.0, steps=5))
    assert r"a AAS & 4 & 4 & \textbf{4} & 100 & 1.00 & 5 & 0 (62.5) & 60.0 \\" in text


def test_published_rates_are_those_of_their_goal() -> None:
    (row,) = rows_of("a", steps=4, goal=5, rates={"umda": 100.0})
    text = table_of((row,), outcomes(row, FAST, 1.0), outcomes(row, SLOW, 2.0, steps=5))
    assert r"a AAS & 4 & 4 & \textbf{4} & 100 & 1.00 & 5 & 100 (100) & 2.00 \\" in text
    assert "fewest steps known, or a published goal" in text


def test_a_row_without_any_schedule_says_so() -> None:
    (row,) = rows_of("a")
    none = outcomes(row, FAST, math.nan, steps=None, lower_bound=1, infeasible=True)
    text = table_of((row,), none, outcomes(row, SLOW, math.nan, steps=None, lower_bound=1))
    assert r"a AAS & 1 & none & & & none & & \\" in text
    assert "none: no schedule exists" in text


@pytest.mark.parametrize(("steps", "star"), [(4, True), (5, False)])
def test_contestants_of_other_limits_are_compared_if_all_succeed(steps: int, star: bool) -> None:
    (row,) = rows_of("a")
    longer = replace(SLOW, time_limit=300.0)
    found = outcomes(row, longer, 5.0, 5.1, 5.2)
    found[2]["steps"] = steps
    text = table_of((row,), outcomes(row, FAST, 1.0, 1.1, 1.2), found)
    assert (r"\rlap" in text) == star
    assert "these limits or times differ" in text
    assert "300 s,{} 1 thread or 60 s,{} 1 thread a run" in text


def test_many_contestants_have_the_best_of_each_row() -> None:
    (row,) = rows_of("a")
    names = ("cpsat", "lns", "tabu", "umda")
    text = table_of((row,), *(outcomes(row, Contestant((name,)), 1.0) for name in names))
    assert r"a AAS & 4 & \textbf{4} & 1.00 \\" in text
    assert "of the best of 4 contestants" in text


def test_names_are_escaped_and_long_ones_are_broken() -> None:
    rows = rows_of(ODD, "a-topology-with-a-long-name-of-many-letters")
    text = table_of(rows, outcomes(rows[0], FAST, 1.0))
    assert (
        r"\raggedright a\_b\%\&\#\{\$\textasciicircum{}\textasciitilde{}\textbackslash{}.json"
        in text
    )


@pytest.mark.slow
def test_a_long_table_is_broken_into_pages() -> None:
    rows = rows_of(*(f"net{number}" for number in range(46)))
    assert r"\begin{longtable}" in table_of(rows, outcomes(rows[0], FAST, 1.0))
    assert r"\begin{table}" in table_of(rows[:45], outcomes(rows[0], FAST, 1.0))


def test_rows_without_runs_have_a_table() -> None:
    rows = rows_of("a", steps=3)
    files = files_of(rows)
    check_latex(files["report.tex"].decode())
    assert [*files] == ["report.tex"]
    assert r"a AAS & 3 &  & --- &  \\" in files["report.tex"].decode()


def test_a_conflict_study_has_no_such_table() -> None:
    rows = (Row(InstanceSpec("a", "AAS"), target=3),)
    with pytest.raises(InputError, match="a AAS in 3 steps is a conflict study"):
        files_of(rows, outcomes(rows[0], FAST, 1.0))


@pytest.mark.slow
def test_convergence_names_the_number_of_contestants_that_it_leaves_out() -> None:
    (row,) = rows_of("a")
    improved = tuple(
        Contribution(seconds, "tabu", "", "schedule", steps, 1, certified=True)
        for seconds, steps in ((0.5, 9), (1.0, 6))
    )
    contestants = [Contestant(("tabu",), evaluations=number) for number in range(1, 10)]
    lines = [
        line for each in contestants for line in outcomes(row, each, 2.0, contributions=improved)
    ]
    for number in (9, 8):
        reading = Reading(
            (row,), run_table(lines[:number]), CheckedSuite(Path("x"), "", (row,), {})
        )
        standing = standings(reading)
        svg = plots(standing, judged(reading.runs, standing))[-1][1]
        assert ("seconds (best run of each contestant; 8 of 9)" in svg) == (number == 9)
        assert ("seconds (best run of each contestant)" in svg) == (number == 8)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.5, 2.0])  # the run ended at once, or went on
def test_convergence_marks_the_end_of_each_contestant(seconds: float) -> None:
    """The first schedule of the second contestant is its last: a line of length 0 at 0.5 s."""
    (row,) = rows_of("a")
    first, second, third = (
        Contribution(at, "tabu", "", "schedule", steps, 1, certified=True)
        for at, steps in ((0.1, 9), (0.2, 4), (0.5, 4))
    )
    found = [
        *outcomes(row, FAST, 0.2, contributions=(first, second)),
        *outcomes(row, SLOW, 0.5, contributions=(third,), seconds=seconds),
    ]
    reading = Reading((row,), run_table(found), CheckedSuite(Path("x"), "", (row,), {}))
    standing = standings(reading)
    svg = plots(standing, judged(reading.runs, standing))[-1][1]
    panel = svg.split('id="convergence-axes_1"')[1].split('id="convergence-legend')[0]
    marks = re.findall(r"<use [^>]*style=\"fill: (#\w+); stroke: (#\w+)", panel)
    assert marks == [(COLOURS[0],) * 2, (COLOURS[1],) * 2]


@pytest.mark.slow
def test_convergence_is_a_vector_graphic_that_is_the_same_each_time() -> None:
    (row,) = rows_of("a")
    improved = [
        Contribution(seconds, "tabu", "", "schedule", steps, 1, certified=True)
        for seconds, steps in ((0.5, 9), (1.0, 6), (2.0, 4))
    ]
    lines = outcomes(row, FAST, 2.0, contributions=tuple(improved))
    plot = files_of((row,), lines)["convergence.pdf"]
    assert plot.startswith(b"%PDF")
    assert b"/Type3" not in plot  # publishers refuse such fonts
    assert b"/Subtype /Image" not in plot
    assert b"CreationDate" not in plot
    assert files_of((row,), lines)["convergence.pdf"] == plot
    table = run_table(outcomes(row, FAST, 1.0))
    assert convergence_pdf(table.assign(row_is_study=False)) == b""


@pytest.mark.slow
@pytest.mark.usefixtures("no_plots")
def test_the_command_writes_them(runs: list[Run], capsys: pytest.CaptureFixture[str]) -> None:
    steps = runs[0].result["steps"]
    improved = with_contributions(
        runs[0], contributed("schedule", "tabu", steps + 2, at=0.5),
        contributed("schedule", "tabu", steps, at=1.0),
    )  # fmt: skip
    store_of([improved, *runs[1:]])
    assert command(["bench", "report", "a.sqlite", "--latex"]) == 0
    assert "written to a-report/convergence.pdf" in capsys.readouterr().out
    check_latex(Path("a-report/report.tex").read_text())
    assert Path("a-report/convergence.pdf").read_bytes().startswith(b"%PDF")
    assert "bench report a.sqlite --latex" in Path("a-report/report.md").read_text()
    store_of([with_contributions(runs[0], contributed("schedule", "x", steps))], name="b")
    assert command(["bench", "report", "b.sqlite", "--latex"]) == 0
    assert "no convergence.pdf: no run had two better" in capsys.readouterr().out
    assert command(["bench", "report", "b.sqlite"]) == 0
    assert not Path("b-report/convergence.pdf").exists()
