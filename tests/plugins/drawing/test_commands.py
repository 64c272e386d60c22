"""``draw``: pages and figures, and one line for all that cannot be drawn."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest

from cchybrid.view import extras
from tests.cli.test_commands import call
from tests.plugins.drawing.test_figures import SCATTER


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    SCATTER.save(tmp_path / "ring.json")
    SCATTER.instance.save(tmp_path / "instance.json")
    replace(SCATTER, instance=SCATTER.instance.with_model(switching="tdm")).save(
        tmp_path / "t.json"
    )
    record = SCATTER.to_json()
    del record["steps"][-1]
    (tmp_path / "invalid.json").write_text(json.dumps(record))
    (tmp_path / "broken.json").write_text('{"format": "cchybrid-schedule/1"')
    (tmp_path / "later.json").write_text('{"format": "cchybrid-schedule/9"}')
    nx.write_graphml(nx.Graph([("R1", "R2"), ("R2", "R<3>")]), tmp_path / "own.graphml")
    speed = nx.Graph([("R1", "R2", {"bandwidth": 300}), ("R2", "R3", {"bandwidth": 23.7})])
    nx.write_graphml(speed, tmp_path / "speed.graphml")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "start"),
    [
        ("ring.json -o out.html", b"<!doctype html>"),
        ("ring.json -o out.HTML --title Rings", b"<!doctype html>"),
        ("ring.json -o out.pdf --step 2", b"%PDF"),
        ("ring.json -o out.png --chart nodes", b"\x89PNG"),
        ("mesh-2x3 -o out.svg", b"<?xml"),
        ("own.graphml -o out.svg", b"<?xml"),
        ("instance.json -o out.svg", b"<?xml"),
    ],
)
def test_what_is_drawn(folder, words, start):
    done = call("draw", *words.split(), cwd=folder)
    name = words.split()[2]
    assert (done.returncode, done.stdout, done.stderr) == (0, f"written to {name}\n", "")
    assert (folder / name).read_bytes().startswith(start)


@pytest.mark.slow
def test_the_figure_is_the_one_that_the_options_name(folder):
    texts = []
    for words in ("--step 1", "--step 2", "--chart channels", "--chart nodes", "--chart steps"):
        assert call("draw", "ring.json", "-o", "out.svg", *words.split(), cwd=folder)[0] == 0
        texts.append((folder / "out.svg").read_text())
    assert len(set(texts)) == 5
    assert "step 2 of 4" in texts[1]
    assert "passed on" in texts[3]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("ring.json -o out.gif", "-o: the file type of 'out.gif' is not known; use a name that"),
        ("ring.json -o out", "-o: the file type of 'out' is not known"),
        ("ring.json", "Missing option '-o'"),
        ("ring.json -o out.svg --step 0", "ring.json: step: no step 0 in this schedule; use 1 to"),
        ("ring.json -o out.svg --step 5", "no step 5 in this schedule; use 1 to 4"),
        ("ring.json -o out.svg --chart chanels", "'chanels'; did you mean channels?"),
        ("ring.json -o out.svg --chart x", "'x'; use steps, channels, nodes, bound"),
        ("ring.json -o out.svg --chart bound", "ring.json: ring-bi-5 AAS: the schedule has no low"),
        ("ring.json -o out.svg --chart nodes --step 1", "--step and --chart exclude each other"),
        ("ring.json -o out.html --step 1", "--step: a page shows all steps and charts"),
        ("ring.json -o out.svg --title x", "--title: a figure has no title"),
        ("ring.json -o nowhere/out.html", "nowhere/out.html: cannot be written: No such file"),
        ("invalid.json -o out.html", "invalid.json: ring-bi-5 AAS: not a valid schedule"),
        ("invalid.json -o out.svg", "invalid.json: ring-bi-5 AAS: not a valid schedule"),
        ("broken.json -o out.html", "broken.json: "),
        ("later.json -o out.html", "later.json: "),
        ("nothing.json -o out.html", "nothing.json: cannot be read: No such file"),
        (
            "t.json -o out.html",
            "time slots; verify and prove take them; in Python, schedule.to_fra",
        ),
        ("t.json -o out.svg", "time slots; verify and prove take them; in Python, schedule.to_fra"),
        ("mesh-2x2 -o out.svg --ignore-attributes", "mesh-2x2 is no graph file with attrib"),
        ("speed.graphml -o out.svg", "say what a message per step is: --unit 23.7"),
        ("mesh-2x3 -o out.html", "-o: mesh-2x3 is a network, and that needs a schedule"),
        ("instance.json -o out.svg --step 1", "--step: instance.json is a network"),
        ("mehs-2x3 -o out.html", "did you mean mesh-2x3?"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(folder, words, line):
    before = sorted(folder.iterdir())
    done = call("draw", *words.split(), cwd=folder)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert line in done.stderr
    assert sorted(folder.iterdir()) == before


def test_the_missing_extra_is_named(folder, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    for name, package in (("a.html", "jinja2"), ("a.svg", "matplotlib")):
        done = call("draw", "ring.json", "-o", name, cwd=folder)
        assert done.returncode == 2
        assert done.stderr.endswith(f"needs {package}; pip install 'cchybrid[report]'\n")


def test_the_python_of_the_page_on_drawing_runs(folder, monkeypatch):
    text = (Path(__file__).parents[3] / "docs" / "draw.md").read_text()
    (folder / "ring.json").rename(folder / "torus.json")
    monkeypatch.chdir(folder)
    (script,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    exec(script, {})
    assert "Exchange on the torus" in Path("torus.html").read_text(encoding="utf-8")
    assert Path("step-3.svg").exists()


def test_what_a_figure_does_not_show_of_a_network_file_is_said(folder):
    (folder / "pair.txt").write_text("2 1\n0 T 1\n1 R 0\n")
    done = call("draw", "pair.txt", "-o", "out.svg", cwd=folder)
    assert "by which 0 send and 1 receive, are no part of a network" in done.stderr
    coloured = nx.Graph([("a", "b", {"colour": "red"})])
    nx.write_graphml(coloured, folder / "coloured.graphml")
    done = call("draw", "coloured.graphml", "-o", "out.svg", "--ignore-attributes", cwd=folder)
    assert (done.returncode, "ignored attribute of edges: colour" in done.stderr) == (0, True)
