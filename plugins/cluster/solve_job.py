"""A time slice of a run on other machines: ``python -m cchybrid_plugins.cluster.solve_job``.

The job is a JSON object on standard input: ``schedule`` (the best one so far, with its bound) or
``instance``, and ``config`` (``RunConfig.to_json``). The answer is a line for
every event of the slice, as workers send them (``cchybrid.host.wire``).
"""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from cchybrid.cli.interrupts import catch_interrupts
from cchybrid.host.result import Result
from cchybrid.host.run_config import RunConfig
from cchybrid.host.schedule_task import ScheduleTask
from cchybrid.host.session import Session
from cchybrid.model import Instance, Schedule
from cchybrid.model.errors import InputError
from cchybrid.model.schedule import steps_to_json
from cchybrid.model.text import one_line
from cchybrid.plugin.engine import Stop
from cchybrid.system.processes import die_with_parent


def work(job: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Run one job and yield the events of its answer."""
    schedule = Schedule.from_json(job["schedule"]) if "schedule" in job else None
    instance = Instance.from_json(job["instance"]) if schedule is None else schedule.instance
    config = RunConfig.from_json(job["config"])
    try:
        result: Result = Session(ScheduleTask.of(instance, config, schedule), config).run()
    except InputError as error:
        yield {"event": "failed", "text": one_line(str(error))}
        return
    yield from events_of(result, schedule)


def events_of(result: Result, known: Schedule | None) -> Iterator[dict[str, Any]]:
    """Yield the events that report a result.

    Parameters
    ----------
    known
        The schedule that the run began with; it is not reported.
    """
    found, proven = result.schedule, result.certified_bound
    if found is not None and (known is None or found.cost < known.cost):
        yield {
            "event": "offer",
            "steps": steps_to_json(found.steps),
            "spent": result.evaluations_to_best or 0,
            "how": f"by {result.engine}, seed {result.seed}",
        }
    if proven.evidence:
        yield {"event": "bound", "steps": proven.steps, "evidence": proven.evidence}
    if result.lower_bound.steps > proven.steps:
        yield {"event": "bound", "steps": result.lower_bound.steps, "complete": True}
    for text in result.troubles:
        yield {"event": "trouble", "text": one_line(text)}
    yield {
        "event": "spent",
        **{
            f"{name}_{clock}": sum(each[clock] for each in spent.values())
            for name, spent in (("start", result.start_seconds), ("search", result.search_seconds))
            for clock in ("processor", "wall")
        },
    }
    yield {
        "event": "end",
        "stop": Stop.LIMIT.value,
        "evaluations": sum(count or 0 for count in result.evaluations.values()),
        "conflicts": result.conflicts,
    }


def main() -> None:
    """Read one job and write its answer."""
    die_with_parent()
    catch_interrupts()
    for event in work(json.load(sys.stdin)):
        sys.stdout.write(json.dumps(event, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
