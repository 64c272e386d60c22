"""The check of the runs of a store, each against the task of its row."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cchybrid.checker import EvidenceError
from cchybrid.host.schedule_task import HOST_GREEDY
from cchybrid.model.errors import CchybridError, InputError
from cchybrid.plugin.benchmark import Benchmark, Checked, CheckedSuite
from cchybrid.plugin.registry import Registry

from .store import Run, Store
from .suite import Suite, read_suite, suite_names

DAMAGE = (
    sqlite3.Error, ValueError, LookupError, TypeError, AttributeError, ArithmeticError,
    RecursionError,
)  # fmt: skip
"""Errors that reading a damaged store may raise."""


def check(run: Run, row: Any, kind: Benchmark[Any], digest: str | CchybridError) -> Checked:
    """Return a run with what was verified of it; never raises, whatever the store contains.

    A run counts only for the task of its row: another one in its record is a failure.

    Parameters
    ----------
    digest
        That of the row's task, computed from the row, or the error raised by building it.
    """
    if run.failure:
        return Checked(run, " ".join(run.failure.split()))
    try:
        if isinstance(digest, CchybridError):
            raise InputError("the instance of its row could not be built")
        if run.result.get("digest") != digest:
            raise InputError("its instance differs from that of the row now")
        _check_key(run, kind)
        return Checked(run, found=kind.check(row, run))
    except (CchybridError, EvidenceError) as error:
        words = str(error)
    except Exception as error:  # a damaged record
        words = f"{type(error).__name__}: {error}"
    return Checked(run, f"does not hold: {' '.join(words.split())}", held=False)


def _check_key(run: Run, kind: Benchmark[Any]) -> None:
    """Raise an error if a run was made with another seed or other settings than its key has."""
    key = run.contestant
    expected: dict[str, Any] = {"seed": run.seed}
    if key.software:
        expected["software"] = key.software
    # Older runs do not have their settings, and those of some kinds no seed.
    own = run.result if kind.engines else expected | run.result
    if "settings" in own:
        own = own | own["settings"]
        expected |= json.loads(json.dumps(key.to_solve()))
    for name, value in expected.items():
        if (found := own.get(name)) != value:
            found, word = f"{found!r:.60}", name.replace("_", " ")
            raise InputError(f"its {word} is {found}, but it is stored under {value!r:.60}")
    if kind.engines and not key.first_schedule and run.result.get("engine") == HOST_GREEDY:
        raise InputError(f"{HOST_GREEDY} found its schedule, but took no part")


def refuse_other_tasks(store: Store, suite: Suite, registry: Registry) -> None:
    """Raise an ``InputError`` if another suite of a store has a row of one name with another task.

    Runs are stored by the names of rows, and two files of one name make rows of one name.
    """
    rows = {row.name: row for row in suite.rows}
    for name in store.suites():
        if name == suite.name:
            continue
        with damage_refused(store.path):
            other = store.suite(name, registry)
        for row in other.rows:
            own = rows.get(row.name)
            if own is None or (own.to_json() == row.to_json() and other.kind == suite.kind):
                continue
            kinds = registry.benchmark(suite.kind), registry.benchmark(other.kind)
            one, two = _digest(kinds[0], own, registry), _digest(kinds[1], row, registry)
            if isinstance(one, str) and isinstance(two, str) and one != two:
                raise InputError(
                    f"the row {row.name} of its suite {name} is another task than that of "
                    f"{suite.name}",
                    where=str(store.path), hint="name another store",
                )  # fmt: skip


def stored_suite(path: str | Path, suite: str | None, registry: Registry) -> Suite:
    """Return a suite of a store; the name may be ``None`` if the store holds only one.

    Raises
    ------
    InputError
        There is no such store or suite, or the file is damaged.
    """
    with Store(path) as store, damage_refused(path):
        return store.suite(_choose(store.suites(), suite, str(path)), registry)


def check_suite(
    path: str | Path,
    suite: Suite,
    registry: Registry,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> CheckedSuite:
    """Check every run of a suite of a store.

    The registry builds the instances of the rows; ``watch`` is called after every run with the
    numbers of checked runs and of all runs.

    Raises
    ------
    InputError
        There is no such store, or the file is damaged.
    """
    kind = registry.benchmark(suite.kind)
    rows = {row.name: row for row in suite.rows}
    found: dict[str, list[Checked]] = {row: [] for row in rows}
    excluded: list[str] = []
    with Store(path) as store, damage_refused(path):
        known, counts = store.row_names(), store.run_counts()
        strays = [(row, count) for row, count in counts.items() if row not in known]
        counts = {row: count for row, count in counts.items() if row in rows}
        digests = {row: _digest(kind, rows[row], registry) for row in counts}
        # Runs of further rows, stored since they were counted, are left to the next report.
        runs = (run for run in store.runs(excluded.append) if run.row in counts)
        for done, run in enumerate(runs, 1):
            found[run.row].append(check(run, rows[run.row], kind, digests[run.row]))
            watch(done, max(done, sum(counts.values())))
    excluded += [f"{row}: no suite of the store has this row; runs: {n}" for row, n in strays]
    return CheckedSuite(
        Path(path),
        suite.name,
        suite.rows,
        found,
        {row: str(why) for row, why in digests.items() if isinstance(why, CchybridError)},
        excluded,
        changed_rows(suite, registry),
        {row: digest for row, digest in digests.items() if isinstance(digest, str)},
        kind,
    )


def _digest(kind: Benchmark[Any], row: Any, registry: Registry) -> str | CchybridError:
    """Return the digest of a row's task, or why it cannot be built."""
    try:
        return kind.digest(row, registry)
    except CchybridError as error:  # a missing file or plugin
        return error


def changed_rows(suite: Suite, registry: Registry) -> list[str]:
    """Return a line for every row that differs from that of the suite that ships by this name."""
    if suite.name not in suite_names():
        return []
    ships = {row.name: row for row in read_suite(suite.name, registry).rows}
    stored = {row.name: row for row in suite.rows}
    lines = [f"{name}: the suite has no such row now" for name in stored if name not in ships]
    lines += [f"{name}: the store has no such row" for name in ships if name not in stored]
    lines += [
        f"{name}: the suite now has another instance or other published values"
        for name, row in stored.items()
        if name in ships and json.dumps(row.to_json()) != json.dumps(ships[name].to_json())
    ]
    return lines


@contextmanager
def damage_refused(
    path: str | Path, hint: str = "use a copy, or run the suite into another file"
) -> Iterator[None]:
    """Turn what reading a damaged file may raise into one error."""
    try:
        yield
    except DAMAGE as error:
        raise InputError(f"the store is damaged: {error}", where=str(path), hint=hint) from None


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
