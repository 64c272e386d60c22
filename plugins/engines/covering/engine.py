"""The engine ``covering``: cover all deliveries by the fewest compatibility classes.

Where no message is forwarded, a schedule is a cover of all deliveries by classes, sets of options
that fit into one step together. Three searches take turns, in proportion to their shares:

1. *Listing* (thesis section 4.2.1): list all maximal classes, where they are few, and solve the
   minimum set cover by CP-SAT (``incidence.py``, ``cover.py``).
2. *Division* (thesis section 4.2.2): fix a route for every delivery, with the smallest maximal load
   (``routes.py``); then depth first choose classes that use every bottleneck as much as needed,
   for a number of steps from the load upwards. Sets that need more steps than are left are
   remembered. Other routes, another order and twice the limit follow.
3. *Generation*: solve the linear relaxation of the cover by column generation, which gives bounds
   (``pricing.py``, ``generation.py``); every ``columns`` rounds dive for the open
   number of steps: fix one class after the other, such that the others still fit (``diving.py``);
   cover by the classes made so far, and insert what is left.

Listing is exact, and so is division where every delivery has one route.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cchybrid.plugin.engine import EngineBase, Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.dual_prices import LoadProgram
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.options import require
from cchybrid.toolkit.packing import Packing, refusal
from cchybrid.toolkit.solver import check, evaluations, until_stopped
from cchybrid.toolkit.usage_matrix import BoolVector, IntVector
from cchybrid.toolkit.warmup_problem import compile_first_fit

from .cover import ClassFiller, cover, with_leftovers
from .diving import Diver
from .generation import Generation
from .incidence import Incidence
from .pricing import Pricer
from .routes import choose_routes, has_fixed_routes

CATEGORIES_PER_CHECK = 32
"""Categories, an evaluation each, between two turns; they take at most some hundredths of a
second."""

SHARES = (1, 2, 2)
"""Shares of listing, division and generation: listing either ends soon or not at all."""

FIRST_UNITS, MAX_UNITS = 0.5, 8.0
"""CP-SAT's deterministic time to choose routes, about seconds: in the first round, doubled in each
later one, up to the maximum. Chosen by hand, so that a first schedule is found soon."""

MAX_LISTED = 2_000
"""Columns up to which classes are listed, and rows up to ``MAX_DIVIDED`` that are divided: each is
compared with all others."""

MAX_DIVIDED = 5_000

MAX_REMEMBERED = 200_000
"""Sets of columns known to need more steps that are remembered; a guard for memory: each is an
integer of one bit per row, below a kilobyte."""


class Covering(EngineBase["Covering.Options"]):
    """Cover of all deliveries by compatibility classes: exact where no message is forwarded.

    References
    ----------
    J. Jaroš, "Evolutionary Design of Collective Communications on Wormhole Networks", Brno
    University of Technology, 2010, sections 4.2.1 and 4.2.2.

    C. Bron, J. Kerbosch, "Algorithm 457: finding all cliques of an undirected graph",
    Communications of the ACM 16, 1973. doi:10.1145/362342.362367

    E. Gabrielyan, R. D. Hersch, "Efficient liquid schedule search strategies for collective
    communications", IEEE International Conference on Networks (ICON), 2004.

    P. C. Gilmore, R. E. Gomory, "A linear programming approach to the cutting-stock problem",
    Operations Research 9, 1961. doi:10.1287/opre.9.6.849

    A. A. Farley, "A note on bounding a class of linear programming problems, including cutting
    stock problems", Operations Research 38, 1990. doi:10.1287/opre.38.5.922
    """

    @dataclass(frozen=True)
    class Options:
        """The options of the engine.

        Parameters
        ----------
        classes
            Classes after which listing gives up; each takes about a kilobyte. 0: no listing.
        categories
            Categories that the first division into a number of steps may examine.
        columns
            Rounds of column generation between two dives.
        starts
            First-fit schedules from which the first columns are taken.
        pricing_units
            Deterministic time of one exact pricing by CP-SAT, about seconds.
        cover_units
            Deterministic time of one cover by the columns found so far.
        max_columns
            Options that a Problem may have; each takes about a kilobyte in CP-SAT.
        """

        classes: int = 50_000
        categories: int = 3_000
        columns: int = 20
        starts: int = 4
        pricing_units: float = 2.0
        cover_units: float = 0.5
        max_columns: int = 100_000

        def __post_init__(self) -> None:
            require(self, classes=0, categories=1, columns=1, starts=1, max_columns=1)
            require(self, pricing_units=0.001, cover_units=0)

    def prepare(self) -> None:
        """Compile the kernels of greedy schedules."""
        compile_first_fit()

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse Problems with precedence, and those that would not fit into memory."""
        if problem.options > self.options.max_columns:
            return f"{problem.options:,} options, more than {self.options.max_columns:,}"
        return refusal(problem)

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Search in three ways in turn until the best schedule meets the bound."""
        return until_stopped(run, lambda: Search(problem, run, self.options).run_all())


class Search:
    """One run of the engine: three searches, each a generator that yields at the end of a turn.

    Attributes
    ----------
    bound
        The Problem has no schedule of fewer steps; as it may be incomplete, the instance may.
    """

    def __init__(self, problem: Problem, run: Run, options: Covering.Options) -> None:
        self.run = run
        self.options = options
        self.packing = packing = Packing.of(problem)
        self.random = np.random.default_rng(run.seed)
        self.bound = 1
        self._spent = 0
        self._program = LoadProgram(packing, run.should_stop)
        self._prices = self._program.row_prices()

    def run_all(self) -> Stop:
        """Let the searches take turns until the best schedule meets the bound."""
        if self.run.best() is None:
            self.run.offer(first_fit(self.packing.problem, self.run.seed))
            self._spend(1)
        if self._prices is not None:
            self._claim(self._prices.min_steps())
        spent = dict.fromkeys((self.list_all(), self.divide(), self.generate()), 0.0)
        weight = dict(zip(spent, SHARES, strict=True))
        while self.target() is not None:
            search = min(spent, key=spent.__getitem__)
            self._spent = 0
            if next(search, search) is search:
                del spent[search]
            else:
                spent[search] += self._spent / weight[search]
        return Stop.LIMIT if self.run.should_stop() else Stop.EXHAUSTED

    def target(self) -> int | None:
        """Return the steps to search for, ``None`` if this Problem has nothing better.

        The fewest open number, or the user's target: deliveries that a dive leaves over take
        further steps, so it yields schedules of larger numbers as well.
        """
        low = max(self.run.lower(), self.bound, self.run.target or 0)
        best = self.run.best()
        if next(self.run.targets(), None) is None or (best is not None and low >= best):
            return None
        return low

    def _claim(self, steps: int) -> None:
        self.bound = max(self.bound, steps)
        if self.packing.problem.complete and self.bound > self.run.lower():
            self.run.bound(self.bound)

    def _spend(self, count: int) -> None:
        self._spent += count
        self.run.spend(count)
        check(self.run.should_stop)

    def _offer(self, assignment: Assignment) -> None:
        best = self.run.best()
        if best is None or assignment.steps < best:
            self.run.offer(assignment)

    def list_all(self) -> Iterator[None]:
        """List all maximal classes and cover exactly by them, unless they are too many."""
        if self.packing.columns > MAX_LISTED:
            return
        incidence = Incidence.of(self.packing, np.arange(self.packing.columns))
        # One class per set of rows.
        known: dict[bytes, IntVector] = {}
        for number, found in enumerate(incidence.classes(incidence.everything)):
            if len(known) >= self.options.classes:
                return
            if found:
                columns = incidence.columns(found)
                known.setdefault(self.packing.row[columns].tobytes(), columns)
            if number % CATEGORIES_PER_CHECK == 0:
                self._spend(CATEGORIES_PER_CHECK)
                self.run.note(classes=len(known))
                yield
        units = 1.0
        while True:
            chosen, rest, solution = cover(
                self.packing, list(known.values()), self.run.should_stop, self.run.seed, units=units
            )
            self._claim(solution.bound)
            if not rest.any():
                self._offer(self.packing.assignment(chosen))
            self._spend(evaluations(solution.units))
            yield
            units *= 2.0

    def divide(self) -> Iterator[None]:
        """Divide the deliveries over fixed routes into classes, in rounds of growing limits."""
        packing = self.packing
        if packing.rows > MAX_DIVIDED:
            return
        number = 0
        while True:
            seed = int(self.random.integers(2**31))
            limit = min(FIRST_UNITS * 2.0**number, MAX_UNITS)
            columns, units = choose_routes(
                packing, self.bound, limit, seed, self.run.should_stop, hint=number % 2 == 1
            )
            self._spend(evaluations(units))
            yield
            # Ties are broken by the order of the columns, so a new order is another search.
            incidence = Incidence.of(packing, self.random.permutation(columns))
            steps = incidence.min_steps(incidence.everything)
            if has_fixed_routes(packing):
                self._claim(steps)
            while self.run.wants(steps := max(steps, self.bound, self.run.lower())):
                yield from self._divide_into(incidence, steps, self.options.categories << number)
                steps += 1
            number += 1

    def _divide_into(self, incidence: Incidence, steps: int, limit: int) -> Iterator[None]:
        """Search for classes for ``steps`` steps; offer a schedule, or claim that there is none."""
        refuted_sets: set[tuple[int, int]] = set()
        rests, classes = [incidence.everything], [0]
        searches = [incidence.classes(incidence.everything, steps)]
        examined = 0
        while searches:
            examined += 1
            if examined % CATEGORIES_PER_CHECK == 0:
                self._spend(CATEGORIES_PER_CHECK)
                self.run.note(target=steps, left=rests[-1].bit_count())
                yield
            if examined > limit or not self.run.wants(steps):
                return
            found = next(searches[-1], None)
            if found is None:
                searches.pop()
                classes.pop()
                if len(refuted_sets) < MAX_REMEMBERED:
                    refuted_sets.add((rests[-1], len(searches)))
                rests.pop()
                continue
            rest = rests[-1] & ~found
            if not rest:
                made = [incidence.columns(chosen) for chosen in (*classes[1:], found)]
                self._offer(self.packing.assignment(made))
                return
            left = steps - len(searches)
            if not found or (rest, len(searches)) in refuted_sets:
                continue
            if incidence.min_steps(rest) > left:
                continue
            rests.append(rest)
            classes.append(found)
            searches.append(incidence.classes(rest, left))
        if has_fixed_routes(self.packing):
            self._claim(steps + 1)

    def generate(self) -> Iterator[None]:
        """Improve the relaxation, and dive and cover for the open number of steps."""
        run, packing, options = self.run, self.packing, self.options
        pricer = Pricer(packing, run.should_stop, run.seed, options.pricing_units)
        filler = ClassFiller(packing, run.seed)
        generation = Generation(packing, pricer, filler, self._prices, run, self._spend)
        diver = Diver(packing, pricer, filler, self._program, self._spend, run.should_stop)
        if self._prices is not None:
            diver.known_prices.append(self._prices)
        best = run.best()
        hint = None if best is None else run.hint(best)
        for start in range(options.starts):
            found = first_fit(packing.problem, run.seed + start)
            self._offer(found)
            generation.learn(packing.classes(found))
        if hint is not None:
            generation.learn(packing.classes(hint))
        yield
        while True:
            for _ in range(options.columns):
                if generation.closed:
                    break
                generation.improve()
                self._claim(generation.bound)
                run.note(
                    columns=len(generation.master.classes),
                    relaxation=generation.master.value,
                    bound=generation.bound,
                )
                yield
            target = self.target()
            if target is None:
                return
            classes, rest = diver.dive(target, generation.weights(), self.random)
            self._finish(generation, classes, rest, target)
            yield
            if run.wants(target):
                classes, rest, solution = cover(
                    packing,
                    generation.master.classes,
                    run.should_stop,
                    int(self.random.integers(2**31)),
                    units=options.cover_units,
                    steps=target,
                )
                self._spend(evaluations(solution.units))
                self._finish(generation, classes, rest, target)
                yield

    def _finish(
        self, generation: Generation, classes: list[IntVector], rest: BoolVector, target: int
    ) -> None:
        full = with_leftovers(self.packing, generation.filler, classes, rest)
        generation.learn(full)
        self.run.note(target=target, left=int(rest.sum()), steps=len(full))
        self._offer(self.packing.assignment(full))
