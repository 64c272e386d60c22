"""The parameters of HGSA."""

import math
from dataclasses import dataclass

from cchybrid.toolkit.options import require, require_one_of
from cchybrid.toolkit.step_control import CONTROLS

FITNESS = ("conflicts", "steps")
"""Values of the option ``fitness``."""


@dataclass(frozen=True)
class HgsaOptions:
    """The parameters of HGSA (HGSA paper, section 3.2, unless stated otherwise).

    Parameters
    ----------
    processes
        Annealing processes per island (ours); fewer if they would exceed ``memory``.
    moves
        Proposals per iteration of the Metropolis algorithm; 0 for one per delivery (ours).
    exchange
        Iterations between two master steps; 10 as in the paper.
    mutation
        Probability that a child is mutated (ours). A better parent is always mutated.
    genes
        Genes that a mutation changes, at most (ours).
    temperature, cooling, floor
        The initial temperature in conflicts, the cooling factor per iteration, and the temperature
        below which annealing restarts (ours). Every further cooling takes twice as many iterations,
        up to 64 times as many as the first.
    fitness
        ``conflicts`` only, as the number of steps is fixed, or ``steps``: the paper's sum of
        weighted conflicts and of the step and length of all genes.
    weight
        Weight of a conflict if ``fitness`` is ``steps`` (ours).
    end
        Conflicts up to which the longest routes are shortened (section 3.3, second heuristic; the
        paper does it at 0, which here ends the search).
    longest
        Maximal number of longest routes for that (ours).
    control
        Order of the numbers of steps: ``descend`` from a greedy schedule, or ``raise`` from the
        lower bound.
    patience
        Iterations without progress after which all processes restart, and ``raise`` adds a step.
    memory
        MiB that the solutions of all islands may take; problems of which one process takes more are
        refused.
    """

    processes: int = 8
    moves: int = 0
    exchange: int = 10
    mutation: float = 0.5
    genes: int = 3
    temperature: float = 0.5
    cooling: float = 0.99
    floor: float = 0.1
    fitness: str = "conflicts"
    weight: float = 1000.0
    end: int = 2
    longest: int = 16
    control: str = "descend"
    patience: int = 20_000
    memory: int = 4096

    def __post_init__(self) -> None:
        require(self, 10_000, processes=1)
        require(self, moves=0, exchange=1, genes=1, end=0, longest=0, patience=1, memory=1)
        require(self, 1, mutation=0)
        if not 0 < self.cooling < 1:
            raise ValueError(f"cooling is {self.cooling}, use more than 0, less than 1")
        for name in ("temperature", "weight"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)}, use more than 0")
        if not 0 < self.floor < self.temperature:
            raise ValueError(f"floor is {self.floor}, use more than 0, less than temperature")
        require_one_of(self, fitness=FITNESS, control=CONTROLS)
