"""The parameters of the tabu search."""

from dataclasses import dataclass

from cchybrid.toolkit.options import require, require_one_of
from cchybrid.toolkit.step_control import CONTROLS


@dataclass(frozen=True)
class TabuOptions:
    """The parameters of the tabu search; defaults by measurement.

    Parameters
    ----------
    width
        Violated deliveries that are priced per move.
    tenure
        Moves for which a delivery may not return to the step that it left: from ``tenure`` + 1 to
        2 * ``tenure`` + 1, at random.
    decay
        Weight increases after which all weights are decreased by one; 0: never. Every other start,
        and every other island, uses a tenth of it and three times the tenure: which is better
        depends on the network.
    patience
        Moves without progress before a restart with all weights reset: from the best near-solution,
        from another island's, or from a new greedy schedule. Checked between the rounds of the
        islands, every few hundred moves.
    control
        ``descend`` from a greedy schedule, or ``raise`` from the lower bound, a step whenever
        ``attempts`` starts bring no progress (see ``step_control``).
    attempts
        ``raise`` adds a step after as many evaluations without progress as this number of starts
        can take.
    probe
        With ``descend``, bisection between the first schedule and the lower bound comes first, by
        attempts that end after this many evaluations per delivery without progress.
    memory
        MiB that the tables of an island may take; larger problems are refused.
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
        lowest = {"width": 1, "tenure": 0, "decay": 0, "patience": 1, "attempts": 1, "probe": 1}
        require(self, 1_000_000_000, **lowest, memory=1)
        require_one_of(self, control=CONTROLS)
