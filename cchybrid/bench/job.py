"""One run in a process of its own: ``python -m cchybrid.bench.job``.

The job is a JSON object on standard input: ``spec``, ``design`` or ``throughput``, ``solve`` and
``seed``. The answer is one on standard output: ``result`` and ``schedule``, or ``failure``, or
``refused`` (invalid settings).
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from cchybrid.bench.run_cost import CostMeter
from cchybrid.bench.throughput_row import ThroughputRow
from cchybrid.host import api
from cchybrid.library.instance_spec import InstanceSpec, resolve
from cchybrid.model.errors import CchybridError, InputError
from cchybrid.plugin.registry import load_registry
from cchybrid.system.processes import die_with_parent


def work(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run one job and return its answer."""
    if "design" in job:
        # Imported here: the kernels of costs take a second to load, longer than many a schedule.
        from cchybrid.bench import design_job

        return design_job.work(job)
    registry = load_registry()
    if "throughput" in job:
        return ThroughputRow.from_json(job).work(registry)
    try:
        instance = resolve(InstanceSpec(**job["spec"]), registry)
    except CchybridError as error:
        return {"failure": str(error)}
    meter = CostMeter() if job.get("measure") else None
    try:
        with meter or contextlib.nullcontext():
            result = api.solve(
                instance,
                seed=job["seed"],
                registry=registry,
                on_event=None if meter is None else meter.on_event,
                **job["solve"],
            )
    except InputError as error:
        # The instance is valid, so the settings are not; they would fail in every row.
        return {"refused": error.what, "where": error.where, "hint": error.hint}
    if result.interrupted:
        return {"failure": "interrupted"}
    record: dict[str, Any] = {**result.to_json(), "digest": instance.digest}
    if meter is not None:
        record["cost"] = meter.to_json(instance, result.schedule)
    if not result.certified:
        record["certified_evidence"] = result.certified_bound.evidence
    if result.schedule is None:
        record["evidence_without_schedule"] = result.lower_bound.evidence or None
        record["instance_record"] = instance.to_json()
        return {"result": record, "schedule": None}
    return {"result": record, "schedule": result.schedule.to_json()}


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Read one job and write its answer."""
    die_with_parent()
    signal.signal(signal.SIGTERM, _interrupt)
    job = json.load(sys.stdin)
    try:
        answer = work(job)
    except KeyboardInterrupt:
        answer = {"failure": "interrupted"}
    json.dump(answer, sys.stdout, separators=(",", ":"))
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
