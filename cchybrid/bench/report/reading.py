"""Reading a store for a report: every run is verified again, and what does not hold is left out."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cchybrid.bench.contestant import Contestant
from cchybrid.bench.row import Row
from cchybrid.bench.store import Run, Store
from cchybrid.host.run_history import Contribution
from cchybrid.library.instance_spec import resolve
from cchybrid.model.errors import CchybridError, InputError
from cchybrid.plugin.registry import Registry

Watch = Callable[[int, int], None]
"""Called with how many runs were checked, of how many."""


@dataclass(frozen=True)
class Outcome:
    """What one run amounts to, checked.

    Attributes
    ----------
    row, contestant, seed
        What was run.
    failure
        Why the run does not count, or "".
    held
        False if it had a result that does not hold.
    steps
        Of the verified schedule; ``None`` without one.
    lower_bound, certified
        The bound, and whether its evidence was checked.
    beneath
        The certified bound beneath one that is only claimed, 0 without.
    infeasible
        Whether it says that there is no schedule; ``certified`` says whether that was checked.
    seconds, seconds_to_best, engine, bound_by, versions, troubles, conflicts, evaluations_to_best
        As in the result.
    evaluations, search_seconds
        What all engines spent together; ``None`` where one of them did not say.
    course
        Who found what, in the order of time; empty where the store is older than this.
    """

    row: str
    contestant: Contestant
    seed: int
    failure: str = ""
    held: bool = True
    steps: int | None = None
    lower_bound: int = 0
    certified: bool = False
    beneath: int = 0
    infeasible: bool = False
    seconds: float = 0.0
    seconds_to_best: float = 0.0
    engine: str = ""
    bound_by: str = ""
    versions: Mapping[str, str] | None = None
    troubles: tuple[str, ...] = ()
    conflicts: int | None = None
    evaluations_to_best: int | None = None
    evaluations: int | None = None
    search_seconds: float | None = None
    course: tuple[Contribution, ...] = ()

    def title(self, names: Mapping[str, str]) -> str:
        """Return the run in words; ``names`` are those of the contestants by key."""
        return f"{self.row} [{names[self.contestant.key]}, seed {self.seed}]"


@dataclass(frozen=True)
class Reading:
    """A suite as a store holds it: its rows in order, and per row the outcomes.

    ``unchecked`` says of rows why it could not be told what instances their names mean; their
    runs do not hold.
    """

    path: Path
    suite: str
    rows: tuple[Row, ...]
    outcomes: Mapping[str, tuple[Outcome, ...]]
    unchecked: Mapping[str, str] = field(default_factory=dict)

    @property
    def contestants(self) -> list[Contestant]:
        """Everyone who ran, in the order of their keys."""
        found = {o.contestant.key: o.contestant for each in self.outcomes.values() for o in each}
        return [found[key] for key in sorted(found)]


def read_store(
    path: str | Path, suite: str | None, registry: Registry, watch: Watch | None = None
) -> Reading:
    """Read the runs of a suite, and check every one of them.

    Parameters
    ----------
    path
        The store.
    suite
        The name of the suite; may be ``None`` where the store holds only one.
    registry
        The plugins, which know what instance a row names.
    watch
        Called after every run.

    Raises
    ------
    InputError
        There is no such store or suite, or the file is damaged.
    """
    with Store(path) as store:
        try:
            name = _choose(store.suites(), suite, str(path))
            rows = tuple(store.rows(name))
            outcomes, unchecked = _outcomes(store, rows, registry, watch)
            return Reading(Path(path), name, rows, outcomes, unchecked)
        except (
            sqlite3.Error,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            RecursionError,
        ) as error:
            raise InputError(
                f"the store is damaged: {error}",
                where=str(path),
                mend="use a copy, or run the suite into another file",
            ) from None


def _choose(suites: list[str], suite: str | None, path: str) -> str:
    known = ", ".join(suites)
    if suite is not None and suite not in suites:
        raise InputError(
            f"the store has no suite {suite}",
            where=f"{path}: --suite",
            mend=f"use {known}" if suites else "run one first: cchybrid bench run",
        )
    if not suites:
        raise InputError(
            "the store has no suite", where=path, mend="run one first: cchybrid bench run"
        )
    if suite is None and len(suites) > 1:
        raise InputError(
            "the store has several suites", where=path, mend=f"choose with --suite: {known}"
        )
    return suites[0] if suite is None else suite


def _outcomes(
    store: Store, rows: tuple[Row, ...], registry: Registry, watch: Watch | None
) -> tuple[dict[str, tuple[Outcome, ...]], dict[str, str]]:
    questions = {row.name: row.question for row in rows}
    counts = store.run_counts()
    total = sum(counts.get(name, 0) for name in questions)
    digests: dict[str, str] = {}
    unchecked: dict[str, str] = {}
    found: dict[str, list[Outcome]] = {name: [] for name in questions}
    done = 0
    for run in store.runs():
        if run.row not in questions:
            continue
        if run.row not in digests and run.row not in unchecked:
            try:
                digests[run.row] = resolve(questions[run.row], registry).digest
            except CchybridError as error:  # a file that is gone, a plugin that is not installed
                unchecked[run.row] = str(error)
        if run.row in unchecked and not run.failure:
            words = "does not hold: what instance its row names could not be looked up"
            outcome = Outcome(run.row, run.contestant, run.seed, words, held=False)
        else:
            outcome = check(run, digests.get(run.row))
        found[run.row].append(outcome)
        done += 1
        if watch is not None:
            watch(done, total)
    return {name: tuple(each) for name, each in found.items()}, unchecked


def check(run: Run, digest: str | None = None) -> Outcome:
    """Return what a run amounts to; nothing that a store says can make this raise.

    Parameters
    ----------
    digest
        Of the instance that the row names, if it can be told.
    """
    if run.failure:
        return Outcome(run.row, run.contestant, run.seed, run.failure)
    try:
        _verify(run, digest)
        return _from_result(run, run.result)
    except CchybridError as error:
        words = error.what if isinstance(error, InputError) else str(error)
    except Exception as error:  # whatever a damaged record leads to
        words = f"{type(error).__name__}: {error}"
    words = f"does not hold: {' '.join(words.split())}"
    return Outcome(run.row, run.contestant, run.seed, words, held=False)


def _verify(run: Run, digest: str | None) -> None:
    if digest is not None and run.result["digest"] != digest:
        raise InputError("its instance is not the one that the row names now")
    schedule = run.schedule()
    if schedule is None:
        if run.steps is not None:
            raise InputError("the schedule is missing")
        run.check_bound()


def _from_result(run: Run, result: Mapping[str, Any]) -> Outcome:
    infeasible = run.steps is None and result["status"] == "infeasible"
    evidence = result.get("evidence_without_schedule") or {}
    return Outcome(
        row=run.row,
        contestant=run.contestant,
        seed=run.seed,
        steps=run.steps,
        lower_bound=run.lower_bound,
        certified=run.certified and (not infeasible or evidence.get("kind") == "unreachable"),
        beneath=0 if run.certified or infeasible else run.certified_bound,
        infeasible=infeasible,
        seconds=float(result["seconds"]),
        seconds_to_best=float(result["seconds_to_best"]),
        engine=str(result["engine"]),
        bound_by=str(result["bound_by"]),
        versions={str(key): str(value) for key, value in result["versions"].items()},
        troubles=tuple(map(str, result["troubles"])),
        conflicts=_count(result.get("conflicts")),
        evaluations_to_best=_count(result.get("evaluations_to_best")),
        evaluations=_sum(result.get("evaluations")),
        search_seconds=_sum(result.get("search_seconds")),
        course=_course(run, result.get("contributions") or ()),
    )


def _course(run: Run, entries: Iterable[Mapping[str, Any]]) -> tuple[Contribution, ...]:
    course = tuple(
        Contribution(
            seconds=float(entry["seconds"]),
            author=str(entry["author"]),
            how=str(entry["how"]),
            what=str(entry["what"]),
            steps=_count(entry["steps"]),
            lower=int(entry["lower"]),
            certified=bool(entry["certified"]),
        )
        for entry in entries
    )
    found = [entry.steps for entry in course if entry.what == "schedule"]
    if found and (found[-1] != run.steps or None in found):
        raise InputError("who found what is not told of its schedule")
    return course


def _count(value: Any) -> int | None:
    return None if value is None else int(value)


def _sum(values: Mapping[str, Any] | None) -> Any:
    """Return the sum over all engines; ``None`` where one is unknown, or nothing was told."""
    if not values or None in values.values():
        return None
    return sum(values.values())
