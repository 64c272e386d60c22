"""``design`` for a collective, ``design --pareto``, ``check-design``: files, lines, exit status."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from cchybrid.cli.app import run
from cchybrid.model import Schedule
from cchybrid.referee.verify import verify_schedule
from cchybrid.view import extras
from tests.cli.completed import check_names
from tests.cli.test_commands import call


@pytest.mark.slow
def test_a_design_for_a_collective_is_written_and_checked(tmp_path: Path) -> None:
    words = "design --nodes 5 --degree 3 --collective alltoall --designer exhaustive --json"
    done = call(*words.split(), "-o", "net.json", "--schedule", "best.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert (shown["steps"], shown["steps_bound"], shown["proven"]) == (2, 2, "by a bound")
    assert (shown["network"], shown["schedule"]) == ("net.json", "best.json")
    assert shown["steps_certified"] is True
    assert "network 1: " in done.stderr
    schedule = Schedule.load(tmp_path / "best.json")
    assert verify_schedule(schedule) == ()
    assert len(schedule.steps) == 2
    record = json.loads((tmp_path / "net.json").read_text())["design"]
    assert record["claims"]["steps_bound"] == 2
    checked = call("check-design", "net.json", cwd=tmp_path)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert (
        "AAS: at least 2 steps on every network of these nodes, this degree and these wires"
        " (switching wormhole, ports all, routing minimal): checked" in checked.stdout
    )
    checked = call("check-design", "net.json", "--json", cwd=tmp_path)
    shown = json.loads(checked.stdout)
    assert (shown["steps_bound"], shown["model"]) == (2, record["model"])
    assert call("verify", "best.json", cwd=tmp_path).returncode == 0
    text = (tmp_path / "net.json").read_text()
    (tmp_path / "net.json").write_text(text.replace('"steps_bound": 2', '"steps_bound": 3'))
    refused = call("check-design", "net.json", cwd=tmp_path)
    assert refused.returncode == 1
    assert "steps bound is 2, not 3" in refused.stdout


@pytest.mark.slow
def test_the_lines_about_steps(tmp_path: Path) -> None:
    words = "design --nodes 6 --degree 2 --collective OAB --time-limit 10 --designer exhaustive"
    done = call(*words.split(), "--switching", "store-and-forward", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "OAB: 3 steps, verified; fewest on this network (certified)" in done.stdout
    assert "no network has fewer than 3 steps" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_front_as_table_file_and_plot(suffix: str, tmp_path: Path) -> None:
    words = "design --nodes 4 --degree 3 --pareto latency,wire --layout grid-2x2 --evaluations 100"
    plot = f"front.{suffix}"
    done = call(
        *words.split(), "--designer", "annealing", "-o", "front.csv", "--plot", plot, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "run 2, wires up to 2: " in done.stderr
    rows = list(csv.DictReader((tmp_path / "front.csv").read_text().splitlines()))
    lines = done.stdout.splitlines()
    assert lines[0] == "4 nodes of degree 3: latency against wire"
    assert lines[1].split() == ["latency", "wire"]
    assert len(lines) == len(rows) + 6
    assert lines[-2:] == ["written to front.csv", f"written to {plot}"]
    assert float(rows[-1]["wire"]) == 1.0
    assert all(len(row["links"].split()) <= 6 for row in rows)
    image = (tmp_path / plot).read_bytes()
    assert image.startswith(b"<?xml" if suffix == "svg" else b"\x89PNG")
    if suffix == "svg":
        assert b"latency (smaller is better)" in image


SMALL = "design --nodes 6 --degree 3"
BOTH = f"{SMALL} --pareto latency,bisection"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (f"{BOTH} -o front.json", "use a name that ends in .csv"),
        (f"{BOTH} --plot front.txt", "use a name that ends in .svg, .png or .pdf"),
        (f"{BOTH} --plot absent/front.svg", "a folder that does not exist"),
        (f"{BOTH} --cost latency", "--cost beside --pareto"),
        (f"{BOTH} --schedule s.json", "--schedule beside --pareto"),
        (f"{BOTH} --target 0", "--target beside --pareto"),
        (f"{BOTH} --collective AAS", "add the term steps"),
        (f"{BOTH},wire", "a front has two different cost terms"),
        (f"{BOTH} --routing 1", "routing without a collective"),
        (f"{SMALL} --plot front.svg", "add --pareto TERM,TERM"),
        (f"{SMALL} --ports 1", "ports without a collective"),
        (f"{SMALL} --schedule s.json", "add --collective"),
        (f"{SMALL} --collective AAX", "networks are not designed for"),
        (f"{SMALL} --collective AAS --evaluations 9", "networks are scheduled in slices of time"),
        (f"{SMALL} --collective AAS --fault-tolerant", "a collective and fault tolerance"),
        (
            f"{SMALL} --collective AAS --switching store-and-forward --routing any",
            "of its own; lea",
        ),
        (f"{SMALL} --option annealing.xyz=1", "annealing has no option xyz; `cchybrid designers"),
        ("check-desgin x.json", "did you mean check-design?"),
        ("designers anealing", "did you mean annealing?"),
    ],
)
def test_wrong_words_are_refused_in_one_line(words: str, line: str, tmp_path: Path) -> None:
    done = call(*words.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert line in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_plot_without_matplotlib_is_refused_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = call(*BOTH.split(), "--plot", "front.svg", cwd=tmp_path)
    assert done.returncode == 2
    assert "a plot needs matplotlib" in done.stderr
    assert "pip install 'cchybrid[report]'" in done.stderr
    assert done.stdout == ""


def test_the_lists_of_designers(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["designers", "annealing", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "heuristic"
    assert run(["designers"]) == 0
    shown = capsys.readouterr().out
    assert "connectivity" in shown
    assert "links of the node with the fewest, to be large" in shown


@pytest.mark.parametrize(
    ("words", "expected", "others"),
    [
        ("design --designer an", "annealing", "gappin"),
        ("design --option annealing.", "annealing.", "gappin."),
        ("designers gap", "gappin", "annealing"),
    ],
)
def test_names_are_completed(
    words: str, expected: str, others: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_names(words, expected, others, monkeypatch)
