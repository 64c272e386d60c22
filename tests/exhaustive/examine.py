"""Everything that is tried on one case; what disagrees is returned as text."""

import contextlib
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple

from cchybrid.checker import Network
from cchybrid.model import Instance, Transfer
from cchybrid.referee.verify import verify
from tests.exhaustive import bounds
from tests.exhaustive.axioms import Axioms
from tests.exhaustive.features import Case
from tests.exhaustive.mutation import mutants
from tests.exhaustive.neighbours import neighbours
from tests.exhaustive.plain_rules import PATH_RULES, Rules, violations
from tests.exhaustive.plain_search import Search, Step, TooLargeError, steps_of_file
from tests.exhaustive.plain_slots import search_of


class Effort(NamedTuple):
    """The amount that is tried on a case.

    Attributes
    ----------
    work
        Sets of moves that the search for the optimum looks at, and again those that the listing
        of the schedules looks at.
    schedules
        Schedules per number of steps: all if there are no more, otherwise as many at random.
    axioms
        Rows that are evaluated, drawn at random if there are more; then there is no formula.
    neighbours
        Neighbours of a schedule, drawn at random if there are more.
    mutants
        Mutants of every piece of evidence.
    finders
        The share of the registered finders that are asked, drawn for each case.
    refutations
        The share of the cases in which CaDiCaL is asked, too.
    rounds
        The share of the bounds on rounds per chunk for which the plain search finds the fewest
        rounds; the others are compared with the schedules at hand.
    """

    work: int
    schedules: int
    axioms: int
    neighbours: int
    mutants: int
    finders: float
    refutations: float
    rounds: float


POOL = 30
"""Pieces of evidence for earlier cases that are kept."""
SHORT = Effort(1000, 2, 800, 5, 4, 0.5, 0.03, 0.2)
LONG = Effort(6000, 5, 4000, 12, 8, 1.0, 0.2, 1.0)


