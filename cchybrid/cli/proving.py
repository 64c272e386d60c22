"""``prove`` and ``check``: certificates that a schedule has the fewest steps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cchybrid.cli import arguments
from cchybrid.cli.schedules import ScheduleFile
from cchybrid.cli.solving import check_writable
from cchybrid.model.errors import InputError
from cchybrid.view.screen import print_lines

CertificateFile = Annotated[
    Path,
    typer.Argument(
        metavar="CERTIFICATE", help="A cchybrid-certificate/1 file.", show_default=False
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
    from cchybrid.host.proving import prove as search
    from cchybrid.host.proving import verdict_line
    from cchybrid.system.background import avoid_full_collections

    avoid_full_collections()
    if not time_limit > 0:
        raise InputError(
            f"{time_limit:g} seconds", where="--time-limit", hint="use a number above 0"
        )
    check_writable(output)
    target = output or schedule.with_name(f"{schedule.stem}.certificate.json")
    if target.exists() and target.samefile(schedule):
        raise InputError("this is the schedule", where=f"-o {output}", hint="name another file")
    with _status(f"proving {schedule.name}") as tell:
        proof = search(schedule, time_limit=time_limit, report=tell)
    if proof.certificate is not None:
        proof.save(target)
    name, steps, verdict, shorter = (
        proof.schedule.instance.name, len(proof.schedule.steps), proof.verdict, proof.shorter,
    )  # fmt: skip
    if as_json:
        print(
            json.dumps(
                {
                    "instance": name,
                    "steps": steps,
                    **_shown(verdict),
                    "optimal": proof.optimal,
                    "shorter": None if shorter is None else len(shorter.steps),
                    "tried": list(proof.tried),
                    "seconds": proof.seconds,
                    "certificate": None if verdict is None else str(target),
                }
            )
        )
    else:
        lines = [f"  {line}" for line in proof.tried]
        if shorter is not None:
            fewer = len(shorter.steps)
            lines.append(
                f"{name}: not optimal, there is a schedule of {fewer} steps; find it with: "
                f"cchybrid solve --steps {fewer}"
            )
        if verdict is not None:
            lines.append(verdict_line(name, verdict))
            lines.append(f"written to {target} ({target.stat().st_size:,} bytes)")
        if proof.interrupted:
            lines.append("interrupted")
        print_lines(lines)
    raise typer.Exit(0 if proof.optimal else 1)


def check(
    schedule: ScheduleFile, certificate: CertificateFile, as_json: arguments.AsJson = False
) -> None:
    """Check a schedule and its certificate, from the two files alone.

    The checker needs only Python's standard library; the referee verifies the schedule, too.
    Exit status: 0 the check held, 1 it failed, 2 bad input.
    """
    from cchybrid.checker import EvidenceError
    from cchybrid.host.proving import check as check_files
    from cchybrid.host.proving import verdict_line
    from cchybrid.model import Schedule

    read = Schedule.load(schedule)
    verdict, failure = None, ""
    with _status(f"checking {read.instance.name}"):
        try:
            verdict = check_files(schedule, certificate)
        except EvidenceError as error:
            failure = str(error)
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
        print_lines([f"{read.instance.name}: FAILED: {failure}"])
    else:
        print_lines([verdict_line(read.instance.name, verdict)])
    raise typer.Exit(0 if verdict is not None else 1)


def _shown(verdict: Any) -> dict[str, Any]:
    """Return the verdict as the entries of a JSON object."""
    return {key: getattr(verdict, key, None) for key in ("bound", "scope", "kind")}


@contextmanager
def _status(title: str) -> Iterator[Callable[[str], None]]:
    """Show the current activity on a terminal."""
    from rich.console import Console

    with Console(stderr=True).status(title) as status:
        yield lambda text: status.update(f"{title}: {text}")
