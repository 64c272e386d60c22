"""The options that all evolutionary engines have."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cchybrid.toolkit.evolution.restoration import CANDIDATES
from cchybrid.toolkit.options import require, require_one_of
from cchybrid.toolkit.step_control import CONTROLS

CONFLICTS = ("pairs", "excess")
"""Values of the option ``conflicts``."""
TIES = ("first", "random")
"""Values of the option ``ties``."""


@dataclass(frozen=True)
class EvolutionOptions:
    """The parameters of evolutionary engines; see thesis section 7.2 for the first ones.

    With ``papers`` the algorithm is that of the thesis, with the parameters of its section 7.4
    (``PUBLISHED``) and without all that is ours (``WITHOUT_OURS``). The defaults are stronger;
    ``descend`` starts with a greedy schedule, from which a quarter of the individuals are made.

    Parameters
    ----------
    papers
        The published algorithm: initial individuals without steps where messages are forwarded
        (thesis section 6.5.4), one population, no news from other engines. Beside it, options that
        the papers lack are refused.
    population
        Individuals.
    replacement
        Share of the population, the worst, that children replace in a generation.
    ties
        Which of equally bad individuals are replaced: ``random``, or the last ones, so that the
        ``first`` stay.
    mutation
        Probability that a child is mutated.
    moves
        Genes that a mutation changes, at most.
    sweeps
        Sweeps of min-conflicts local search over all genes, per child (ours).
    polish
        Rounds of a weighted tabu search from the best individual, per generation (ours; see
        ``Polish``). A round prices as many deliveries as there are genes, and counts as one
        evaluation.
    patience
        Generations without progress before the population is restarted, or with
        ``control=raise`` before a step is added.
    greedy
        Share of greedy individuals in the initial population; the others are random.
    radius
        Hops from the sender beyond which options are excluded where shorter ones suffice (thesis
        section 6.5.5); 0: no limit, but near senders are preferred according to the number of
        steps; with ``papers`` 0 is the thesis' own choice (``published_radius``).
    senders
        Senders that restoration compares by the use of their ports where it replaces one (thesis
        section 6.5.3); 1: a random one, as in the multistage paper.
    conflicts
        ``pairs``: of transfers that share a channel (thesis equation 6.18); ``excess``: uses of
        channels beyond their capacity.
    control
        ``descend``: from a greedy schedule downwards, a step at a time; ``raise``: from the lower
        bound upwards, as in the thesis.
    memory
        MiB that a population may take; larger problems are refused.
    """

    papers: bool = False
    population: int = 80
    replacement: float = 2 / 3
    ties: str = "first"
    mutation: float = 0.9
    moves: int = 6
    sweeps: int = 20
    polish: int = 20
    patience: int = 200
    greedy: float = 0.5
    radius: int = 0
    senders: int = CANDIDATES
    conflicts: str = "pairs"
    control: str = "descend"
    memory: int = 4096

    PUBLISHED: ClassVar[Mapping[str, Any]] = {
        "population": 100, "ties": "random", "mutation": 0.9, "patience": 500_000
    }  # fmt: skip
    """Defaults with ``papers``. 500,000 are the generations of all runs of thesis section 7.2; what
    the reasonable time is after which a step is added (section 6.4) is not published."""
    WITHOUT_OURS: ClassVar[Mapping[str, Any]] = {
        "moves": 1, "sweeps": 0, "polish": 0, "greedy": 0.0, "conflicts": "pairs",
        "control": "raise",
    }  # fmt: skip
    """The only values with ``papers``."""

    @classmethod
    def defaults_beside(cls, named: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the defaults that differ from those of the fields, given the named values."""
        return {**cls.PUBLISHED, **cls.WITHOUT_OURS} if named.get("papers") else {}

    def __post_init__(self) -> None:
        for name, value in self.WITHOUT_OURS.items() if self.papers else ():
            if getattr(self, name) != value:
                raise ValueError(f"{name} is {getattr(self, name)}, with papers use {value}")
        require(self, 100_000, population=2)
        require(self, 1, mutation=0, greedy=0)
        self._positive_share("replacement")
        require(self, moves=1, sweeps=0, polish=0, patience=1, radius=0, senders=1, memory=1)
        require_one_of(self, conflicts=CONFLICTS, ties=TIES, control=CONTROLS)

    @property
    def offspring(self) -> int:
        """Children per generation."""
        return max(round(self.replacement * self.population), 1)

    def _positive_share(self, name: str) -> None:
        if not 0 < getattr(self, name) <= 1:
            raise ValueError(f"{name} is {getattr(self, name)}, use more than 0, at most 1")
