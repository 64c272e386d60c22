"""MPI programs from schedules: the plan that a program performs, and the program as a text."""

import json
from pathlib import Path
from typing import Any

from cchybrid.model import Schedule
from cchybrid.model.collective import one_and_many

from .smpi import library_call

_MAIN = '''

PLAN = json.loads(
    """
{plan}
    """
)

if __name__ == "__main__":
    sys.exit(main(PLAN, sys.argv[1:]))
'''


def mpi_plan(schedule: Schedule) -> dict[str, Any]:
    """Return what the ranks of a program do in every step.

    Returns
    -------
    dict
        ``name``, ``kind``, ``nodes``; ``messages``: per message its source and destinations (of a
        reduction the destination and the sources, of an allreduce the members); ``chunks``: into
        how many of these messages each is cut; ``library``: the collective of MPI for the uncut
        messages, or ``None``; ``steps``: per step its transfers
        ``[message, sender, receiver, parts]``. Parts are those of an allreduce, otherwise ``None``.
    """
    collective = schedule.instance.collective
    call = library_call(schedule.instance)
    return {
        "name": schedule.instance.full_name,
        "kind": collective.kind,
        "nodes": schedule.instance.network.nodes,
        "library": None if call is None else call._asdict(),
        "chunks": collective.chunks,
        "messages": [[one, *many] for one, many in map(one_and_many, collective.messages)],
        "steps": [
            [
                [message, path[0], path[-1], list(schedule.parts(number, place)) or None]
                for place, (message, path) in enumerate(step)
            ]
            for number, step in enumerate(schedule.steps)
        ],
    }


def export_mpi(schedule: Schedule) -> str:
    """Return an mpi4py program that performs the schedule, checks every byte and times it."""
    program = Path(__file__).with_name("program.py").read_text(encoding="utf-8")
    plan = mpi_plan(schedule)
    steps = plan.pop("steps")
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in plan.items()]
    lines.append(' "steps": [\n' + ",\n".join(f"  {json.dumps(step)}" for step in steps) + "\n ]")
    text = "{\n" + "\n".join(lines) + "\n}"
    return program + _MAIN.format(plan=text.replace("\\", "\\\\"))
