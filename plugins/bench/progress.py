"""Progress on standard error: a bar on a terminal, lines elsewhere."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, TextColumn
from rich.progress import Progress as Bar
from rich.progress import TimeRemainingColumn as TimeLeft

from cchybrid.plugin.benchmark import Benchmark

from .runner import Progress
from .store import Run

PROGRESS_SECONDS = 10.0
"""Seconds between the lines of a check where there is no terminal."""


@contextmanager
def watcher(
    title: str, names: Mapping[str, str], kind: Benchmark[Any], also: Callable[[Progress], object]
) -> Iterator[Callable[[Progress], None]]:
    """Yield the function that shows every finished run on standard error.

    Parameters
    ----------
    names
        Labels of the contestants by key.
    also
        Called with every finished run, too.
    """
    bar = _bar(TextColumn("{task.fields[left]}"))
    task = bar.add_task(title, total=None, left="")

    def watch(progress: Progress) -> None:
        also(progress)
        left = duration(progress.seconds_left)
        bar.update(task, completed=progress.done, total=progress.total, left=left)
        left = "" if bar.console.is_terminal else f"; {left}"
        width = len(str(progress.total))
        place = f"[{progress.done:{width}}/{progress.total}]"
        bar.console.print(f"{place} {in_words(progress.run, names, kind)}{left}", soft_wrap=True)

    with bar:
        yield watch


@contextmanager
def checking(store: Path) -> Iterator[Callable[[int, int], None]]:
    """Yield the function that shows on standard error the number of verified runs."""
    bar = _bar(TimeLeft())
    task = bar.add_task(f"verifying {store.name}", total=None)
    last_line = time.monotonic()

    def watch(done: int, total: int) -> None:
        nonlocal last_line
        bar.update(task, completed=done, total=total)
        if not bar.console.is_terminal and time.monotonic() - last_line > PROGRESS_SECONDS:
            last_line = time.monotonic()
            bar.console.print(f"verifying {store.name}: {done} of {total} runs", soft_wrap=True)

    with bar:
        yield watch


def _bar(last: ProgressColumn) -> Bar:
    """Return a bar that is shown on terminals only."""
    console = Console(stderr=True, highlight=False, markup=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), last)
    return Bar(*columns, console=console, disable=not console.is_terminal, transient=True)


def in_words(run: Run, names: Mapping[str, str], kind: Benchmark[Any]) -> str:
    """Return one run in one line."""
    title = f"{run.row} [{names.get(run.contestant.key, run.contestant.name)}, seed {run.seed}]"
    return f"{title}: {f'failed: {run.failure}' if run.failure else kind.words(run.result)}"


def duration(seconds: float) -> str:
    """Return a rounded duration, such as ``12 min left``."""
    if seconds < 90:
        return f"{seconds:.0f} s left"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min left"
    return f"{seconds / 3600:.1f} h left"