class Examination:
    """The examination of one case.

    Attributes
    ----------
    counts
        What was tried and what was cut off.
    pool
        Evidence for other cases, and that for this one.
    wrong
        The disagreements found.
    """

    def __init__(self, case: Case, effort: Effort, pool: list[dict[str, Any]]) -> None:
        self.case, self.effort, self.rng = case, effort, case.rng
        self.record = case.instance
        self.instance = Instance.from_json(case.instance)
        self.rules = Rules(case.instance)
        self.search = search_of(case.instance, effort.work)
        self.counts = Counter[str]({"cases": 1})
        self.wrong: list[str] = []
        self.pool = pool

    def run(self) -> None:
        """Try everything."""
        feasible = self.search.is_feasible()
        self._check_reach(feasible)
        if not feasible:
            self.counts["cases without a schedule"] += 1
            return
        unknown = self.rules.times or self.rules.group or self.rules.slots
        for feature in () if unknown else bounds.features():
            for text in feature.disagreements(self.record):
                self._report(text)
        optimum = self._optimum()
        if optimum is None:
            self.search.left = 10 * self.effort.work
            schedules = []
            with contextlib.suppress(TooLargeError):
                for _ in range(self.effort.schedules):
                    draw = self.search.in_ticks if self.rules.times else self.search.greedy
                    found = draw(self.rng, 20)
                    schedules += [] if found is None else [found]
        else:
            schedules = [*self._schedules(optimum), *self._schedules(optimum + 1)]
        if not schedules:
            self.counts["cut off: cases without any schedule at hand, by work"] += 1
            return
        self.counts["valid schedules"] += len(schedules)
        for schedule in schedules:
            self._check_agreement(schedule)
        self._check_axioms(schedules)
        self._check_claims(schedules)

    def _optimum(self) -> int | None:
        if self.rules.times:
            self.counts["cut off: optimum not known, in ticks (schedules are drawn)"] += 1
            return None
        try:
            return self.search.fewest_steps()
        except TooLargeError:
            self.counts["cut off: optimum not known, by work (schedules are drawn)"] += 1
            return None

    def _schedules(self, steps: int) -> list[list[Step]]:
        """Return all schedules of a number of steps, or some at random."""
        self.search.left = self.effort.work
        limit, found = self.effort.schedules, list[list[Step]]()
        try:
            found += islice(self.search.schedules(steps), limit + 1)
            if len(found) <= limit:
                self.counts["numbers of steps with all their schedules"] += 1
                return found
            found.clear()
            self.search.left = self.effort.work
            drawn = (self.search.draw(steps, self.rng) for _ in range(limit))
            found += (schedule for schedule in drawn if schedule is not None)
        except TooLargeError:
            self.counts["cut off: fewer schedules drawn, by work"] += 1
        self.counts["cut off: numbers of steps with some schedules only"] += 1
        return found

    # What is checked

    def _check_reach(self, feasible: bool) -> None:
        if bounds.says_infeasible(self.record) == feasible:
            self._report(f"feasible: {feasible}, cchybrid says the opposite")
        if feasible:
            network = Network(self.record)
            for message in range(len(self.rules.messages or self.rules.members)):
                for node in (None, *self.rules.nodes):
                    evidence = {"kind": "unreachable", "message": message}
                    if node is not None:
                        evidence["destination"] = node
                    parts = [
                        {"kind": "part", side: member, "evidence": evidence}
                        for side in ("from", "to")
                        for member in (self.rules.members and self.rules.nodes)
                    ]
                    for each in (evidence, *parts):
                        if bounds.accepts_unreachable(network, each):
                            self._report(f"feasible, but the checker accepts {each}")

    def _check_agreement(self, schedule: list[Step]) -> None:
        steps = steps_of_file(self.rules, schedule)
        if broken := violations(self.record, steps):
            self._report(f"the plain search makes a schedule that breaks {broken}: {steps}")
        self._compare(steps)
        near = list(neighbours(self.record, steps, self.rng))
        limit = self.effort.neighbours
        if len(near) > limit:
            self.counts["cut off: neighbours"] += len(near) - limit
            near = self.rng.sample(near, limit)
        for other in near:
            self._compare(other)
        self.counts["neighbours"] += len(near)

    def _compare(self, steps: list[list[dict[str, Any]]]) -> None:
        """Compare the plain rules, the referee and the checker."""
        version = 2 if self.rules.members else 1
        record = {
            "format": f"cchybrid-schedule/{version}", "instance": self.record, "steps": steps
        }  # fmt: skip
        plain = violations(self.record, steps)
        moves = tuple(tuple(Transfer(m["message"], tuple(m["path"])) for m in s) for s in steps)
        sums = tuple(tuple(tuple(m["sum"]) for m in s) for s in steps if self.rules.members)
        referee = {violation.rule for violation in verify(self.instance, moves, sums)}
        if plain & PATH_RULES:
            referee &= PATH_RULES
        if plain != referee:
            self._report(f"plain rules: {plain}, referee: {referee}: {steps}")
        if bounds.accepts_schedule(record) == bool(plain):
            self._report(f"plain rules: {plain}, checker: the opposite: {steps}")
        self.counts["valid schedules compared" if not plain else "invalid ones compared"] += 1

    def _check_axioms(self, schedules: list[list[Step]]) -> None:
        steps = min(map(len, schedules)) + self.rng.choice((0, 1, 1))
        axioms = Axioms(self.record, steps, self.effort.axioms, self.rng)
        self.counts["cut off: cases whose formula is not evaluated"] += axioms.clauses == 0
        for schedule in schedules:
            if len(schedule) <= steps:
                self.counts["payments evaluated"] += axioms.payments
                self.counts["clauses evaluated"] += axioms.clauses
                for axiom in axioms.broken(schedule):
                    self._report(f"{axiom} of {steps} steps is broken by {schedule}")

    def _check_claims(self, schedules: list[list[Step]]) -> None:
        """Check that no claim, and no accepted mutant of its evidence, is above the optimum."""
        for claim, limit in self._claims(schedules):
            self.counts["bounds of finders"] += 1
            if claim.number > limit or claim.shown(claim.evidence) != claim.number:
                self._report(f"{claim} is above {limit}, or refused")
            self.pool.append(claim.evidence)
            others = self.rng.sample(self.pool, min(len(self.pool), 4))
            for other in (*others, *mutants(claim.evidence, others, self.effort.mutants, self.rng)):
                shown = claim.shown(other)
                self.counts["mutants of evidence, and evidence for others"] += 1
                self.counts["accepted ones of these"] += shown is not None
                if shown is not None and shown > limit:
                    self._report(f"{other}, accepted for {shown}, which is above {limit}")

    def _claims(self, schedules: list[list[Step]]) -> Iterator[tuple[bounds.Claim, Fraction]]:
        """Yield the claims of all finders, each with what some schedule attains."""
        fewest = min(map(len, schedules))
        finders = [name for name in bounds.finders() if self.rng.random() < self.effort.finders]
        self.counts["cut off: finders that are not asked"] += len(bounds.finders()) - len(finders)
        for claim in bounds.step_claims(self.record, finders):
            yield claim, Fraction(fewest)
        if self.rules.times or self.rules.slots:
            return  # refutations and rounds per chunk are not for ticks and time slots
        if self.rng.random() < self.effort.refutations:
            for steps in (fewest - 1, fewest):
                if bounds.formula_size(self.record, steps) > self.effort.axioms:
                    self.counts["cut off: refutations, by the size of the formula"] += 1
                elif (refuted := bounds.refutation_claim(self.record, steps)) is not None:
                    yield refuted, Fraction(fewest)
        steps = fewest + self.rng.choice((0, 1))
        for feature in bounds.features():
            for claim, wide in feature.round_claims(self.record, steps):
                whole = bounds.whole_instance(self.record, wide)
                within = [each for each in schedules if wide or len(each) <= steps]
                yield claim, self._fewest_rounds(whole, steps, min(map(self._ratio, within)))

    def _fewest_rounds(self, whole: dict[str, Any], steps: int, ratio: Fraction) -> Fraction:
        """Return the fewest rounds per chunk, of one or two chunks and at most ``steps`` steps.

        Parameters
        ----------
        whole
            The instance without chunks and rounds.
        ratio
            Rounds per chunk that some schedule attains.
        """
        if self.rng.random() > self.effort.rounds:
            return ratio
        for chunks in (1, 2):
            collective, total = {**whole["collective"], "chunks": chunks}, 1
            while Fraction(total, chunks) < ratio:
                for rounds in _compositions(total, steps):
                    model = {**whole["model"], "rounds": rounds}
                    record = {**whole, "collective": collective, "model": model}
                    search = Search(record, self.effort.work)
                    try:
                        if search.can_finish(search.start, 0, len(rounds)):
                            ratio = Fraction(total, chunks)
                            break
                    except TooLargeError:
                        self.counts["cut off: fewest rounds not known, by work"] += 1
                        return ratio
                total += 1
        self.counts["fewest rounds of one and two chunks"] += 1
        return ratio

    def _ratio(self, schedule: list[Step]) -> Fraction:
        """Return the rounds per chunk of a schedule."""
        chunks = self.record["collective"].get("chunks", 1)
        return Fraction(sum(map(self.rules.rounds_in, range(len(schedule)))), chunks)

    def _report(self, text: str) -> None:
        self.wrong.append(f"{text}\n  of {self.record}")


def examine(cases: Iterator[Case], effort: Effort) -> tuple[Counter[str], list[str]]:
    """Return the counts and the disagreements of many cases."""
    counts, wrong, pool = Counter[str](), list[str](), list[dict[str, Any]]()
    for case in cases:
        examination = Examination(case, effort, pool)
        examination.run()
        counts.update(examination.counts)
        wrong += examination.wrong
        del pool[:-POOL]
    return counts, wrong


def _compositions(total: int, parts: int) -> Iterator[list[int]]:
    """Yield the lists of at most this many positive numbers with this total."""
    if total == 0:
        yield []
    elif parts > 0:
        for first in range(1, total + 1):
            for rest in _compositions(total - first, parts - 1):
                yield [first, *rest]
