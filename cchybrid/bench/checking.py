"""The check of a finished run of a row of any kind, against the instance of its row."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, NamedTuple

from cchybrid.bench.row import Row
from cchybrid.bench.store import Run
from cchybrid.bench.stored_numbers import amount, amounts, count, total
from cchybrid.bench.suite import AnyRow
from cchybrid.bench.throughput_row import ThroughputRow
from cchybrid.checker import EvidenceError, RoundsVerdict
from cchybrid.checker.throughput import check_throughput
from cchybrid.host.run_history import Contribution
from cchybrid.host.schedule_task import HOST_GREEDY
from cchybrid.model import Instance
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


class Checked(NamedTuple):
    """A run of a store after its check.

    Attributes
    ----------
    run
        The run as it is stored; nothing in it but its names may be reported.
    failure
        The reason why it does not count, in one line; "" if it counts.
    held
        ``False`` if it is called a result but does not hold.
    found
        What was verified: the columns of the result of a schedule, a ``CheckedThroughput``, or a
        ``CheckedDesign``; ``None`` if it does not count.
    """

    run: Run
    failure: str = ""
    held: bool = True
    found: Any = None

    @property
    def line(self) -> str:
        """The run by its row and seed, and why it does not count."""
        return f"{self.run.row}, seed {self.run.seed}: {self.failure}"


class CheckedThroughput(NamedTuple):
    """The rounds per chunk of trees and their lower bound, added up again; seconds as stored."""

    verdict: RoundsVerdict
    seconds: float


def check(run: Run, row: AnyRow, digest: str | CchybridError) -> Checked:
    """Return a run with what was verified of it; never raises, whatever the store contains.

    A run counts only for the instance of its row: another one in its record is a failure.

    Parameters
    ----------
    digest
        That of the row's instance, computed from the row (``digest_of``), or the error raised by
        building it.
    """
    if run.failure:
        return Checked(run, " ".join(run.failure.split()))
    try:
        if isinstance(digest, CchybridError):
            raise InputError("the instance of its row could not be built")
        if run.result.get("digest") != digest:
            raise InputError("its instance differs from that of the row now")
        if isinstance(row, Row):
            return Checked(run, found=_schedule(run))
        if isinstance(row, ThroughputRow):
            return Checked(run, found=_throughput(run))
        # Imported here: the kernels of costs take a second to load.
        from cchybrid.bench.checking_designs import checked_design

        return Checked(run, found=checked_design(row, run))
    except InputError as error:
        words = error.what
    except (CchybridError, EvidenceError) as error:
        words = str(error)
    except Exception as error:  # a damaged record
        words = f"{type(error).__name__}: {error}"
    return Checked(run, f"does not hold: {' '.join(words.split())}", held=False)


def _schedule(run: Run) -> dict[str, Any]:
    """Return the columns of a run with a schedule, or with a bound alone."""
    if run.schedule() is None:
        if run.steps is not None:
            raise InputError("the schedule is missing")
        run.check_bound()
    if run.result["status"] == "optimal" and run.steps != run.lower_bound:
        raise InputError("it is called optimal, but its bound is lower")
    return _result_columns(run, run.result)


def _throughput(run: Run) -> CheckedThroughput:
    record = run.unpacked()
    verdict = check_throughput(record)
    stated = (run.result["rounds_per_chunk"], run.result["bound"])
    if stated != (str(verdict.rounds_per_chunk), str(verdict.bound)):
        raise InputError("the trees are not those of the result")
    if Instance.from_json(record["instance"]).digest != run.result["digest"]:
        raise InputError("the trees are of another instance")
    return CheckedThroughput(verdict, amount(run.result))


def _result_columns(run: Run, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a run as columns of the table."""
    infeasible = run.steps is None and result["status"] == "infeasible"
    evidence = result.get("evidence_without_schedule") or {}
    contributions = tuple(
        Contribution(
            amount(each), str(each["author"]), str(each["how"]), str(each["what"]),
            count(each["steps"]), count(int(each["lower"])), bool(each["certified"]),
            str(each.get("seeded_by", "")),
        )
        for each in result.get("contributions") or ()
    )  # fmt: skip
    found = [entry.steps for entry in contributions if entry.what == "schedule"]
    # The host's greedy schedule is no contribution, and engines may have worse ones.
    if found and (None in found or (found[-1] != run.steps and result["engine"] != HOST_GREEDY)):
        raise InputError("the contributions do not match its schedule")
    return {
        "steps": run.steps, "infeasible": infeasible, "lower_bound": count(run.lower_bound),
        "certified": run.certified and (not infeasible or evidence.get("kind") == "unreachable"),
        "certified_bound": 0 if run.certified or infeasible else count(run.certified_bound),
        **{name: amount(result, name) for name in ("seconds", "seconds_to_best")},
        **{name: str(result[name]) for name in ("engine", "bound_by")},
        "versions": {str(key): str(value) for key, value in result["versions"].items()},
        "troubles": tuple(map(str, result["troubles"])),
        **{name: count(result.get(name)) for name in ("conflicts", "evaluations_to_best")},
        **{name: total(result.get(name)) for name in ("evaluations", "search_seconds")},
        "contributions": contributions,
        "cost": amounts(result.get("cost") or {}),
    }  # fmt: skip
