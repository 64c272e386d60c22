"""The line of a command that writes nothing for a while."""

import os
import pty
import sys
import time

import pytest

from cchybrid.view import activity


def use_terminal(monkeypatch: pytest.MonkeyPatch, seconds: float, term: str = "xterm") -> int:
    """Let standard output and error be a terminal; return its other end, which does not block."""
    reader, end = pty.openpty()
    os.set_blocking(reader, False)
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, os.fdopen(os.dup(end), "w", buffering=1))
    os.close(end)
    monkeypatch.setattr(activity, "QUIET_SECONDS", seconds)
    monkeypatch.setenv("TERM", term)
    return reader


def read(terminal: int) -> str:
    time.sleep(0.05)  # until the terminal has all
    return os.read(terminal, 9999).decode()


def test_a_quiet_command_has_a_line_that_its_output_erases(monkeypatch):
    terminal = use_terminal(monkeypatch, 0.04)
    with activity.activity_line("cchybrid verify"):
        activity.show_detail("cut: 3")
        time.sleep(0.2)
        print("valid")
    text = read(terminal)
    assert text.startswith("\r\x1b[Kcchybrid verify: 0 s, cut: 3")
    assert text.endswith("\r\x1b[Kvalid\r\n")
    assert "write" not in vars(sys.stdout)


def test_a_command_that_writes_or_ends_soon_has_no_line(monkeypatch):
    terminal = use_terminal(monkeypatch, 5)
    with activity.activity_line("cchybrid verify"):
        print("valid")
    assert read(terminal) == "valid\r\n"


def test_no_line_on_a_dumb_terminal(monkeypatch):
    terminal = use_terminal(monkeypatch, 0.04, "dumb")
    with activity.activity_line("cchybrid verify"):
        time.sleep(0.1)
        print("valid")
    assert read(terminal) == "valid\r\n"
