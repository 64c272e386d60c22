"""Progress of a benchmark on standard error: a bar on a terminal, a line per run elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from cchybrid.bench.runner import Progress
from cchybrid.bench.store import Run

Watch = Callable[[Progress], None]


@contextmanager
def watcher(title: str, names: Mapping[str, str], others: Sequence[Watch] = ()) -> Iterator[Watch]:
    """Yield the function that shows every finished run on standard error.

    Parameters
    ----------
    names
        Labels of the contestants by key.
    others
        Called with every finished run too.
    """
    console = Console(stderr=True, highlight=False, markup=False)
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
    task = bar.add_task(title, total=None, left="")

    def watch(progress: Progress) -> None:
        for other in others:
            other(progress)
        bar.update(
            task,
            completed=progress.done,
            total=progress.total,
            left=duration(progress.seconds_left),
        )
        left = "" if console.is_terminal else f"; {duration(progress.seconds_left)}"
        width = len(str(progress.total))
        place = f"[{progress.done:{width}}/{progress.total}]"
        bar.console.print(f"{place} {in_words(progress.run, names)}{left}", soft_wrap=True)

    with bar:
        yield watch


def in_words(run: Run, names: Mapping[str, str]) -> str:
    """Return one run in one line."""
    title = f"{run.row} [{names.get(run.contestant.key, run.contestant.name)}, seed {run.seed}]"
    if run.failure:
        return f"{title}: failed: {run.failure}"
    if "design" in run.result:
        values = [f"{name} {float(value):.5g}" for name, value in run.result["design"].items()]
        return f"{title}: {', '.join(values)}; {run.result['seconds']:.1f} s"
    if "rounds_per_chunk" in run.result:
        end = "optimal (certified)" if run.certified else f"at least {run.result['bound']}"
        return f"{title}: {run.result['rounds_per_chunk']} rounds per chunk, {end}"
    if run.result["status"] == "infeasible":
        return f"{title}: infeasible"
    if run.steps is None and run.result.get("conflicts") is not None:
        return f"{title}: {run.result['conflicts']} conflicts left"
    if run.steps is None:
        return f"{title}: nothing found; at least {run.lower_bound} steps"
    end = f"optimal ({'certified' if run.certified else 'claimed'})"
    if not run.closed:
        end = f"at least {run.lower_bound}"
    return f"{title}: {run.steps} steps, {end}, {run.result['seconds']:.1f} s"


def duration(seconds: float) -> str:
    """Return a rounded duration, such as ``12 min left``."""
    if seconds < 90:
        return f"{seconds:.0f} s left"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min left"
    return f"{seconds / 3600:.1f} h left"
