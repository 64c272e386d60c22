"""The figures of the engines are those of the committed reports."""

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
SPEC = importlib.util.spec_from_file_location("engine_figures", DOCS / "_ext" / "engine_figures.py")
FIGURES = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(FIGURES)
NUMBER = re.compile(r"(?<![\w-])\d[\d.,]*(?![\w-])")


def test_the_page_of_figures_is_written_from_the_reports():
    assert FIGURES.PAGE.read_text() == FIGURES.figures(), "run python docs/_ext/engine_figures.py"


@pytest.mark.parametrize("page", FIGURES.ENGINES, ids=lambda page: page.stem)
def test_a_page_links_its_figures_and_has_no_others(page):
    (section,) = re.findall(r"^## When it wins\n(.*?)^## ", page.read_text(), re.M | re.S)
    assert f"(../reports/engines.md#{page.stem})" in section
    assert not NUMBER.findall(section)


def test_the_lines_of_an_engine_are_found_in_every_kind_of_table(tmp_path):
    report = tmp_path / "study" / "report.md"
    report.parent.mkdir()
    report.write_text(
        "## Contestants\n\nWords.\n\n| contestant | runs |\n|---|---:|\n| tabu | 3 |\n"
        "| cpsat+tabu (relay) | 4 |\n| tabular | 5 |\n\n## Conflicts left\n\n"
        "| row | contestant | runs |\n|---|---|---:|\n| a | tabu width=2 | 6 |\n"
    )
    for title, runs in (("Contestants", "34"), ("Conflicts left", "6")):
        found = [line for _, line in FIGURES._lines(report, title, "tabu")]
        assert [line.split("|")[-2].strip() for line in found] == list(runs)
