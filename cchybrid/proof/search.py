"""The search for a proof that a schedule has the fewest steps, from cheap to strong evidence.

1. The bound providers, first over any routes, then over those of the instance; each for at most
   half of the remaining time.
2. The time-expanded relaxation (``farkas``), for at most half of the remaining time.
3. CaDiCaL on the propositional formula (``refutation``). It may find a shorter schedule instead.

The last two are not for time slots, nor for sums.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from cchybrid.checker import EvidenceError
from cchybrid.checker.certificate import ANY_ROUTING, own_scope, prove
from cchybrid.checker.instance import Network
from cchybrid.model import Instance, Steps
from cchybrid.proof import cadical
from cchybrid.proof.farkas import refute as refute_by_rows
from cchybrid.proof.lrat import ProofError
from cchybrid.proof.provider_process import ask_apart
from cchybrid.proof.records import BoundInfo
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
    providers: Sequence[BoundInfo] = (),
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
    providers
        The bound providers to ask first, then the relaxation, then CaDiCaL. Without any, CaDiCaL
        comes before the relaxation, as in a run whose providers have been asked.
    """
    deadline = time.monotonic() + seconds
    abandoned = threading.Event()

    def is_over() -> bool:
        return abandoned.is_set() or time.monotonic() > deadline or should_stop()

    providers = [info for info in providers if info.in_prove]
    search = _Search(instance, record, steps, providers, deadline, is_over, report)
    interrupted = False
    try:
        if not run_in_thread(search.run, is_over):
            search.tried[""] = f"{search.doing}: not finished"
    except KeyboardInterrupt:
        interrupted = True
    abandoned.set()  # the abandoned thread ends its solver, too
    return Outcome(search.best, search.shorter, tuple(search.tried.values()), interrupted)


@dataclass
class _Search:
    """One search: the best proof so far, and the lines about its attempts."""

    instance: Instance
    record: Mapping[str, Any]
    steps: int
    providers: Sequence[BoundInfo]
    deadline: float
    is_late: Callable[[], bool]
    report: Callable[[str], None]
    best: Proof | None = None
    shorter: Steps | None = None
    tried: dict[str, str] = field(default_factory=dict)
    """Lines by their beginning: what, and the result for the instance or for any routes."""
    doing: str = "bounds"

    def run(self) -> None:
        attempts = [self._by_refutation, self._by_rows]
        if self.providers:
            self._by_bounds()
            attempts.reverse()
        own = self.instance
        for attempt in [] if own.collective.with_sums or own.horizon != "steps" else attempts:
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
        self.tried[text.partition(":")[0]] = text
        self.report(text)

    def _keep(self, steps: int, evidence: Mapping[str, Any]) -> str:
        """Keep evidence that is better, with the widest scope in which it holds.

        Return why it proves too little, or "".
        """
        refusal = ""
        for scope in dict.fromkeys((ANY_ROUTING, own_scope(self.record))):
            try:
                shown = prove(self.record, evidence, scope)
            except EvidenceError as error:
                refusal = str(error)
                continue
            if shown >= steps:
                if self.best is None or steps > self.best.steps:
                    self.best = Proof(shown, scope, evidence)
                return ""
            refusal = f"it shows {shown} steps, not {steps}"
        return refusal

    def _by_bounds(self) -> None:
        own = self.instance
        free = replace(own, model=replace(own.model, routing="any"))
        shown: dict[str, int] = {}
        for instance, info in product(dict.fromkeys((free, own)), self.providers):
            if self._is_over():
                return
            self._ask(info, instance, shown)

    def _ask(self, info: BoundInfo, instance: Instance, shown: dict[str, int]) -> None:
        """Ask a provider about an instance, for at most half of the time that is left."""
        self.doing = info.name
        end = time.monotonic() + self._left() / 2
        remarks: list[str] = []

        def is_over() -> bool:
            return time.monotonic() > end or self._is_over()

        for bound in ask_apart(info, instance, is_over, remarks.append):
            refusal = self._keep(bound.steps, bound.evidence)
            if refusal:
                remarks.append(f"bound {info.name}: evidence refused: {refusal}")
                break
            shown[info.name] = max(bound.steps, shown.get(info.name, 0))
        if time.monotonic() > end:
            remarks.append(f"{info.name}: not finished")
        if info.name in shown:
            remarks.insert(0, f"{info.name}: {shown[info.name]}")
        if remarks:
            self._record("; ".join(remarks))

    def _by_rows(self) -> None:
        self._start_attempt("solving the time-expanded relaxation")
        # At most half of the time: it either ends soon or is too large.
        evidence = refute_by_rows(self.record, self.steps - 1, MAX_TERMS, self._left() / 2)
        if evidence is None:
            self._record(f"farkas: does not refute {self.steps - 1} steps, or is too large")
        else:
            self._record(f"farkas: {self._keep(self.steps, evidence) or self.steps}")

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
            self._record(f"refutation: {self._keep(self.steps, found.evidence) or self.steps}")
