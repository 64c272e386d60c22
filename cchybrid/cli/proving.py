"""``prove`` and ``check``: certificates that a schedule has the fewest steps."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cchybrid.cli import arguments
from cchybrid.cli.schedules import ScheduleFile, refuse_invalid
from cchybrid.cli.solving import check_writable
from cchybrid.model.errors import InputError, with_context

CheckedFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A cchybrid-schedule/1 file, or a cchybrid-throughput/1 file alone.",
        show_default=False,
    ),
]
CertificateFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="CERTIFICATE",
        help="The cchybrid-certificate/1 file of the schedule.",
        show_default=False,
    ),
]


def prove(
    schedule: ScheduleFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Default: beside it, NAME.certificate.json."
        ),
    ] = None,
    time_limit: Annotated[float, typer.Option(metavar="SEC", help="Seconds in all.")] = 600.0,
    as_json: arguments.AsJson = False,
) -> None:
    """Prove that no schedule has fewer steps, and write a certificate that check accepts.

    Exit status: 0 the schedule is proven optimal, 1 it is not (a certificate of the best bound is
    written nevertheless), 2 bad input.
    """
    begun = time.monotonic()
    from cchybrid.checker import Verdict, certificate
    from cchybrid.host.versions import versions
    from cchybrid.model.instance import write_text
    from cchybrid.proof.search import find_proof
    from cchybrid.referee.verify import verify
    from cchybrid.system.background import avoid_full_collections

    avoid_full_collections()
    if not time_limit > 0:
        raise InputError(
            f"{time_limit:g} seconds", where="--time-limit", hint="use a number above 0"
        )
    check_writable(output)
    record, read = _load_schedule(schedule)
    refuse_invalid(read, schedule)
    target = output or schedule.with_name(f"{schedule.stem}.certificate.json")
    if target.exists() and target.samefile(schedule):
        raise InputError("this is the schedule", where=f"-o {output}", hint="name another file")
    with _status(f"proving {read.instance.name}") as tell:
        left = time_limit - (time.monotonic() - begun)
        outcome = find_proof(read.instance, record["instance"], len(read.steps), left, report=tell)
    seconds = round(time.monotonic() - begun, 3)
    proof, shorter = outcome.proof, outcome.shorter
    if shorter is not None and verify(read.instance, shorter):
        raise InputError("the shorter schedule is not valid", hint="report this defect")
    verdict = None
    if proof is not None:
        made_by = {"version": versions()["cchybrid"], "seconds": seconds}
        found = certificate(
            record["instance"], proof.steps, proof.scope, proof.evidence, made_by, proof.paths
        )
        # The search has checked the evidence already.
        verdict = Verdict(len(read.steps), proof.steps, proof.scope, str(proof.evidence["kind"]))
        write_text(json.dumps(found, separators=(",", ":")) + "\n", target)
    optimal = verdict is not None and verdict.optimal
    if as_json:
        print(
            json.dumps(
                {
                    "instance": read.instance.name,
                    "steps": len(read.steps),
                    **_shown(verdict),
                    "optimal": optimal,
                    "shorter": None if shorter is None else len(shorter),
                    "tried": list(outcome.tried),
                    "seconds": seconds,
                    "certificate": None if verdict is None else str(target),
                }
            )
        )
    else:
        for line in outcome.tried:
            print(f"  {line}")
        if shorter is not None:
            print(
                f"{read.instance.name}: not optimal, there is a schedule of {len(shorter)} steps; "
                f"find it with: cchybrid solve --steps {len(shorter)}"
            )
        if verdict is not None:
            print(_sentence(read.instance.name, verdict))
            print(f"written to {target} ({target.stat().st_size:,} bytes)")
        if outcome.interrupted:
            print("interrupted")
    raise typer.Exit(0 if optimal else 1)


def check(
    schedule: CheckedFile, certificate: CertificateFile = None, as_json: arguments.AsJson = False
) -> None:
    """Check a schedule and its certificate, from the two files alone; or one throughput file.

    The checker needs only Python's standard library; the referee verifies the schedule, too.
    Exit status: 0 the check held, 1 it failed, 2 bad input.
    """
    from cchybrid.checker import EvidenceError
    from cchybrid.checker import check as check_records

    if certificate is None:
        _check_alone(schedule, as_json)
        return
    record, read = _load_schedule(schedule)
    claim = _load_json(certificate)
    verdict, failure = None, ""
    with _status(f"checking {read.instance.name}"):
        try:
            verdict = check_records(record, claim)
            _check_by_referee(read)
        except EvidenceError as error:
            verdict, failure = None, str(error)
    if as_json:
        print(
            json.dumps(
                {
                    "holds": verdict is not None,
                    "instance": read.instance.name,
                    "steps": len(read.steps),
                    **_shown(verdict),
                    "optimal": verdict is not None and verdict.optimal,
                    "failure": failure,
                }
            )
        )
    elif verdict is None:
        print(f"{read.instance.name}: FAILED: {failure}")
    else:
        print(_sentence(read.instance.name, verdict))
    raise typer.Exit(0 if verdict is not None else 1)


def _check_alone(path: Path, as_json: bool) -> None:
    """Check a file that needs no certificate beside it."""
    from cchybrid.checker.throughput import FORMAT
    from cchybrid.cli.throughput import check_file

    record = _load_json(path)
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise InputError(
            "only throughput files are checked without a certificate",
            where=str(path),
            hint="name the certificate after the schedule",
        )
    check_file(path, record, as_json)


def _shown(verdict: Any) -> dict[str, Any]:
    """Return the verdict as the entries of a JSON object."""
    return {key: getattr(verdict, key, None) for key in ("bound", "scope", "kind")}


def _sentence(name: str, verdict: Any) -> str:
    """Return the verdict as a sentence, with the scope of the claim."""
    word = "optimal (certified)" if verdict.optimal else f"at least {verdict.bound} are needed"
    if verdict.scope == "these paths":
        word = f"at least {verdict.bound} are needed over the paths listed in the certificate"
    return f"{name}: valid, {verdict.steps} steps, {word}; scope: {verdict.scope}; {verdict.kind}"


def _check_by_referee(read: Any) -> None:
    """Raise an ``EvidenceError`` unless the referee accepts the schedule, too."""
    from cchybrid.checker import EvidenceError
    from cchybrid.referee.verify import verify_schedule

    violations = verify_schedule(read)
    if violations:
        raise EvidenceError(f"the referee refuses the schedule: {violations[0].text}")


def _load_schedule(path: Path) -> tuple[Mapping[str, Any], Any]:
    """Return the JSON object of a schedule file, and the schedule."""
    from cchybrid.model import Schedule

    record = _load_json(path)
    with with_context(path):
        return record, Schedule.from_json(record)


def _load_json(path: Path) -> Any:
    from cchybrid.model.instance import read_text
    from cchybrid.model.json_fields import parse_json

    with with_context(path):
        return parse_json(read_text(path))


@contextmanager
def _status(title: str) -> Iterator[Callable[[str], None]]:
    """Show the current activity on a terminal."""
    from rich.console import Console

    with Console(stderr=True).status(title) as status:
        yield lambda text: status.update(f"{title}: {text}")
