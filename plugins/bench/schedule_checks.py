"""The check of a stored run of an instance: its schedule, its bound, its numbers."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cchybrid.checker import EvidenceError, proven_steps, proves_infeasible
from cchybrid.host.run_history import Contribution
from cchybrid.host.schedule_task import HOST_GREEDY
from cchybrid.host.wire import steps_from_line, steps_to_line
from cchybrid.model import FlatSteps, Instance, Schedule
from cchybrid.model.errors import CchybridError, InputError
from cchybrid.model.json_fields import expect
from cchybrid.plugin.benchmark import StoredRun, amount
from cchybrid.referee.verify import verify_schedule

COLUMNS: Mapping[str, Any] = {
    "row": "", "key": "", "seed": 0,  # ``key``: the key of the contestant
    "failure": "", "held": True,  # why it is excluded; ``held`` is False for an invalid result
    "steps": None, "lower_bound": 0,  # the steps of the verified schedule
    "certified": False, "certified_bound": 0,  # the latter where ``lower_bound`` is only claimed
    "infeasible": False,  # it was shown again that there is no schedule
    "seconds": None, "seconds_to_best": None,  # to the first of as many steps; None without any
    "engine": "", "bound_by": "", "versions": {},
    "troubles": (), "conflicts": None, "evaluations_to_best": None,
    # Sums over the engines; None if one is unknown, as in older stores.
    "evaluations": None, "start_seconds": None, "start_wall_seconds": None,
    "search_seconds": None, "search_wall_seconds": None,
    "max_evaluations": None,  # the largest number of one engine
    "searched": True,  # False: no engine began its search
    "cut_off": None,  # whether a limit ended a search; None without any, and in older stores
    "contributions": (),  # in the order of time; empty in older stores
    "machine": "unknown",  # as recorded: nothing can check it
    "cost": {},  # of rows that are measured
}  # fmt: skip
"""The columns of the table of runs with their default values."""
ROUNDING_SECONDS = 0.001
"""The difference that rounding may make between two times of a run."""


def certified_steps(result: Mapping[str, Any]) -> int:
    """Return the best bound that a result calls certified, 0 without any."""
    return int(
        _count(result.get("lower_bound" if result.get("certified") else "certified_bound", 0))
    )


def schedule_record(schedule: Schedule) -> dict[str, Any]:
    """Return the JSON object of a schedule for the store: as in files, but ``FlatSteps`` as arrays.

    As lists of objects, a million transfers take gigabytes and many seconds.
    """
    if not isinstance(schedule.steps, FlatSteps):
        return schedule.to_json()
    return replace(schedule, steps=()).to_json() | {"steps": steps_to_line(schedule.steps)}


def stored_schedule(run: StoredRun) -> Schedule | None:
    """Return the schedule of a run, verified again with its bound; ``None`` without one.

    Raises
    ------
    InputError, EvidenceError, LookupError, TypeError, ValueError, zlib.error
        The schedule or the bound does not hold, or is not that of the result.
    """
    result, bound = run.result, certified_steps(run.result)
    if run.record is None:
        return None
    record = expect(run.unpacked(), dict, "the file")
    is_flat = isinstance(record.get("steps"), dict)
    steps = steps_from_line(record["steps"]) if is_flat else ()
    schedule = Schedule.from_json(record | {"steps": []} if is_flat else record)
    del record  # gigabytes
    if is_flat:
        schedule = replace(schedule, steps=steps)
    if violations := verify_schedule(schedule):
        raise InputError(f"the schedule is invalid: {violations[0].text}")
    said = schedule.lower_bound
    stated = (result.get("steps"), result.get("lower_bound", 0), result["digest"])
    if said is None or stated != (len(schedule.steps), said.steps, schedule.instance.digest):
        raise InputError("the schedule is not the one of the result")
    evidence = said.evidence if result.get("certified") else result.get("certified_evidence")
    # One step is always needed.
    if bound > 1 and proven_steps(schedule.instance.to_json(), evidence or {}) < bound:
        raise InputError("the evidence does not prove the bound")
    return schedule


def _check_bound(result: Mapping[str, Any]) -> None:
    """Raise an ``InputError`` if the bound of a run without a schedule does not hold.

    That there is no schedule requires evidence, too: without it the run does not hold.
    """
    bound, certified = certified_steps(result), bool(result.get("certified"))
    lesser = None if certified else result.get("certified_evidence")
    evidence = result.get("evidence_without_schedule") or lesser
    infeasible = result["status"] == "infeasible"
    if evidence is None:
        # One step is always needed: a bound of 1 requires no evidence.
        if infeasible or bound > 1 or (certified and bound < 1):
            raise InputError("the evidence of the bound is missing")
        return
    try:
        instance = Instance.from_json(result["instance_record"])
        record = instance.to_json()
        if instance.digest != result["digest"]:
            raise InputError("it belongs to another instance")
        if infeasible:
            proves_infeasible(record, evidence)
        elif proven_steps(record, evidence) < bound:
            raise EvidenceError("it proves less")
    except (KeyError, EvidenceError, CchybridError) as error:
        raise InputError(f"the bound does not hold: {error}") from None


def checked_columns(run: StoredRun) -> dict[str, Any]:
    """Return the verified result of a run, as columns of the table of runs.

    Raises
    ------
    InputError, EvidenceError, LookupError, TypeError, ValueError, zlib.error
        The run does not hold.
    """
    result = run.result
    steps = result.get("steps")
    if stored_schedule(run) is None:
        if steps is not None:
            raise InputError("the schedule is missing")
        _check_bound(result)
    lower, certified = int(_count(result.get("lower_bound", 0))), bool(result.get("certified"))
    if result["status"] == "optimal" and steps != lower:
        raise InputError("it is called optimal, but its bound is lower")
    infeasible = result["status"] == "infeasible"
    if infeasible and steps is not None:
        raise InputError("it is called infeasible, but has a schedule")
    contributions = tuple(map(_contribution, result.get("contributions") or ()))
    if result.get("conflicts") == 0 and steps is None:
        raise InputError("no conflicts are left, but the schedule is missing")
    schedules = [entry for entry in contributions if entry.what == "schedule"]
    found = [entry.steps or 0 for entry in schedules if entry.author != HOST_GREEDY]
    greedy = [entry.steps or 0 for entry in schedules if entry.author == HOST_GREEDY]
    # Engines do not know the host's greedy schedule, and may have worse ones.
    by_host = result["engine"] == HOST_GREEDY
    own, others = (greedy, found) if by_host else (found, greedy)
    required = bool(own) or ("contributions" in result and not by_host)
    if (
        found != sorted(found, reverse=True)
        or (required and own[-1:] != ([] if steps is None else [steps]))
        or min(others, default=math.inf) < (math.inf if steps is None else steps)
    ):
        raise InputError("the contributions do not match its schedule")
    seconds = amount(result, "seconds")
    at = None if steps is None else amount(result, "seconds_to_best")
    if at is not None and at > seconds + ROUNDING_SECONDS:
        raise InputError(f"its schedule is of {at:g} s, but it took {seconds:g} s")
    if at is not None and by_host and not greedy:  # an older run
        first = Contribution(at, HOST_GREEDY, "", "schedule", steps, 1, certified=False)
        contributions = tuple(sorted((*contributions, first), key=lambda entry: entry.seconds))
    contributions = tuple(_improving(contributions, by_host))
    if at is not None:  # later schedules of as many steps have fewer channel uses
        at = min(
            [at, *(e.seconds for e in contributions if (e.what, e.steps) == ("schedule", steps))]
        )
    spent = result.get("evaluations") or {}
    searched = result.get("start_seconds") is None or result.get("search_seconds") != {}
    cost = {name: value for name, value in (result.get("cost") or {}).items() if value is not None}
    return {
        "steps": steps, "infeasible": infeasible, "lower_bound": lower,
        "certified": certified or infeasible,
        "certified_bound": 0 if certified or infeasible else certified_steps(result),
        "seconds": seconds, "seconds_to_best": at,
        **{name: str(result[name]) for name in ("engine", "bound_by")},
        "versions": {str(key): str(value) for key, value in result["versions"].items()},
        "troubles": tuple(map(str, result["troubles"])),
        **{name: _count(result.get(name)) for name in ("conflicts", "evaluations_to_best")},
        "evaluations": _total(result.get("evaluations")),
        "max_evaluations": max(map(_count, filter(None, spent.values())), default=None),
        "start_seconds": _seconds(result.get("start_seconds"), "processor"),
        "start_wall_seconds": _seconds(result.get("start_seconds"), "wall"),
        "search_seconds": _seconds(result.get("search_seconds"), "processor"),
        "search_wall_seconds": _seconds(result.get("search_seconds"), "wall"),
        "searched": searched,
        "cut_off": bool(result["unfinished"]) if searched and "unfinished" in result else None,
        "contributions": contributions,
        "cost": {str(name): amount(cost, name) for name in cost},
    }  # fmt: skip


def _improving(contributions: Sequence[Contribution], by_host: bool) -> Iterator[Contribution]:
    """Yield contributions without schedules that are not known to be better than those before.

    Channel uses decide between schedules of as many steps, but are not recorded: each schedule of
    engines is better than those of engines before, and the result better than all.
    """
    schedules = [entry for entry in contributions if entry.what == "schedule"]
    result = [entry for entry in schedules if (entry.author == HOST_GREEDY) == by_host][-1:]
    best, author = math.inf, HOST_GREEDY
    for entry in contributions:
        if entry.what == "schedule":
            steps = math.inf if entry.steps is None else entry.steps
            wins_tie = entry in result or HOST_GREEDY not in (author, entry.author)
            if steps > best or (steps == best and not wins_tie):
                continue
            best, author = steps, entry.author
        yield entry


def _contribution(entry: Mapping[str, Any]) -> Contribution:
    return Contribution(
        amount(entry), str(entry["author"]), str(entry["how"]), str(entry["what"]),
        _count(entry["steps"]), int(_count(entry["lower"])), bool(entry["certified"]),
        str(entry.get("seeded_by", "")),
    )  # fmt: skip


def _count(value: Any) -> Any:
    """Return a whole number from 0 on, or ``None``; the columns of the table hold 53 bits."""
    if value is not None and not (type(value) is int and 0 <= value < 1 << 53):
        raise InputError(f"{value!r:.40} is no count")
    return value


def _total(values: Mapping[str, Any] | None) -> float | None:
    """Return the sum over all engines; ``None`` if one is unknown or there are none."""
    if not values or None in values.values():
        return None
    return amount({"sum": sum(values.values())}, "sum")


def _seconds(values: Mapping[str, Any] | None, clock: str) -> float | None:
    """Return the sum over all engines of the seconds by one clock; ``None`` in older stores.

    They hold one number per engine, with the time in which it was paused. Without engines it is 0.
    """
    if values is None or not all(isinstance(each, Mapping) for each in values.values()):
        return None
    return amount({"sum": sum(amount(each, clock) for each in values.values())}, "sum")
