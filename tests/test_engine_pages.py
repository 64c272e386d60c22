"""The figures on the pages of the engines are those of the committed reports."""

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
SPEC = importlib.util.spec_from_file_location("engine_figures", DOCS / "_ext" / "engine_figures.py")
FIGURES = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(FIGURES)
NUMBER = re.compile(r"(?<![\w-])\d[\d.,]*(?![\w-])")


@pytest.mark.parametrize("page", FIGURES.PAGES, ids=lambda page: page.stem)
def test_a_page_has_the_figures_of_the_reports_and_no_others(page):
    text = page.read_text()
    assert text.count("\n## Measured\n") == 1
    assert text == FIGURES.with_figures(page), "run python docs/_ext/engine_figures.py"
    (section,) = re.findall(r"^## When it wins\n(.*?)^## ", text, re.M | re.S)
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
