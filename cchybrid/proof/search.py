"""The search for a proof that a schedule has the fewest steps: kinds from cheap to strong.

First the bounds whose evidence is found in a moment, over any routes and then over the instance's
own; then the time-expanded relaxation; at last CaDiCaL on the propositional formula, where it may
also turn out that there is a shorter schedule.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from cchybrid.checker import EvidenceError
from cchybrid.checker.certificate import ANY_ROUTING, THESE_PATHS, own_scope, prove
from cchybrid.checker.instance import Network
from cchybrid.model import Instance, LowerBound, Steps
from cchybrid.problem import Problem, build_problem
from cchybrid.proof import BOUNDS, cadical
from cchybrid.proof.farkas import refute as refute_by_rows
from cchybrid.proof.lrat import ProofError
from cchybrid.proof.records import load_target
from cchybrid.proof.refutation import Refutation, refute
from cchybrid.system.background import run_in_thread

MAX_TERMS = 3_000_000
"""Terms of all rows beyond which the relaxation is not solved: it would take minutes."""


@dataclass(frozen=True)
class Proof:
    """A number of steps that no schedule within the scope beats, and why: the checker accepts it.

    ``paths`` lists what the scope is restricted to, where it is.
    """

    steps: int
    scope: str
    evidence: Mapping[str, Any]
    paths: list[list[int]] | None = None


@dataclass(frozen=True)
class Outcome:
    """What the search for a proof came to.

    Attributes
    ----------
    proof
        The best one found; ``None`` if not even one step was shown to be needed.
    shorter
        A shorter schedule, if one was met on the way.
    tried
        One line for each kind: what came of it.
    interrupted
        Whether Ctrl-C ended the search.
    """

    proof: Proof | None
    shorter: Steps | None
    tried: tuple[str, ...]
    interrupted: bool = False


def find_proof(
    instance: Instance,
    record: Mapping[str, Any],
    steps: int,
    seconds: float,
    should_stop: Callable[[], bool] = lambda: False,
    tell: Callable[[str], None] = lambda text: None,
    cheap: bool = True,
) -> Outcome:
    """Look for a proof that no schedule has fewer than so many steps.

    Parameters
    ----------
    instance, record
        The instance, and its JSON object as it stands in the file.
    seconds
        Time for all of it; what is at work then is left behind.
    should_stop
        Asked some twenty times a second.
    tell
        Told each line of ``Outcome.tried`` when it is known, and what is tried next.
    cheap
        Whether to begin with the cheap kinds of bounds, and rows of the relaxation; else clauses
        come first, since whoever asks has tried the others.
    """
    deadline = time.monotonic() + seconds
    left = threading.Event()

    def is_over() -> bool:
        return left.is_set() or time.monotonic() > deadline or should_stop()

    search = _Search(instance, record, steps, deadline, is_over, tell)
    interrupted = False
    try:
        if not run_in_thread(lambda: search.run(cheap), is_over):
            search.tried.append(f"{search.doing}: not finished")
    except KeyboardInterrupt:
        interrupted = True
    left.set()  # what is left behind ends its solver, too
    return Outcome(search.best, search.shorter, tuple(search.tried), interrupted)


@dataclass
class _Search:
    """One search: the best proof so far, and what has been tried."""

    instance: Instance
    record: Mapping[str, Any]
    steps: int
    deadline: float
    is_late: Callable[[], bool]
    tell: Callable[[str], None]
    best: Proof | None = None
    shorter: Steps | None = None
    tried: list[str] = field(default_factory=list)
    doing: str = "cheap bounds"

    def run(self, cheap: bool) -> None:
        attempts = [self._by_refutation, self._by_rows]
        if cheap:
            self._by_bounds()
            attempts.reverse()
        for attempt in attempts:
            if not self._is_over():
                attempt()

    def _is_over(self) -> bool:
        found = self.best is not None and self.best.steps >= self.steps
        return found or self.shorter is not None or self.is_late()

    def _left(self) -> float:
        return self.deadline - time.monotonic()

    def _begin(self, text: str) -> None:
        self.doing = text
        self.tell(text)

    def _note(self, text: str) -> None:
        self.tried.append(text)
        self.tell(text)

    def _take(self, steps: int, evidence: Mapping[str, Any]) -> None:
        """Keep the evidence if it is better; the widest scope in which it holds is its scope."""
        if self.best is not None and steps <= self.best.steps:
            return
        for scope in dict.fromkeys((ANY_ROUTING, own_scope(self.record))):
            try:
                shown = prove(self.record, evidence, scope)
            except EvidenceError:
                continue
            if shown >= steps:
                self.best = Proof(shown, scope, evidence)
                return

    def _by_bounds(self) -> None:
        own = self.instance.forward
        free = replace(own, model=replace(own.model, routing="any"))
        found: dict[str, int] = {}
        for name, bound in _bounds([free, own], self._is_over):
            self._take(bound.steps, bound.evidence)
            found[name] = max(bound.steps, found.get(name, 0))
        for name, shown in found.items():
            self._note(f"{name}: {shown}")

    def _by_rows(self) -> None:
        self._begin("solving the time-expanded relaxation")
        # Half of the time at most: it either ends soon or is too large.
        evidence = refute_by_rows(self.record, self.steps - 1, MAX_TERMS, self._left() / 2)
        if evidence is None:
            self._note(f"farkas: does not refute {self.steps - 1} steps, or is too large")
        else:
            self._take(self.steps, evidence)
            self._note(f"farkas: {self.steps}")

    def _by_refutation(self) -> None:
        if not cadical.is_installed():
            self._note("refutation: needs python-sat; install cchybrid[prove]")
            return
        try:
            self._decide()
        except (EvidenceError, ProofError, MemoryError) as error:
            self._note(f"refutation: {error or 'out of memory'}")

    def _decide(self) -> None:
        self._begin(f"CaDiCaL decides {self.steps - 1} steps")
        network, paths = Network(dict(self.record)), None
        found = refute(network, self.steps - 1, self._left(), self.is_late)
        if found.too_large is not None:
            self._note(f"refutation over all paths: {found.too_large}")
            problem = build_problem(self.instance)
            if problem.complete:
                return
            paths = _paths_of(problem)
            network.listed = [tuple(path) for path in paths]
            if network.backwards:
                network.listed = [path[::-1] for path in network.listed]
            self._begin(f"CaDiCaL decides {self.steps - 1} steps over {len(paths)} paths")
            found = refute(network, self.steps - 1, self._left(), self.is_late)
        self._weigh(found, paths)

    def _weigh(self, found: Refutation, paths: list[list[int]] | None) -> None:
        less = self.steps - 1
        if found.shorter is not None:
            self.shorter = found.shorter
            self._note(f"refutation: no, there is a schedule of {len(found.shorter)} steps")
        elif found.evidence is None:
            self._note(f"refutation of {less} steps: {found.too_large or 'not found in time'}")
        elif paths is None:
            self._take(self.steps, found.evidence)
            self._note(f"refutation: {self.steps}")
        else:
            shown = prove(self.record, found.evidence, THESE_PATHS, paths)
            self.best = Proof(shown, THESE_PATHS, found.evidence, paths)
            self._note(f"refutation: {self.steps} over {len(paths)} of the allowed paths")


def _bounds(
    instances: list[Instance], is_over: Callable[[], bool]
) -> Iterator[tuple[str, LowerBound]]:
    """Yield what the cheap providers find, each with its name, until it is over."""
    cheap = [info for info in BOUNDS if info.name != "farkas"]
    for instance, info in product(dict.fromkeys(instances), cheap):
        for bound in load_target(info.target)(instance):
            yield info.name, bound
            if is_over():
                return
        if is_over():
            return


def _paths_of(problem: Problem) -> list[list[int]]:
    """Return the nodes of every path of the pool, in the user's direction."""
    structure = problem.structure
    assert structure is not None
    paths = [list(path) for path in structure.paths]
    if problem.origin.instance.collective.kind == "combine":
        paths = [path[::-1] for path in paths]
    return paths
