"""``python -m cchybrid.checker FILE [CERTIFICATE]``: the check on the standard library alone."""

import sys
from pathlib import Path

from cchybrid.checker.certificate import check
from cchybrid.checker.description import describe
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
        print(f"{ascii(' '.join(arguments))[1:-1]}: cannot be read: {error}", file=sys.stderr)
        return 2
    try:
        found = check(*records) if len(records) == 2 else check_throughput(records[0])
    except EvidenceError as error:
        print(f"FAILED: {error}")
        return 1
    print(found.sentence, *describe(records[0]["instance"]), sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
