"""The check of a finished run: schedule and bound are verified again."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from cchybrid.bench.store import Run
from cchybrid.host.run_history import Contribution
from cchybrid.host.run_state import HOST_GREEDY
from cchybrid.model.errors import CchybridError, InputError

DAMAGE = (
    sqlite3.Error, ValueError, LookupError, TypeError, AttributeError, ArithmeticError,
    RecursionError,
)  # fmt: skip
"""Errors that reading a damaged store may raise."""
COLUMNS: Mapping[str, Any] = {
    "row": "", "key": "", "seed": 0,  # ``key``: the key of the contestant
    "failure": "", "held": True,  # why it is excluded; ``held`` is False for an invalid result
    "steps": None, "lower_bound": 0,  # the steps of the verified schedule
    "certified": False, "certified_bound": 0,  # the latter where ``lower_bound`` is only claimed
    "infeasible": False,  # claims that there is no schedule; then ``certified`` is about this claim
    "seconds": 0.0, "seconds_to_best": 0.0, "engine": "", "bound_by": "", "versions": {},
    "troubles": (), "conflicts": None, "evaluations_to_best": None,
    "evaluations": None, "search_seconds": None,  # sums over the engines; None if one is unknown
    "contributions": (),  # in the order of time; empty in older stores
    "cost": {},  # of rows that are measured
}  # fmt: skip
"""The columns of the table of runs with their default values."""


def check(run: Run, digest: str | CchybridError | None = None) -> dict[str, Any]:
    """Return a run's line of the table; never raises, whatever the store contains.

    The digest is that of the row's instance, or the error raised while building it.
    """
    record = {"row": run.row, "key": run.contestant.key, "seed": run.seed}
    if run.failure:
        return {**record, "failure": run.failure}
    try:
        if isinstance(digest, CchybridError):
            raise InputError("the instance of its row could not be built")
        if digest is not None and run.result["digest"] != digest:
            raise InputError("its instance differs from that of the row now")
        if run.schedule() is None:
            if run.steps is not None:
                raise InputError("the schedule is missing")
            run.check_bound()
        if run.result["status"] == "optimal" and run.steps != run.lower_bound:
            raise InputError("it is called optimal, but its bound is lower")
        return {**COLUMNS, **record, **_result_columns(run, run.result)}
    except CchybridError as error:
        words = error.what if isinstance(error, InputError) else str(error)
    except Exception as error:  # a damaged record
        words = f"{type(error).__name__}: {error}"
    return {**record, "failure": f"does not hold: {' '.join(words.split())}", "held": False}


def _result_columns(run: Run, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a run as columns of the table."""
    infeasible = run.steps is None and result["status"] == "infeasible"
    evidence = result.get("evidence_without_schedule") or {}
    contributions = tuple(
        Contribution(
            float(each["seconds"]), str(each["author"]), str(each["how"]), str(each["what"]),
            _count(each["steps"]), _count(int(each["lower"])), bool(each["certified"]),
            str(each.get("seeded_by", "")),
        )
        for each in result.get("contributions") or ()
    )  # fmt: skip
    found = [entry.steps for entry in contributions if entry.what == "schedule"]
    # The host's greedy schedule is no contribution, and engines may have worse ones.
    if found and (None in found or (found[-1] != run.steps and result["engine"] != HOST_GREEDY)):
        raise InputError("the contributions do not match its schedule")
    return {
        "steps": run.steps, "infeasible": infeasible, "lower_bound": _count(run.lower_bound),
        "certified": run.certified and (not infeasible or evidence.get("kind") == "unreachable"),
        "certified_bound": 0 if run.certified or infeasible else _count(run.certified_bound),
        **{name: float(result[name]) for name in ("seconds", "seconds_to_best")},
        **{name: str(result[name]) for name in ("engine", "bound_by")},
        "versions": {str(key): str(value) for key, value in result["versions"].items()},
        "troubles": tuple(map(str, result["troubles"])),
        **{name: _count(result.get(name)) for name in ("conflicts", "evaluations_to_best")},
        **{name: _total(result.get(name)) for name in ("evaluations", "search_seconds")},
        "contributions": contributions,
        "cost": _numbers(result.get("cost") or {}),
    }  # fmt: skip


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the values that are known as floats."""
    return {str(name): float(value) for name, value in values.items() if value is not None}


def _count(value: Any) -> Any:
    """Return a whole number, or ``None``."""
    if value is not None and abs(int(value)) >= 1 << 53:
        raise InputError("a number is too large")  # for the integer columns of the table
    return None if value is None else int(value)


def _total(values: Mapping[str, Any] | None) -> float | None:
    """Return the sum over all engines; ``None`` if one is unknown or there are none."""
    return float(sum(values.values())) if values and None not in values.values() else None
