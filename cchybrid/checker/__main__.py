"""``python -m cchybrid.checker FILE [CERTIFICATE]``: the check on the standard library alone."""

from __future__ import annotations

import sys
from pathlib import Path

from cchybrid.checker.certificate import RoundsVerdict, check
from cchybrid.checker.instance import EvidenceError
from cchybrid.checker.reading import read_json
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
        if len(records) == 1:
            shown = check_throughput(records[0])
            word = "optimal" if shown.optimal else f"at least {shown.bound} are needed"
            print(f"{shown.rounds_per_chunk} rounds per chunk, {word} ({shown.kind})")
            return 0
        found = check(*records)
    except EvidenceError as error:
        print(f"FAILED: {error}")
        return 1
    word = "optimal" if found.optimal else "valid"
    if isinstance(found, RoundsVerdict):
        print(
            f"{found.chunks} chunks, {found.steps} steps, {found.rounds} rounds, {word}: no "
            f"schedule of as many steps has fewer than {found.bound} rounds per chunk "
            f"({found.kind})"
        )
    else:
        print(
            f"{found.steps} steps, {word}: no schedule ({found.scope}) has fewer than "
            f"{found.bound} ({found.kind})"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
