"""``python -m cchybrid.design_checker NETWORK``: the check on the standard library alone."""

import sys
from pathlib import Path

from cchybrid.checker import EvidenceError
from cchybrid.checker.reading import read_json
from cchybrid.design_checker.figures import check_network


def main(arguments: list[str]) -> int:
    """Return the exit status: 0 the claims hold, 1 one does not, 2 the file cannot be read."""
    if len(arguments) != 1:
        print("usage: python -m cchybrid.design_checker NETWORK", file=sys.stderr)
        return 2
    try:
        record = read_json(Path(arguments[0]).read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        print(f"{arguments[0]}: cannot be read: {error}", file=sys.stderr)
        return 2
    try:
        found = check_network(record)
    except EvidenceError as error:
        print(f"FAILED: {error}")
        return 1
    print(
        f"diameter {found.diameter} (at least {found.diameter_bound}), mean distance {found.mean} "
        f"(at least {found.mean_bound})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
