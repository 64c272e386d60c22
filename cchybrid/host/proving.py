"""Schedules verified, proven optimal and checked, in Python: ``verify``, ``prove``, ``check``."""

import json
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cchybrid.checker import EvidenceError, RoundsVerdict, Verdict
from cchybrid.checker import check as check_records
from cchybrid.checker.refutation import proof_lines
from cchybrid.host import certificates
from cchybrid.host.arguments import read_seconds
from cchybrid.host.run_result import RunResult
from cchybrid.host.versions import versions
from cchybrid.model import Schedule, Steps
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import read_json, write_text
from cchybrid.model.shown import counted
from cchybrid.model.text import described
from cchybrid.plugin.registry import Registry, load_registry
from cchybrid.proof.search import find_proof
from cchybrid.referee.verify import Violation, refuse_invalid, verify_schedule
from cchybrid.referee.verify import verify as verify_steps

DEFAULT_PROOF_SECONDS = 600.0
VERIFIED_CHECKER = Path(__file__).parents[2] / "build" / "verified-checker"
"""The program that ``make verified-checker`` builds from the proofs in ``checker/proofs``."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ProofResult(RunResult):
    """The result of ``prove``; further attributes as in ``RunResult``.

    Attributes
    ----------
    schedule
        The schedule, which is valid.
    verdict
        The lower bound that was proven, its scope and the kind of its evidence, or ``None``.
    certificate
        The certificate of this bound as a JSON object (``cchybrid-certificate/1``), or ``None``.
    shorter
        A shorter schedule, if one was found, or ``None``.
    tried
        One line for each kind of evidence: its result.
    """

    schedule: Schedule
    verdict: Verdict | None
    certificate: Mapping[str, Any] | None
    shorter: Schedule | None
    tried: tuple[str, ...]

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no schedule has fewer steps."""
        return self.verdict is not None and self.verdict.optimal

    @property
    def sentence(self) -> str:
        """The verdict in one line: the steps, and how many are proven."""
        bound = 1 if self.verdict is None else self.verdict.bound
        word = "proven optimal" if self.optimal else f"at least {bound} are proven"
        steps = counted(len(self.schedule.steps), "step")
        return f"{self.schedule.instance.full_name!r}: {steps}, {word}"

    def details(self) -> list[str]:
        """Return the result of each kind of evidence, and a shorter schedule that was found."""
        lines = [f"  {line}" for line in self.tried]
        if self.shorter is not None:
            fewer = len(self.shorter.steps)
            lines.append(
                f"{self.schedule.instance.full_name}: not optimal, there is a schedule of {fewer} "
                f"steps; find it with: cchybrid solve --steps {fewer}"
            )
        return lines

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object, without the certificate."""
        return {
            "instance": self.schedule.instance.full_name,
            "steps": len(self.schedule.steps),
            "optimal": self.optimal,
            "shorter": None if self.shorter is None else len(self.shorter.steps),
            "tried": list(self.tried),
            **super().to_json(),
        }

    def save(self, path: str | Path) -> None:
        """Write the certificate as a ``cchybrid-certificate/1`` file.

        Raises
        ------
        InputError
            There is none, or the file cannot be written.
        """
        if self.certificate is None:
            raise InputError(
                "no bound was proven, so there is no certificate", hint="give prove more time"
            )
        write_text(json.dumps(self.certificate, separators=(",", ":")) + "\n", path)


def verify(schedule: Schedule | str | Path) -> tuple[Violation, ...]:
    """Return every violation of the rules in a schedule; a valid one has none.

    Parameters
    ----------
    schedule
        A schedule, or its file.

    Raises
    ------
    InputError
        The file is no schedule.

    Examples
    --------
    >>> import cchybrid
    >>> schedule = cchybrid.solve("mesh-3x3", "broadcast", time_limit=20).schedule
    >>> cchybrid.verify(schedule)
    ()
    >>> cut_short = cchybrid.Schedule(schedule.instance, schedule.steps[:-1])
    >>> {violation.rule for violation in cchybrid.verify(cut_short)}
    {'missing-destination'}
    """
    return verify_schedule(_read_schedule(schedule)[1])


def prove(
    schedule: Schedule | str | Path,
    *,
    time_limit: float = DEFAULT_PROOF_SECONDS,
    stop: Callable[[], object] | None = None,
    report: Callable[[str], None] | None = None,
    registry: Registry | None = None,
) -> ProofResult:
    """Search for a proof that no schedule has fewer steps.

    Parameters
    ----------
    schedule
        A valid schedule, or its file.
    time_limit
        Wall-clock seconds.
    stop
        Called some twenty times a second; a true value ends the search.
    report
        Called with a line for each attempt, and for its result.
    registry
        The plugins to use, if they are loaded already.

    Raises
    ------
    InputError
        The schedule is not valid, or the time limit is no number above 0.

    Examples
    --------
    >>> import cchybrid
    >>> schedule = cchybrid.solve("mesh-3x3", "allgather", time_limit=20).schedule
    >>> proof = cchybrid.prove(schedule, time_limit=20)
    >>> proof.optimal, proof.verdict.bound
    (True, 4)
    >>> cchybrid.check(schedule, proof.certificate).optimal
    True
    """
    started = time.monotonic()
    read_seconds(time_limit, required=True)
    record, read = _read_schedule(schedule)
    refuse_invalid(read, "" if isinstance(schedule, Schedule) else schedule)
    left = time_limit - (time.monotonic() - started)
    registry = load_registry() if registry is None else registry
    outcome = find_proof(
        read.instance,
        record["instance"],
        len(read.steps),
        left,
        should_stop=lambda: stop is not None and bool(stop()),
        report=report or (lambda text: None),
        providers=registry.bound_providers,
    )
    seconds = round(time.monotonic() - started, 3)
    verdict, found = None, None
    if outcome.proof is not None:
        proof = outcome.proof
        made_by = {"version": versions()["cchybrid"], "seconds": seconds}
        claim = {"steps": proof.steps, "scope": proof.scope}
        found = certificates.certificate(record["instance"], claim, proof.evidence, made_by)
        # The search has checked the evidence already.
        verdict = Verdict(len(read.steps), proof.steps, proof.scope, str(proof.evidence["kind"]))
    return ProofResult(
        schedule=read,
        verdict=verdict,
        certificate=found,
        shorter=_shorter(read, outcome.shorter),
        tried=outcome.tried,
        seconds=seconds,
        budget={"seconds": time_limit},
        versions=versions(),
        interrupted=outcome.interrupted,
    )


def _shorter(read: Schedule, steps: Steps | None) -> Schedule | None:
    if steps is None:
        return None
    if verify_steps(read.instance, steps):
        raise InputError("the shorter schedule is not valid", hint="report this defect")
    return Schedule(read.instance, steps)


def check(
    schedule: Schedule | str | Path, certificate: Mapping[str, Any] | ProofResult | str | Path
) -> Verdict | RoundsVerdict:
    """Check a schedule and its certificate by the independent checker and the referee.

    Parameters
    ----------
    schedule
        A schedule, or its file.
    certificate
        The certificate as a JSON object, its file, or the result of ``prove``.

    Returns
    -------
    Verdict or RoundsVerdict
        The steps of the schedule; the bound, its scope and the kind of its evidence. The second
        for a certificate about rounds.

    Raises
    ------
    EvidenceError
        The schedule is not valid, or the claim is not proven; the error says why.
    InputError
        A file is of another kind.

    Examples
    --------
    >>> import cchybrid
    >>> schedule = cchybrid.solve("mesh-3x3", "broadcast", time_limit=20).schedule
    >>> cchybrid.check(schedule, cchybrid.prove(schedule, time_limit=20)).bound
    2
    """
    record, read = _read_schedule(schedule)
    claim: Any = certificate
    if isinstance(certificate, (str, Path)):
        claim = read_json(certificate)
    elif isinstance(certificate, ProofResult):
        claim = certificate.certificate
    if not isinstance(claim, Mapping):
        raise InputError(
            f"{described(claim)} is no certificate",
            where="certificate",
            hint="give one of cchybrid.prove, or the name of its file",
        )
    verdict = check_records(record, claim)
    violations = verify_schedule(read)
    if violations:
        raise EvidenceError(f"the referee refuses the schedule: {violations[0].text}")
    return verdict


def check_verified(schedule: Path, certificate: Path, verdict: Verdict | RoundsVerdict) -> None:
    """Check two files by the program extracted from the Coq proof; ``check`` gave the verdict.

    Raises
    ------
    EvidenceError
        The program does not give the same verdict.
    InputError
        It is not built, cannot read the files, or no theorem covers them.
    """
    try:
        with TemporaryDirectory() as folder:
            copy = Path(folder) / "certificate.json"
            copy.write_text(json.dumps(with_text(read_json(certificate))))
            command = [VERIFIED_CHECKER, schedule, copy]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError:
        raise InputError(
            f"there is no program {VERIFIED_CHECKER}",
            where="--verified",
            hint="build it by make verified-checker in a clone of cchybrid",
        ) from None
    answer = done.stdout.strip() or f"ended with status {done.returncode}"
    if done.returncode not in (0, 1):
        raise InputError(answer, where="--verified", hint="leave the option out")
    if (done.returncode, answer) != (0, verdict.sentence):
        raise EvidenceError(f"the verified checker: {answer}")


def with_text(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a certificate, or evidence, with the text of its proof, if any, unpacked."""
    found = dict(record)
    if isinstance(found.get("evidence"), Mapping):
        found["evidence"] = with_text(found["evidence"])
    if "proof" in found:
        found["proof"] = "\n".join(proof_lines(found["proof"]))
    return found


def _read_schedule(source: Any) -> tuple[Mapping[str, Any], Schedule]:
    """Return the JSON object of a schedule, as it is in its file, and the schedule."""
    if isinstance(source, Schedule):
        return source.to_json(), source
    if not isinstance(source, (str, Path)):
        raise InputError(
            f"{described(source)} is no schedule",
            where="schedule",
            hint="give one, such as the schedule of a Result, or the name of its file",
        )
    record = read_json(source)
    with with_context(source):
        return record, Schedule.from_json(record)
