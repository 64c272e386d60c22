"""The process that builds the Problem of a large instance for all workers of a run.

The host starts it as ``python -m cchybrid.host.problem_builder`` (``shared_instance``). It reads
one line from standard input: the descriptors of the files of the instance and of the Problem, and
the memory limit. If that does not suffice, it writes the reason instead. If it fails otherwise, the
file stays incomplete, and every worker builds the Problem itself.
"""

import signal
import sys

from cchybrid.model.json_fields import parse_json
from cchybrid.problem import build_problem
from cchybrid.system.background import avoid_full_collections
from cchybrid.system.processes import die_with_parent, limit_memory
from cchybrid.system.shared_file import read, write


def main() -> None:
    """Build the Problem and write it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    job = parse_json(sys.stdin.readline())
    limit_memory(job["memory"])
    avoid_full_collections()
    found: object
    try:
        found = build_problem(read(job["instance"]))
    except MemoryError as error:
        found = f"a Problem too large to build: {error or 'out of memory'}"
    write(job["problem"], found)


if __name__ == "__main__":
    main()
