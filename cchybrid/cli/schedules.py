"""``verify``, and what other commands on a schedule file share."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.cli import arguments
from cchybrid.model import Schedule
from cchybrid.model.errors import with_context
from cchybrid.model.instance import read_json
from cchybrid.model.shown import counted, counted_steps
from cchybrid.view.screen import print_lines

ScheduleFile = Annotated[
    Path, typer.Argument(metavar="SCHEDULE", help="A cchybrid-schedule/1 file.", show_default=False)
]
MAX_VIOLATIONS = 20
"""Violations that are printed one by one."""


def verify(schedule: ScheduleFile, as_json: arguments.AsJson = False) -> None:
    """Check a schedule against every rule, and its lower bound against its evidence.

    Exit status: 0 all holds, 1 the schedule is invalid or its bound is false, 2 bad input.
    """
    from cchybrid.referee.verify import verify_schedule

    read, about = read_described(schedule)
    violations = verify_schedule(read)
    bound, word = _check_bound(read)
    if as_json:
        record: dict[str, Any] = {
            "valid": not violations,
            "instance": read.instance.name,
            "description": [line.strip() for line in about],
            "steps": len(read.steps),
            "channel_uses": read.channel_uses,
            "lower_bound": bound,
            "certified": word == "certified",
            "violations": [
                {"rule": v.rule, "step": v.step, "transfer": v.transfer, "text": v.text}
                for v in violations
            ],
        }
        print(json.dumps(record))
    elif violations:
        print_lines([f"{schedule}: INVALID, {counted(len(violations), 'violation')}"])
        print_lines(f"  {each.rule}: {each.text}" for each in violations[:MAX_VIOLATIONS])
        if len(violations) > MAX_VIOLATIONS:
            print(f"  and {len(violations) - MAX_VIOLATIONS} more")
    else:
        steps = counted_steps(read.instance, len(read.steps))
        size = f"{steps}, {counted(read.channel_uses, 'channel use')}"
        print_lines([f"{schedule}: valid, {size}"])
        if bound is not None and bound > len(read.steps):
            print(f"lower bound {bound}: FALSE, this very schedule has fewer steps")
        elif bound is not None:
            optimal = (
                ", so it is optimal" if word == "certified" and bound == len(read.steps) else ""
            )
            print_lines([f"lower bound {bound}: {word}{optimal}"])
    if not as_json:
        print_lines(about)
    refuted = bound is not None and bound > len(read.steps)
    raise typer.Exit(1 if violations or refuted or word.startswith("not proven") else 0)


def read_described(path: Path) -> tuple[Schedule, list[str]]:
    """Return the schedule in a file, and indented lines on its instance as the file has it."""
    from cchybrid.checker.description import describe

    record = read_json(path)
    with with_context(path):
        found = Schedule.from_json(record)
    return found, [f"  {line}" for line in describe(record["instance"])]


def _check_bound(schedule: Any) -> tuple[int | None, str]:
    """Return the bound stated in the file, and the result of checking its evidence."""

    stated = schedule.lower_bound
    if stated is None:
        return None, "none stated"
    if stated.steps <= 1:  # one step is always needed
        return stated.steps, "certified"
    if not stated.evidence:
        return stated.steps, "claimed, no evidence"
    try:
        proven = proven_steps(schedule.instance.to_json(), stated.evidence)
    except EvidenceError as error:
        return stated.steps, f"not proven: {error}"
    if proven < stated.steps:
        return stated.steps, f"not proven: the evidence shows {proven} only"
    return stated.steps, "certified"
