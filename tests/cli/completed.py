"""Completion in this process: the question of a shell, and a check of the answer."""

from __future__ import annotations

import contextlib
import io

import pytest

from cchybrid.cli.app import run


def variables(words: str, shell: str) -> dict[str, str]:
    """Return what a shell says by environment variables."""
    line = f"cchybrid {words}"
    found = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    return {**found, "_CCHYBRID_COMPLETE": f"complete_{shell}"}


def check_names(words: str, expected: str, others: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a word is completed to names of which one begins so, and none with the other."""
    for name, value in variables(words, "bash").items():
        monkeypatch.setenv(name, value)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
        run([])
    found = shown.getvalue().split()
    assert any(word.startswith(expected) for word in found), found
    assert not any(word.startswith(others) for word in found), found
