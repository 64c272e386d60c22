"""The proofs rest on nothing that is only assumed, and the build and the page name all of them."""

import re

import pytest

from tests.checker.proofs.built import ROOT

FOLDER = ROOT / "cchybrid" / "checker" / "proofs"
FILES = sorted(FOLDER.glob("*.v"))
ASSUMED = re.compile(
    r"\b(Axioms?|Parameters?|Conjecture|Admitted|admit|give_up|Abort|bypass_check|Unset|Primitive|"
    r"Extract (Inlined )?(Constant|Inductive)|Classical\w*|FunctionalExtensionality|Declare)\b"
)
"""Words that add or hide an assumption, or give the program code that is not proved."""
pytestmark = pytest.mark.skipif(not (ROOT / "Makefile").exists(), reason="a copy with mutants")
PAGE = (ROOT / "docs" / "verified-checker.md").read_text()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_is_assumed(path):
    assert ASSUMED.findall(re.sub(r"\(\*.*?\*\)", "", path.read_text(), flags=re.DOTALL)) == []


def test_every_file_is_compiled_after_those_that_it_needs():
    text = (ROOT / "Makefile").read_text().replace("\\\n", "")
    (order,) = re.findall(r"^PROVED := (.*)$", text, re.MULTILINE)
    names = order.split()
    assert sorted([*names, "Extract"]) == [path.stem for path in FILES]
    for place, name in enumerate(names):
        needed = re.findall(
            r"^Require (?:Import )?([^.]*)\.", (FOLDER / f"{name}.v").read_text(), re.M
        )
        assert {*" ".join(needed).split()} & {*names} <= {*names[:place]}


def test_the_assumptions_of_the_theorems_are_printed():
    text = (FOLDER / "Extract.v").read_text()
    for name in ("check_sound", "check_sums_sound", "rounds_per_chunk_sound"):
        assert f"Print Assumptions {name}." in text


def test_the_page_names_what_is_there():
    rows = re.findall(r"^\| .* \| `(\w+\.v)` \| (.*) \|$", PAGE, re.MULTILINE)
    assert len(rows) > 8
    for name, cell in rows:
        for statement in re.findall(r"`(\w+)`", cell):
            assert re.search(rf"\b{statement}\b", (FOLDER / name).read_text()), statement
