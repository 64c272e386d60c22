"""One run in a process of its own: ``python -m cchybrid_plugins.bench.job``.

The job is a JSON object on standard input: ``kind``, ``row``, ``solve`` and ``seed``. The answer is
one on standard output: ``result`` and ``schedule``, or ``failure``, or ``refused`` (invalid
settings).
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

from cchybrid.cli.interrupts import catch_interrupts
from cchybrid.model.errors import CchybridError
from cchybrid.plugin.benchmark import SettingsError
from cchybrid.plugin.registry import load_registry
from cchybrid.system.machine import machine
from cchybrid.system.processes import die_with_parent
from cchybrid.system.processors import limited_to

from .contestant import Contestant, software_of


def work(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run one job and return its answer."""
    registry = load_registry()
    try:
        kind = registry.benchmark(job["kind"])
        solve = job["solve"]
        named = Contestant(solve.get("engines"), without=solve.get("without", ()))
        with limited_to(solve.get("threads")):
            result, record = kind.work(job["row"], solve, job["seed"], registry)
        software = software_of(kind, named.team(registry), registry)
        result |= {"software": software, "settings": solve, "machine": machine()}
    except SettingsError as error:
        return {"refused": error.what, "where": error.where, "hint": error.hint}
    except CchybridError as error:
        return {"failure": str(error)}
    return {"result": result, "schedule": record}


def main() -> None:
    """Read one job and write its answer."""
    die_with_parent()
    catch_interrupts()
    job = json.load(sys.stdin)
    try:
        answer = work(job)
    except KeyboardInterrupt:
        answer = {"failure": "interrupted"}
    # At once: piece by piece, as `json.dump` writes, a large schedule takes ten times as long.
    sys.stdout.write(json.dumps(answer, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
