"""Pages that are written when the documentation is built."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path


def write_page(page: Path, text: str) -> None:
    """Write a page if it has changed, so that Sphinx does not read an old one again."""
    page.parent.mkdir(parents=True, exist_ok=True)
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; cells may be any text of one paragraph."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def code(text: object) -> str:
    """Return a text between backquotes."""
    return f"`{text}`"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
