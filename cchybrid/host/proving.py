"""Proving, checking and verifying schedules: the functions behind the commands of these names."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cchybrid.checker import EvidenceError, Verdict, certificate
from cchybrid.checker import check as check_records
from cchybrid.host.versions import versions
from cchybrid.model import Schedule
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import read_text, write_text
from cchybrid.model.json_fields import parse_json
from cchybrid.proof.search import find_proof
from cchybrid.referee.verify import Violation, refuse_invalid, verify_schedule

MAX_SECONDS = float(1 << 40)


@dataclass(frozen=True)
class Proof:
    """What ``prove`` found.

    Attributes
    ----------
    schedule
        The schedule.
    verdict
        The best bound that was proven, and its scope; ``None`` if none was.
    certificate
        The ``cchybrid-certificate/1`` object of that bound, or ``None``.
    shorter
        A shorter schedule, verified, if the search met one.
    tried
        One line for each kind of proof that was tried.
    seconds
        Wall-clock seconds.
    interrupted
        Whether the user interrupted the search.
    """

    schedule: Schedule
    verdict: Verdict | None
    certificate: Mapping[str, Any] | None
    shorter: Schedule | None
    tried: tuple[str, ...]
    seconds: float
    interrupted: bool

    @property
    def optimal(self) -> bool:
        """Whether no schedule has fewer steps."""
        return self.verdict is not None and self.verdict.optimal

    def save(self, path: str | Path) -> None:
        """Write the certificate to a file, which ``check`` accepts.

        Raises
        ------
        InputError
            There is no certificate, or the file cannot be written.
        """
        if self.certificate is None:
            raise InputError(
                "nothing was proven", where=self.schedule.instance.name, hint="allow more time"
            )
        write_text(json.dumps(self.certificate, separators=(",", ":")) + "\n", Path(path))

    def __str__(self) -> str:
        name, steps = self.schedule.instance.name, len(self.schedule.steps)
        if self.verdict is None:
            return f"{name}: {steps} steps, nothing proven ({self.seconds:.1f} s)"
        return verdict_line(name, self.verdict)


def verdict_line(name: str, verdict: Verdict) -> str:
    """Return a verdict as a sentence, with the scope of the claim."""
    word = "optimal (certified)" if verdict.optimal else f"at least {verdict.bound} are needed"
    if verdict.scope == "these paths":
        word = f"at least {verdict.bound} are needed over the paths listed in the certificate"
    return f"{name}: valid, {verdict.steps} steps, {word}; scope: {verdict.scope}; {verdict.kind}"


def verify(schedule: Schedule | str | Path) -> tuple[Violation, ...]:
    """Return every violation of the rules in a schedule; it is valid when there is none.

    Parameters
    ----------
    schedule
        A schedule, or its file.

    Examples
    --------
    >>> import cchybrid
    >>> result = cchybrid.solve(cchybrid.instance("ring-bi-4", "AAS"))
    >>> cchybrid.verify(result.schedule)
    ()
    """
    return verify_schedule(_read(schedule)[1])


def prove(
    schedule: Schedule | str | Path,
    *,
    time_limit: float = 600.0,
    report: Callable[[str], object] = lambda text: None,
) -> Proof:
    """Prove that no schedule has fewer steps, as far as the time allows.

    Parameters
    ----------
    schedule
        A valid schedule, or its file.
    time_limit
        Wall-clock seconds.
    report
        Called with what is tried at the moment, in words.

    Raises
    ------
    InputError
        The schedule is not valid, or cannot be read.

    Examples
    --------
    >>> import cchybrid
    >>> result = cchybrid.solve(cchybrid.instance("ring-bi-4", "AAS"))
    >>> proof = cchybrid.prove(result.schedule, time_limit=60)
    >>> proof.optimal, proof.verdict.scope
    (True, 'any routing')
    >>> cchybrid.check(result.schedule, proof.certificate).optimal
    True
    """
    start = time.monotonic()
    if isinstance(time_limit, bool) or not 0 < time_limit < MAX_SECONDS:
        raise InputError(f"{time_limit!r} seconds", where="time_limit", hint="use a number above 0")
    record, read = _read(schedule)
    refuse_invalid(read, "" if isinstance(schedule, Schedule) else schedule)
    left = time_limit - (time.monotonic() - start)
    outcome = find_proof(read.instance, record["instance"], len(read.steps), left, report=report)
    seconds = round(time.monotonic() - start, 3)
    shorter = None
    if outcome.shorter is not None:
        shorter = Schedule(read.instance, outcome.shorter)
        refuse_invalid(shorter, "the shorter schedule")
    verdict, found = None, None
    if outcome.proof is not None:
        proof = outcome.proof
        made_by = {"version": versions()["cchybrid"], "seconds": seconds}
        found = certificate(
            record["instance"], proof.steps, proof.scope, proof.evidence, made_by, proof.paths
        )
        # The search has checked the evidence already.
        verdict = Verdict(len(read.steps), proof.steps, proof.scope, str(proof.evidence["kind"]))
    return Proof(read, verdict, found, shorter, tuple(outcome.tried), seconds, outcome.interrupted)


def check(schedule: Schedule | str | Path, certificate: Mapping[str, Any] | str | Path) -> Verdict:
    """Check a schedule and its certificate, as the independent checker and the referee do.

    Parameters
    ----------
    schedule
        A schedule, or its file.
    certificate
        A certificate, as ``prove`` returns it, or its file.

    Returns
    -------
    Verdict
        Steps of the schedule, the proven bound, its scope and the kind of its evidence.

    Raises
    ------
    EvidenceError
        The schedule is not valid, or the claim is not proven.
    InputError
        A file cannot be read.

    Examples
    --------
    >>> import cchybrid
    >>> result = cchybrid.solve(cchybrid.instance("ring-bi-4", "AAS"))
    >>> proof = cchybrid.prove(result.schedule, time_limit=60)
    >>> cchybrid.check(result.schedule, proof.certificate).kind
    'cut'
    """
    record, read = _read(schedule)
    claim = certificate if isinstance(certificate, Mapping) else _load(certificate, "certificate")
    verdict = check_records(record, claim)
    violations = verify_schedule(read)
    if violations:
        raise EvidenceError(f"the referee refuses the schedule: {violations[0].text}")
    return verdict


def _read(schedule: Any) -> tuple[Mapping[str, Any], Schedule]:
    """Return a schedule and its JSON object; that of a file as it was written."""
    if isinstance(schedule, Schedule):
        return schedule.to_json(), schedule
    record = _load(schedule, "schedule")
    with with_context(schedule):
        return record, Schedule.from_json(record)


def _load(path: Any, what: str) -> Any:
    if not isinstance(path, str | Path):
        raise InputError(
            f"a {type(path).__name__} is no {what}", where=what, hint=f"give a {what} or its file"
        )
    with with_context(path):
        return parse_json(read_text(path))
