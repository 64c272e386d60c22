"""The table of sources by steps in its formats, with names of any kind."""

import csv
import io
import re
from dataclasses import replace

import pytest
from cchybrid_plugins.exchange.export_text import export_csv, export_text
from cchybrid_plugins.exchange.step_tables import (
    MAX_LINES,
    export_latex,
    export_markdown,
    export_table_csv,
)

import cchybrid
from cchybrid.model import Collective, Instance, Message, Network, Schedule, Transfer
from cchybrid.model.errors import InputError
from cchybrid.view.latex import LATEX, escape_latex
from tests.view.test_table import BROADCAST, NAMED, NAMES, SCATTER

SPECIAL = "".join(LATEX) + "é–猫"


def long_schedule() -> Schedule:
    """Return a schedule of twelve steps with more lines than a page has."""
    instance = cchybrid.instance("complete-24", "AAS")
    pairs = [(each.source, each.destinations[0]) for each in instance.collective.deliver_messages]
    return Schedule(instance, [[*enumerate(pairs)][step::12] for step in range(12)])


def test_markdown_has_a_row_per_source_and_a_column_per_step():
    lines = export_markdown(BROADCAST).splitlines()
    assert lines == [
        "| source | step 1 | step 2 |", "| --- | --- | --- |", "| 0 | 0→1 (0,1)<br>0→3 (0,3) |  |",
        "| 1 |  | 1 (0)→2 (1,2) |",
    ]  # fmt: skip


def test_names_cannot_break_a_markdown_table():
    lines = export_markdown(NAMED).splitlines()
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {4}
    assert r"a\_b\|c" in lines[3]


def test_the_table_is_csv_too():
    rows = list(csv.reader(io.StringIO(export_table_csv(NAMED))))
    assert rows[0] == ["source", "step 1", "step 2"]
    assert rows[1][1] == f"{NAMES[0]}->{NAMES[1]} ({NAMES[0]},{NAMES[1]}); " + (
        f"{NAMES[0]}->{NAMES[3]} ({NAMES[0]},{NAMES[3]})"
    )
    assert rows[2] == [NAMES[1], "", f"{NAMES[1]} ({NAMES[0]})->{NAMES[2]} ({NAMES[1]},{NAMES[2]})"]


def check_latex(text: str) -> None:
    """Check braces, environments, and the same number of columns in all rows of a table."""
    bare = re.sub(r"\\[\\{}$&#%_]", lambda m: "" if m[0] != r"\\" else r"\\", text)
    depth = 0
    for letter in bare:
        depth += (letter == "{") - (letter == "}")
        assert depth >= 0
    assert depth == 0
    assert bare.count("$") % 2 == 0
    tables = re.findall(
        r"\\begin\{(tabular|longtable)\}\{@\{\}(l+)@\{\}\}\n(.*?)\\end\{\1\}", text, re.DOTALL
    )
    assert tables
    for kind, columns, body in tables:
        rows = [line for line in body.splitlines() if re.search(r"\\\\\*?$", line)]
        assert len(rows) >= 2
        for row in rows:
            assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1, row
        for rule in ("toprule", "midrule", "bottomrule"):
            assert body.count(rf"\{rule}") == 1
        assert (r"\endhead" in body) == (kind == "longtable")


@pytest.mark.parametrize("schedule", [BROADCAST, SCATTER, NAMED], ids=["plain", "long", "names"])
def test_latex_has_the_form_of_booktabs(schedule):
    text = export_latex(schedule)
    check_latex(text)
    assert r"\label" not in text
    assert text.startswith(f"% {schedule.instance.name}")


def test_every_special_character_is_escaped_in_latex():
    text = escape_latex(SPECIAL)
    left = re.sub(r"\\[a-z]+\{\}|\\[{}$&#%_]|\{\\char34\}|\{[`'\[\]*]\}|[-,]\{\}", "", text)
    assert left == "é–猫"
    check_latex(export_latex(replace_names(SPECIAL)))


def replace_names(name: str) -> Schedule:
    network = replace(NAMED.instance.network, node_names=(name, "[", "*", "--"))
    return Schedule(replace(NAMED.instance, network=network), NAMED.steps)


def test_line_breaks_and_control_characters_of_names_are_not_printed():
    schedule = replace_names("a\n\\end\x1b[31m")
    for export in (export_latex, export_markdown, export_text, export_table_csv):
        assert "\x1b" not in export(schedule)
        assert len(export(schedule).splitlines()) == len(export(replace_names("a")).splitlines())


def test_wide_and_long_schedules_are_broken_into_tables_and_pages():
    schedule = long_schedule()
    text = export_latex(schedule)
    check_latex(text)
    assert "longtable" in text
    assert text.count(r"\begin{longtable}") > 1
    assert len(re.findall(r"\\end\{longtable\}\n\n\\begin", text)) == text.count(r"\begin") - 1
    heads = [line for line in text.splitlines() if "source" in line]
    numbers = map(int, re.findall(r"step (\d+)", "".join(heads)))
    assert [*numbers] == [*range(1, len(schedule.steps) + 1)]
    assert text.count(r"$\rightarrow$") == sum(map(len, schedule.steps)) > MAX_LINES


def test_the_plain_exports_have_names_or_numbers_and_the_origins_of_messages():
    rows = list(csv.reader(io.StringIO(export_csv(NAMED))))
    assert rows[1][:6] == ["1", "0", NAMES[0], NAMES[1], NAMES[0], f"{NAMES[0]} -> {NAMES[1]}"]
    assert f"  {NAMES[1]} ({NAMES[0]})->{NAMES[2]}: {NAMES[1]},{NAMES[2]}" in export_text(NAMED)
    assert export_csv(BROADCAST).splitlines()[3] == "2,0,1,2,0,1 2,wormhole,minimal"
    assert export_text(BROADCAST).splitlines()[-1] == "  1 (0)->2: 1,2"


@pytest.mark.parametrize("name", ["a+b", "to b", "a->b"])
def test_csv_refuses_node_names_that_would_be_read_as_something_else(name):
    network = Network.from_links("line", 2, [(0, 1)], node_names=("a", name))
    instance = Instance(network, Collective("m", (Message(0, (1,)),)))
    with pytest.raises(InputError, match="would be read as something else"):
        export_csv(Schedule(instance, ((Transfer(0, (0, 1)),),)))
