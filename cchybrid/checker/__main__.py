"""``python -m cchybrid.checker SCHEDULE CERTIFICATE``: the check on the standard library alone."""

from __future__ import annotations

import sys
from pathlib import Path

from cchybrid.checker.certificate import check
from cchybrid.checker.instance import EvidenceError
from cchybrid.checker.reading import read_json


def main(arguments: list[str]) -> int:
    """Return the exit status: 0 the check held, 1 it failed, 2 the files cannot be read."""
    if len(arguments) != 2:
        print("usage: python -m cchybrid.checker SCHEDULE CERTIFICATE", file=sys.stderr)
        return 2
    try:
        schedule, record = (read_json(Path(name).read_text("utf-8")) for name in arguments)
    except (OSError, ValueError, RecursionError) as error:
        print(f"{' '.join(arguments)}: cannot be read: {error}", file=sys.stderr)
        return 2
    try:
        found = check(schedule, record)
    except EvidenceError as error:
        print(f"FAILED: {error}")
        return 1
    word = "optimal" if found.optimal else "valid"
    print(
        f"{found.steps} steps, {word}: no schedule ({found.scope}) has fewer than {found.bound} "
        f"({found.kind})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
