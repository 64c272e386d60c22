"""``python -m cchybrid.checker FILE [CERTIFICATE]``: the check on the standard library alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from cchybrid.checker.certificate import check
from cchybrid.checker.description import describe
from cchybrid.checker.instance import EvidenceError
from cchybrid.checker.reading import read_json
from cchybrid.checker.rounds import FORMAT as ROUNDS_FORMAT
from cchybrid.checker.rounds import RoundsVerdict, check_rounds
from cchybrid.checker.throughput import check_throughput


def main(arguments: list[str]) -> int:
    """Return the exit status: 0 the check held, 1 it failed, 2 the files cannot be read."""
    if len(arguments) not in (1, 2):
        usage = "usage: python -m cchybrid.checker SCHEDULE CERTIFICATE, or THROUGHPUT alone"
        print(usage, file=sys.stderr)
        return 2
    try:
        records = [read_json(Path(name).read_text("utf-8")) for name in arguments]
    except (OSError, ValueError, RecursionError) as error:
        print(f"{' '.join(arguments)}: cannot be read: {error}", file=sys.stderr)
        return 2
    try:
        line = _verdict(records)
    except EvidenceError as error:
        print(f"FAILED: {error}")
        return 1
    print(line, *describe(records[0]["instance"]), sep="\n  ")
    return 0


def _verdict(records: list[Any]) -> str:
    """Check the objects of the files; return the verdict as a line."""
    if len(records) == 1:
        shown = check_throughput(records[0])
        word = "optimal" if shown.optimal else f"at least {shown.bound} are needed"
        return f"{shown.rounds_per_chunk} rounds per chunk, {word} ({shown.kind})"
    if isinstance(records[1], dict) and records[1].get("format") == ROUNDS_FORMAT:
        return _about_rounds(check_rounds(*records))
    found = check(*records)
    word = "optimal" if found.optimal else "valid"
    return (
        f"{found.steps} steps, {word}: no schedule ({found.scope}) has fewer than {found.bound} "
        f"({found.kind})"
    )


def _about_rounds(found: RoundsVerdict) -> str:
    word = "optimal" if found.optimal else "valid"
    return (
        f"{found.chunks} chunks, {found.steps} steps, {found.rounds} rounds, {word}: no schedule "
        f"of as many steps has fewer than {found.bound} rounds per chunk ({found.kind})"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
