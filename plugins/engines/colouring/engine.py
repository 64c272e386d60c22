"""The engine ``colouring``: colour the conflict graph of chosen paths; colours are steps.

1. Choose an option per delivery: shortest, or with balanced loads, or random trees (``choice.py``).
2. Build the conflict graph: an edge between deliveries that share a resource of capacity 1
   (``graph.py``; a resource of capacity c is split into c lanes at random).
3. Colour it greedily in several orders, DSATUR first; colours are steps. Then compact the schedule.
4. With ``exact=true``, find the fewest steps of the chosen options by CP-SAT (``exact.py``).
5. Repeat with other options until ``patience`` choices gave no better schedule.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from cchybrid.plugin.engine import EngineBase, Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.options import require
from cchybrid.toolkit.solver import check, evaluations, until_stopped
from cchybrid.toolkit.usage_matrix import IntVector, UsageMatrix

from .choice import Chooser
from .graph import Conflicts, strategies


class Colouring(EngineBase["Colouring.Options"]):
    """Greedy colouring in several orders, over several choices of paths: a baseline.

    References
    ----------
    D. Brélaz, "New methods to color the vertices of a graph", Communications of the ACM 22, 1979
    (DSATUR). doi:10.1145/359094.359101

    J. Jaroš, "Evolutionary Design of Collective Communications on Wormhole Networks", Brno
    University of Technology, 2010, section 4.2.1.
    """

    @dataclass(frozen=True)
    class Options:
        """The options of the engine.

        Parameters
        ----------
        patience
            Choices of paths without a better schedule after which the engine gives up.
        exact
            Colour every choice of paths with the fewest colours, by CP-SAT. That proves nothing for
            the instance, which has other paths.
        exact_limit
            Limit of one decision by CP-SAT: seconds, or deterministic time under an evaluation
            budget.
        max_edges
            Edges that a conflict graph may have; each takes about 150 bytes.
        """

        patience: int = 50
        exact: bool = False
        exact_limit: float = 10.0
        max_edges: int = 2_000_000

        def __post_init__(self) -> None:
            require(self, patience=1, exact_limit=0, max_edges=0)

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse problems whose conflict graph would not fit into memory."""
        edges = _edges(problem, UsageMatrix.of(problem))
        if edges <= self.options.max_edges:
            return None
        return f"about {edges:,} conflicts between paths, more than {self.options.max_edges:,}"

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Colour until the bound is met or the search stalls."""
        return until_stopped(run, lambda: self._colour_all(problem, run))

    def _colour_all(self, problem: Problem, run: Run) -> Stop:
        def check_stop() -> None:
            check(run.should_stop)

        random = np.random.default_rng(run.seed)
        uses = UsageMatrix.of(problem)
        best: int | None = None
        idle = 0
        for choose in _choices(Chooser(problem, uses, check_stop), random):
            if next(run.targets(), None) is None:
                check_stop()
                return Stop.EXHAUSTED
            idle += 1
            conflicts = Conflicts(problem, uses, choose(), random, check_stop)
            fewest: Assignment | None = None
            for strategy in strategies(int(random.integers(2**31)), conflicts.edges).values():
                known = min((s for s in (best, run.best()) if s is not None), default=None)
                run.spend(1)
                if known is not None and conflicts.min_steps >= known:
                    break
                found = conflicts.schedule(strategy)
                if fewest is None or found.steps < fewest.steps:
                    fewest = found
                if known is None or found.steps < known:
                    run.offer(found)
                    best, idle = found.steps, 0
                run.note(colours=found.steps)
                check_stop()
            if self.options.exact and fewest is not None:
                exact = self._recolour(problem, uses, fewest, run)
                if exact is not None:
                    run.offer(exact)
                    best, idle = exact.steps, 0
            check_stop()
            if idle >= self.options.patience:
                break
        return Stop.STALLED

    def _recolour(
        self, problem: Problem, uses: UsageMatrix, known: Assignment, run: Run
    ) -> Assignment | None:
        """Return a schedule of the same options with fewer steps than the best, else ``None``."""
        from .exact import FixedChoice

        steps = known.steps
        top = run.best()
        option = np.where(known.step >= 0, known.option, -1).astype(np.int64)
        choice = FixedChoice(problem, uses, option)
        found = choice.fewest(
            known,
            run.budget,
            run.seed,
            self.options.exact_limit,
            lambda fewer: fewer >= run.lower(),
            run.should_stop,
        )
        if found.units:
            run.spend(evaluations(found.units))
        known_steps = steps if top is None else min(steps, top)
        return found.assignment if found.assignment.steps < known_steps else None


def _choices(chooser: Chooser, random: np.random.Generator) -> Iterator[Callable[[], IntVector]]:
    """Yield functions that choose options: deterministic ones first, then random ones forever."""
    problem = chooser.problem
    if problem.ordered:
        grow = chooser.trees if problem.required.all() else chooser.chains
        while True:
            yield lambda: grow(random)
    yield lambda: chooser.balanced(random)
    yield lambda: chooser.shortest()
    while True:
        yield lambda: chooser.balanced(random)
        yield lambda: chooser.shortest(random)


def _edges(problem: Problem, uses: UsageMatrix) -> int:
    """Return the approximate number of edges of the conflict graph of short options."""
    chosen = Chooser(problem, uses, lambda: None).shortest()
    load = uses.load(chosen[chosen >= 0])
    load[problem.implied] = 0
    return int((load**2 / np.maximum(problem.capacity, 1) / 2)[load > problem.capacity].sum())
