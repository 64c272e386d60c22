"""Solve an instance in a process that has solved another one; print the processor seconds.

``bench_sccl`` starts it. What is imported and compiled at first use does not count, as z3's import
does not count in ``sccl``; workers of the run and their imports do.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

import cchybrid


def processor_seconds() -> float:
    """Return the processor seconds of this process and of all its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    """Read the request, solve, and print the answer."""
    request: dict[str, Any] = json.load(sys.stdin)
    instance = cchybrid.Instance.from_json(request["instance"])
    first = cchybrid.instance("mesh-3x3", "AAS", switching="store-and-forward")
    cchybrid.solve(first, threads=1, time_limit=5)
    begun = processor_seconds()
    result = cchybrid.solve(instance, threads=1, seed=request["seed"], time_limit=request["limit"])
    seconds = processor_seconds() - begun
    certified = result.status == "optimal" and result.certified
    print(json.dumps({"steps": result.steps, "certified": certified, "seconds": seconds}))


if __name__ == "__main__":
    main()
