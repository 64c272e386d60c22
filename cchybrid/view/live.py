"""Progress of a run: a live view on a terminal, plain lines elsewhere."""

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from cchybrid.model.shown import counted

STATUS_SECONDS = 5.0
"""Seconds without a line after which a status line is written."""
HIDDEN = ("note", "progress", "result", "run")
"""Events without a line, even with ``-v``."""


class LiveView:
    """Observer that updates a small table on a terminal, and removes it in the end."""

    def __init__(self, console: Console, title: str) -> None:
        self._title = title
        self._started = time.monotonic()
        self._best: str = "none yet"
        self._lower: str = "1"
        self._engines: dict[str, dict[str, Any]] = {}
        self._live = Live(
            console=console, transient=True, refresh_per_second=8, get_renderable=self.render
        )

    def __enter__(self) -> "LiveView":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # the terminal was closed; the result may go to a file
            self._live.stop()

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Update the table by one event."""
        kind = event["event"]
        if kind == "schedule":
            self._best = f"{event['steps']} ({event['engine']}, {event['seconds']:.1f} s)"
        elif kind == "bound":
            word = "certified" if event["certified"] else "claimed"
            self._lower = f"{event['steps']} ({event['engine']}, {word})"
        elif kind == "phase":
            self._engines = {name: {"state": "starting"} for name in event["engines"]}
        elif kind in ("started", "end", "progress", "unsupported"):
            row = self._engines.get(event["engine"])
            if row is not None:
                row["state"] = {"end": event.get("stop"), "unsupported": "unsupported"}.get(
                    kind, "working"
                )
                if kind == "progress":
                    row.update(target=event["steps"], conflicts=event["conflicts"])

    def render(self) -> Group:
        """Return the table."""
        seconds = time.monotonic() - self._started
        head = Text(
            f"{self._title}   {seconds:.1f} s   best: {self._best}   lower bound: {self._lower}"
        )
        table = Table("engine", "state", "target", "conflicts", box=None, padding=(0, 2))
        for name, row in self._engines.items():
            table.add_row(
                name, row["state"], str(row.get("target", "")), str(row.get("conflicts", ""))
            )
        return Group(head, table)


class PlainView:
    """Observer that writes a line per improvement, and a status line every few seconds."""

    def __init__(self, console: Console, verbose: bool) -> None:
        self._console = console
        self._verbose = verbose
        self._last = 0.0
        self._best: int | None = None
        self._lower = 1

    def __enter__(self) -> "PlainView":
        return self

    def __exit__(self, *_: object) -> None:
        return

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Write the line of one event, if it has one."""
        kind, now = event["event"], event["seconds"]
        if kind == "schedule":
            self._best = event["steps"]
            how = f" ({event['how']})" if event["how"] else ""
            self._say(now, f"{event['engine']}: {counted(event['steps'], 'step')}{how}")
        elif kind == "bound":
            self._lower = event["steps"]
            word = "certified" if event["certified"] else "claimed"
            self._say(now, f"{event['engine']}: lower bound {event['steps']}, {word}")
        elif kind == "trouble" or (self._verbose and kind not in HIDDEN):
            details = {k: v for k, v in event.items() if k not in ("event", "seconds", "evidence")}
            words = ", ".join(str(v) if k == "text" else f"{k} {v}" for k, v in details.items())
            self._say(now, f"{kind}: {words}")
        elif now - self._last >= STATUS_SECONDS and kind in ("note", "progress"):
            best = "none yet" if self._best is None else self._best
            self._say(now, f"best {best}, lower bound {self._lower}")

    def _say(self, seconds: float, text: str) -> None:
        self._last = seconds
        self._console.print(
            f"[{seconds:8.2f} s] {text}", markup=False, highlight=False, soft_wrap=True
        )
