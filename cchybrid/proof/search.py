"""The search for a proof that a schedule has the fewest steps, from cheap to strong evidence.

1. Bounds that are found quickly, first over any routes, then over those of the instance.
2. The time-expanded relaxation (``farkas``), for at most half of the remaining time.
3. CaDiCaL on the propositional formula (``refutation``). It may find a shorter schedule instead.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from cchybrid.checker import EvidenceError
from cchybrid.checker.certificate import ANY_ROUTING, own_scope, prove
from cchybrid.checker.instance import Network
from cchybrid.model import Instance, LowerBound, Steps
from cchybrid.proof import BOUNDS, cadical
from cchybrid.proof.farkas import refute as refute_by_rows
from cchybrid.proof.lrat import ProofError
from cchybrid.proof.records import load_target
from cchybrid.proof.refutation import refute
from cchybrid.system.background import run_in_thread

MAX_TERMS = 3_000_000
"""Terms of all rows above which the relaxation is not solved: it would take minutes."""


@dataclass(frozen=True)
class Proof:
    """A lower bound with evidence that the checker accepts.

    Parameters
    ----------
    steps
        The lower bound.
    scope
        The schedules for which it holds.
    evidence
        The evidence.
    """

    steps: int
    scope: str
    evidence: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """The outcome of the search for a proof.

    Attributes
    ----------
    proof
        The best proof, or ``None``.
    shorter
        A shorter schedule, if one was found.
    tried
        One line for each kind of evidence: its result.
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
    report: Callable[[str], None] = lambda text: None,
    cheap: bool = True,
) -> Outcome:
    """Search for a proof that no schedule has fewer than ``steps`` steps.

    Parameters
    ----------
    instance, record
        The instance, and its JSON object as in the file.
    steps
        The lower bound to prove.
    seconds
        Time limit; an unfinished computation is abandoned.
    should_stop
        Whether to stop; called some twenty times a second.
    report
        Called with each line of ``Outcome.tried``, and with each attempt when it starts.
    cheap
        Whether to try the cheap bounds and the relaxation before CaDiCaL; otherwise CaDiCaL comes
        first, as in a run whose bound providers have tried the others.
    """
    deadline = time.monotonic() + seconds
    abandoned = threading.Event()

    def is_over() -> bool:
        return abandoned.is_set() or time.monotonic() > deadline or should_stop()

    search = _Search(instance, record, steps, deadline, is_over, report)
    interrupted = False
    try:
        if not run_in_thread(lambda: search.run(cheap), is_over):
            search.tried.append(f"{search.doing}: not finished")
    except KeyboardInterrupt:
        interrupted = True
    abandoned.set()  # the abandoned thread ends its solver, too
    return Outcome(search.best, search.shorter, tuple(search.tried), interrupted)


@dataclass
class _Search:
    """One search: the best proof so far, and the lines about its attempts."""

    instance: Instance
    record: Mapping[str, Any]
    steps: int
    deadline: float
    is_late: Callable[[], bool]
    report: Callable[[str], None]
    best: Proof | None = None
    shorter: Steps | None = None
    tried: list[str] = field(default_factory=list)
    doing: str = "cheap bounds"

    def run(self, cheap: bool) -> None:
        tried = [self._by_refutation, self._by_rows]
        if cheap:
            self._by_bounds()
            tried.reverse()
        for attempt in tried:
            if not self._is_over():
                attempt()

    def _is_over(self) -> bool:
        found = self.best is not None and self.best.steps >= self.steps
        return found or self.shorter is not None or self.is_late()

    def _left(self) -> float:
        return self.deadline - time.monotonic()

    def _start_attempt(self, text: str) -> None:
        self.doing = text
        self.report(text)

    def _record(self, text: str) -> None:
        self.tried.append(text)
        self.report(text)

    def _keep(self, steps: int, evidence: Mapping[str, Any]) -> None:
        """Keep the evidence if it is better, with the widest scope in which it holds."""
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
        own = self.instance.forward.widest
        free = replace(own, model=replace(own.model, routing="any"))
        found: dict[str, int] = {}
        for name, bound in _bounds([free, own], self._is_over):
            self._keep(bound.steps, bound.evidence)
            found[name] = max(bound.steps, found.get(name, 0))
        for name, shown in found.items():
            self._record(f"{name}: {shown}")

    def _by_rows(self) -> None:
        self._start_attempt("solving the time-expanded relaxation")
        # At most half of the time: it either ends soon or is too large.
        evidence = refute_by_rows(self.record, self.steps - 1, MAX_TERMS, self._left() / 2)
        if evidence is None:
            self._record(f"farkas: does not refute {self.steps - 1} steps, or is too large")
        else:
            self._keep(self.steps, evidence)
            self._record(f"farkas: {self.steps}")

    def _by_refutation(self) -> None:
        if not cadical.is_installed():
            self._record("refutation: needs python-sat; install cchybrid[prove]")
            return
        try:
            self._decide()
        except (EvidenceError, ProofError, MemoryError) as error:
            self._record(f"refutation: {error or 'out of memory'}")

    def _decide(self) -> None:
        less = self.steps - 1
        self._start_attempt(f"CaDiCaL decides {less} steps")
        found = refute(Network(dict(self.record)), less, self._left(), self.is_late)
        if found.shorter is not None:
            self.shorter = found.shorter
            self._record(f"refutation: no, there is a schedule of {len(found.shorter)} steps")
        elif found.evidence is None:
            self._record(f"refutation of {less} steps: {found.too_large or 'not found in time'}")
        else:
            self._keep(self.steps, found.evidence)
            self._record(f"refutation: {self.steps}")


def _bounds(
    instances: list[Instance], is_over: Callable[[], bool]
) -> Iterator[tuple[str, LowerBound]]:
    """Yield the bounds of the cheap providers, with their names, until it is over."""
    cheap = [info for info in BOUNDS if info.name != "farkas"]
    for instance, info in product(dict.fromkeys(instances), cheap):
        for bound in load_target(info.target)(instance):
            yield info.name, bound
            if is_over():
                return
        if is_over():
            return
