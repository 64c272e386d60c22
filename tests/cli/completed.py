"""Completion in this process: the question of a shell, and a check of the answer."""

from __future__ import annotations

import contextlib
import io

import pytest

from cchybrid.cli.app import run


def variables(words: str) -> dict[str, str]:
    """Return what bash says by environment variables."""
    line = f"cchybrid {words}"
    words_before = len(line.split(" ")) - 1
    return {
        "COMP_WORDS": line, "COMP_CWORD": str(words_before), "_CCHYBRID_COMPLETE": "complete_bash",
    }  # fmt: skip


def check_names(words: str, expected: str, others: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a word is completed to names of which one begins so, and none with the other."""
    for name, value in variables(words).items():
        monkeypatch.setenv(name, value)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
        run([])
    found = shown.getvalue().split()
    assert any(word.startswith(expected) for word in found), found
    assert not any(word.startswith(others) for word in found), found
