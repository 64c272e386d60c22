"""The full table of a report: its columns, each with its title and what it says of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cchybrid.bench.report.standing import Standing
from cchybrid.library.node_lists import format_nodes

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """A table of a report; numbers are aligned right, ``None`` is an empty cell."""

    headers: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Return per column whether it holds nothing but numbers."""
        return tuple(
            all(row[column] is None or isinstance(row[column], (int, float)) for row in self.rows)
            for column in range(len(self.headers))
        )


def shown(cell: Cell) -> str:
    """Return a cell as people read it: times with as many digits as they mean."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.1f}" if cell >= 10 else f"{cell:.2f}"
    return str(cell)


def bound_cell(standing: Standing) -> Cell:
    """Return the certified bound, and the claimed one where that says more."""
    if standing.claimed is None:
        return standing.lower_bound
    return f"{standing.lower_bound or 0} ({standing.claimed} claimed)"


def published_cell(standing: Standing) -> Cell:
    """Return the published steps and bound: ``4 (at least 3)``."""
    published = standing.row.published
    steps = "" if published.steps is None else str(published.steps)
    if published.lower_bound is None:
        return published.steps
    return f"{steps} (at least {published.lower_bound})".strip()


def story_cell(standing: Standing) -> Cell:
    """Return who led to the best schedule, where that says more than the engine and the steps."""
    alone = f"{standing.engine} {standing.steps}"
    return None if standing.story in ("", alone) else standing.story


def full_table(standings: tuple[Standing, ...]) -> Table:
    """Return the table with a line for every row of the suite."""
    columns: tuple[tuple[str, Callable[[Standing], Cell]], ...] = (
        ("row", lambda s: s.name),
        ("routing", lambda s: s.routing),
        ("steps", lambda s: s.steps),
        ("lower bound", bound_cell),
        ("state", state_in_words),
        ("published", published_cell),
        ("verdict", lambda s: s.verdict),
        ("bound", lambda s: s.bound_verdict),
        ("s to best", lambda s: s.seconds_to_best),
        ("s in all", lambda s: s.seconds),
        ("engine", lambda s: s.engine),
        ("story", story_cell),
        ("best contestant", lambda s: s.best),
    )
    everyone = {outcome.contestant.key for each in standings for outcome in each.outcomes}
    absent = {"best contestant"} if len(everyone) < 2 else set()
    if not any(map(story_cell, standings)):
        absent.add("story")
    columns = tuple(column for column in columns if column[0] not in absent)
    return Table(
        tuple(title for title, _ in columns),
        tuple(tuple(say(standing) for _, say in columns) for standing in standings),
    )


def state_in_words(standing: Standing) -> str:
    """Return the state, with what it rests on: ``optimal, certified`` or ``open, gap 2``."""
    if standing.proof:
        return f"{standing.state}, {standing.proof}"
    return f"open, gap {standing.gap}" if standing.state == "open" else standing.state


def nodes(values: Sequence[int] | None) -> str:
    """Return a list of nodes as a suite takes it; "" for none."""
    return format_nodes(values) if values else ""
