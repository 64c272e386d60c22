"""The parameters of the tabu search."""

from __future__ import annotations

from dataclasses import dataclass

from cchybrid.toolkit.step_control import check_control


@dataclass(frozen=True)
class TabuOptions:
    """The parameters of the search. The papers have no such engine; the defaults are measured.

    Parameters
    ----------
    width
        Deliveries in conflict that a move chooses from.
    tenure
        A delivery may not return to the step that it has left for so many moves, and up to as
        many again at random.
    decay
        How often the weights grow before all of them shrink by one; 0: they never do. Every other
        start, and every other island, takes a tenth of it with three times the tenure: some
        networks want the one, some the other.
    patience
        Moves without progress before the search starts again, with all weights forgotten: from
        its best near-solution, from another island's, or from a new greedy schedule. It is looked
        at between the rounds of the islands, every few hundred moves.
    control
        ``descend`` from a greedy schedule, or ``raise`` from the lower bound when ``attempts``
        starts have failed (see ``step_control``).
    attempts
        Starts per number of steps before ``raise`` adds a step.
    probe
        With ``descend``, probes halve the gap between the first schedule and the lower bound:
        attempts that end after this many evaluations per delivery without progress.
    memory
        Mebibytes that the tables of an island may take; larger problems are refused.
    """

    width: int = 6
    tenure: int = 3
    decay: int = 1000
    patience: int = 300_000
    control: str = "descend"
    attempts: int = 6
    probe: int = 12
    memory: int = 4096

    def __post_init__(self) -> None:
        for name, low in (
            ("width", 1),
            ("tenure", 0),
            ("decay", 0),
            ("patience", 1),
            ("attempts", 1),
            ("probe", 1),
            ("memory", 1),
        ):
            if not low <= getattr(self, name) <= 1_000_000_000:
                raise ValueError(f"{name} is {getattr(self, name)}, use {low} to 1000000000")
        check_control(self.control)
