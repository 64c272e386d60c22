"""Pages are read with ease: no sentence is too long, and explanations use short words."""

import importlib.util
import re
from pathlib import Path

import pytest

from tests.test_documentation import contents

DOCS = Path(__file__).parents[1] / "docs"
SPEC = importlib.util.spec_from_file_location("readability", DOCS / "_ext" / "readability.py")
READABILITY = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(READABILITY)
EXPLANATIONS = sorted({name for name in contents("explanation") if "generated" not in name} | {
    f"{page.parent.name}/{page.stem}"
    for folder in ("engines", "decisions")
    for page in (DOCS / folder).glob("*.md")
})  # fmt: skip


@pytest.mark.parametrize("page", READABILITY.pages(), ids=lambda page: str(page.relative_to(DOCS)))
def test_no_sentence_is_too_long(page):
    assert READABILITY.too_long(page.read_text()) == []


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_an_explanation_reads_with_ease(name):
    assert READABILITY.reading_ease((DOCS / f"{name}.md").read_text()) > READABILITY.MIN_EASE


def test_sentences_are_those_of_the_text():
    text = (
        "# A title of some words\n\nOne. Two `a. b` ([three](four.md))! \n\n"
        "- **Five** six.\n- seven\n\n| a. | b |\n\n```text\nThis is. Code.\n```\n"
    )
    assert READABILITY.sentences(text) == ["One.", "Two x (three)!", "Five six.", "seven"]


@pytest.mark.parametrize(
    ("word", "number"), [("schedule", 2), ("channel's", 2), ("end-to-end", 3), ("kbzqed", 1)]
)
def test_syllables_are_counted(word, number):
    assert READABILITY.syllables(word) == number


def test_long_words_and_sentences_are_harder():
    easy = "A cat sat on a mat. It was fat."
    assert READABILITY.reading_ease(easy) > 100
    hard = "Interoperability considerations necessitate comprehensive documentation activities."
    assert READABILITY.reading_ease(hard) < 0
    assert READABILITY.too_long(" ".join(["word"] * 36)) != []
    assert READABILITY.too_long(" ".join(["word"] * 35)) == []


def test_the_documentation_is_short():
    """Reports, generated pages, the archive and code between fences do not count."""
    pages = [page for page in READABILITY.pages() if page.parent.name != "archive"]
    fence = re.compile("```.*?```", re.DOTALL)
    assert sum(len(fence.sub("", page.read_text()).split()) for page in pages) <= 23_000
