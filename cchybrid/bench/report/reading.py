"""Reading a store for a report: every run is verified again; invalid ones are excluded."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pandas import DataFrame

from cchybrid.bench.contestant import Contestant, labels
from cchybrid.bench.row import Row
from cchybrid.bench.store import Run, Store
from cchybrid.host.run_history import Contribution
from cchybrid.host.run_state import HOST_GREEDY
from cchybrid.library.instance_spec import resolve
from cchybrid.model import Instance
from cchybrid.model.errors import CchybridError, InputError
from cchybrid.plugin.registry import Registry

DAMAGE = (
    sqlite3.Error, ValueError, LookupError, TypeError, AttributeError, ArithmeticError,
    RecursionError,
)  # fmt: skip
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


@dataclass(frozen=True)
class Reading:
    """A suite of a store: its rows in order, and the table of their runs.

    ``unchecked`` has, by row, the reason why its instance could not be built; the runs of these
    rows are excluded. ``sizes`` has the nodes and channels of the other rows with runs.
    """

    path: Path
    suite: str
    rows: tuple[Row, ...]
    runs: DataFrame
    unchecked: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def contestants(self) -> list[Contestant]:
        """The contestants with runs, in the order of their keys."""
        return [Contestant.from_key(key) for key in sorted(set(self.runs.key))]


def run_table(records: Iterable[Mapping[str, Any]]) -> DataFrame:
    """Return a line per run: ``COLUMNS``, the ``contestant`` by its label, the run's ``title``.

    Numbers that may be missing are floats.
    """
    kinds = {bool: bool, int: int, float: float, type(None): float}
    runs = DataFrame([{**COLUMNS, **record} for record in records], columns=[*COLUMNS])
    runs = runs.astype({name: kinds.get(type(value), object) for name, value in COLUMNS.items()})
    names = labels(Contestant.from_key(key) for key in sorted(set(runs.key)))
    runs["contestant"] = runs.key.map(names).astype(object)
    runs["title"] = runs["row"] + " [" + runs.contestant + ", seed " + runs.seed.astype(str) + "]"
    return runs


def read_store(
    path: str | Path,
    suite: str | None,
    registry: Registry,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> Reading:
    """Read the runs of a suite, and check every one of them.

    The suite may be ``None`` if the store holds only one; the registry builds the instances of the
    rows; ``watch`` is called after every run with the numbers of checked runs and of all runs.

    Raises
    ------
    InputError
        There is no such store or suite, or the file is damaged.
    """
    with Store(path) as store:
        try:
            name = _choose(store.suites(), suite, str(path))
            rows = {row.name: _current_row(row, registry) for row in store.rows(name)}
            counts = {row: count for row, count in store.run_counts().items() if row in rows}
            built = {row: _instance(rows[row], registry) for row in counts}
            digests = {
                row: each if isinstance(each, CchybridError) else each.digest
                for row, each in built.items()
            }
            sizes = {
                row: (each.network.nodes, len(each.network.channels))
                for row, each in built.items()
                if not isinstance(each, CchybridError)
            }
            built.clear()
            found: dict[str, list[dict[str, Any]]] = {row: [] for row in rows}
            for done, run in enumerate((run for run in store.runs() if run.row in rows), 1):
                found[run.row].append(_current_run(check(run, digests[run.row]), registry))
                watch(done, sum(counts.values()))
            runs = run_table(record for records in found.values() for record in records)
        except DAMAGE as error:
            hint = "use a copy, or run the suite into another file"
            raise InputError(f"the store is damaged: {error}", where=str(path), hint=hint) from None
    lost = {row: str(why) for row, why in digests.items() if isinstance(why, CchybridError)}
    return Reading(Path(path), name, tuple(rows.values()), runs, lost, sizes)


def _current_row(row: Row, registry: Registry) -> Row:
    """Return the row with the present names of engines."""
    rates = {registry.current_name(name): rate for name, rate in row.published.rates.items()}
    return replace(row, published=replace(row.published, rates=rates))


def _current_run(record: dict[str, Any], registry: Registry) -> dict[str, Any]:
    """Return the line of a run with the present names of engines."""
    current = registry.current_name

    def renamed(title: str) -> str:
        # An engine, such as ``tabu``, or an engine ``on quotients``.
        first, *rest = title.split(" ")
        return " ".join([current(first), *rest])

    names: dict[str, Any] = {
        name: current(record[name]) for name in ("engine", "bound_by") if name in record
    }
    contributions = tuple(
        replace(entry, author=renamed(entry.author), seeded_by=renamed(entry.seeded_by))
        for entry in record.get("contributions", ())
    )
    key = Contestant.from_key(record["key"]).renamed(registry).key
    return {**record, **names, "key": key, "contributions": contributions}


def _choose(suites: list[str], suite: str | None, path: str) -> str:
    if suite in suites or (suite is None and len(suites) == 1):
        return suite or suites[0]
    what, hint = "the store has no suite", "run one first: cchybrid bench run"
    if suite is not None:
        hint = f"use {', '.join(suites)}" if suites else hint
        raise InputError(f"{what} {suite}", where=f"{path}: --suite", hint=hint)
    if suites:
        what, hint = "the store has several suites", f"choose with --suite: {', '.join(suites)}"
    raise InputError(what, where=path, hint=hint)


def _instance(row: Row, registry: Registry) -> Instance | CchybridError:
    try:
        return resolve(row.spec, registry)
    except CchybridError as error:  # a missing file or plugin
        return error


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
