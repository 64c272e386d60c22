"""A line on the terminal that shows for how long a command has written nothing."""

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from cchybrid.model.text import printable

QUIET_SECONDS = 1.0
"""Seconds without output after which the line is shown."""
_detail = [""]
"""The present work of the command."""


def show_detail(text: str) -> None:
    """Set what the line says after the seconds."""
    _detail[0] = f", {printable(text)}"


@contextmanager
def activity_line(title: str) -> Iterator[None]:
    """Show a line on standard error while nothing is written; the next output erases it.

    It is not shown if standard error is no terminal that can erase lines.
    """
    terminal, started, ended = sys.stderr, time.monotonic(), threading.Event()
    if not terminal.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        yield
        return
    streams: list[Any] = [sys.stdout, terminal]
    plain, written, shown = terminal.write, started, False

    def put(text: str) -> None:
        with suppress(OSError, ValueError):  # the terminal was closed
            plain(f"\r\x1b[K{text}")
            terminal.flush()

    def watched(write: Callable[[str], int], text: str) -> int:
        nonlocal written, shown
        written = time.monotonic()
        if shown:
            shown = False
            put("")
        return write(text)

    def show() -> None:
        nonlocal shown
        while not ended.wait(QUIET_SECONDS / 4):
            if time.monotonic() - written >= QUIET_SECONDS:
                shown = True
                line = f"{title}: {time.monotonic() - started:.0f} s{_detail[0]}"
                put(line[: shutil.get_terminal_size().columns - 1])

    for each in streams:
        each.write = partial(watched, each.write)
    threading.Thread(target=show, daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        terminal.write("")
        for each in streams:
            del each.write
