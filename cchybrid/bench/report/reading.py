"""Reading a store for a report: every run is verified again; invalid ones are excluded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pandas import DataFrame

from cchybrid.bench.checking import COLUMNS, DAMAGE, Checked, check
from cchybrid.bench.contestant import Contestant, labels
from cchybrid.bench.row import Row
from cchybrid.bench.runner import digest_of
from cchybrid.bench.store import Store
from cchybrid.bench.suite import AnyRow, Suite, read_suite, suite_names
from cchybrid.library.instance_spec import resolve
from cchybrid.model.errors import CchybridError, InputError
from cchybrid.plugin.registry import Registry


@dataclass(frozen=True)
class CheckedSuite:
    """A suite of a store, and its runs, each of them checked against the instance of its row.

    Attributes
    ----------
    path, suite
        The store and the suite, whose rows are of one kind.
    runs
        The runs by row, in the order of the rows.
    unchecked
        By row, the reason why its instance could not be built; its runs do not count.
    excluded
        A line for every run of the store that cannot be read, and for the runs of every row that
        none of its suites has.
    changed
        A line for every row that differs from that of the suite that ships under this name.
    digests, sizes
        By row with runs, the digest of its instance; of schedules also its nodes and channels.
    """

    path: Path
    suite: Suite
    runs: Mapping[str, Sequence[Checked]]
    unchecked: Mapping[str, str] = field(default_factory=dict)
    excluded: Sequence[str] = ()
    changed: Sequence[str] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def all_runs(self) -> list[Checked]:
        """The runs of all rows."""
        return [run for runs in self.runs.values() for run in runs]


@dataclass(frozen=True)
class Reading:
    """A suite of schedules in a store: its rows in order, and the table of their runs.

    ``checked`` has what else is known of the store.
    """

    rows: tuple[Row, ...]
    runs: DataFrame
    checked: CheckedSuite

    @property
    def suite(self) -> str:
        """The name of the suite."""
        return self.checked.suite.name

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


def stored_suite(path: str | Path, suite: str | None) -> Suite:
    """Return a suite of a store; the name may be ``None`` if the store holds only one.

    Raises
    ------
    InputError
        There is no such store or suite, or the file is damaged.
    """
    with Store(path) as store, _damage_refused(path):
        found = store.suite(_choose(store.suites(), suite, str(path)))
        if sum(map(bool, (found.rows, found.designs, found.throughputs))) > 1:
            raise ValueError(f"the suite {found.name} has rows of several kinds")
        if len({row.name for row in found.all_rows}) < len(found.all_rows):
            raise ValueError(f"two rows of the suite {found.name} have one name")
        return found


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
    rows = {row.name: row for row in suite.all_rows}
    found: dict[str, list[Checked]] = {row: [] for row in rows}
    excluded: list[str] = []
    with Store(path) as store, _damage_refused(path):
        suites = map(store.suite, store.suites())
        known = {row.name for each in suites for row in each.all_rows}
        counts = store.run_counts()
        strays = [(row, count) for row, count in counts.items() if row not in known]
        counts = {row: count for row, count in counts.items() if row in rows}
        built = {row: _built(rows[row], registry) for row in counts}
        # Runs of further rows, stored since they were counted, are left to the next report.
        runs = (run for run in store.runs(excluded.append) if run.row in counts)
        for done, run in enumerate(runs, 1):
            found[run.row].append(check(run, rows[run.row], built[run.row][0]))
            watch(done, max(done, sum(counts.values())))
    excluded += [f"{row}: no suite of the store has this row; runs: {n}" for row, n in strays]
    return CheckedSuite(
        Path(path),
        suite,
        found,
        {row: str(why) for row, (why, _) in built.items() if isinstance(why, CchybridError)},
        excluded,
        changed_rows(suite),
        {row: digest for row, (digest, _) in built.items() if isinstance(digest, str)},
        {row: size for row, (_, size) in built.items() if size is not None},
    )


def read_store(
    path: str | Path,
    suite: str | None,
    registry: Registry,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> Reading:
    """Check the runs of a suite of schedules, and return them as a table.

    Raises
    ------
    InputError
        There is no such store or suite, or the file is damaged.
    """
    return reading_of(check_suite(path, stored_suite(path, suite), registry, watch), registry)


def reading_of(checked: CheckedSuite, registry: Registry) -> Reading:
    """Return the table of checked runs of schedules, with the present names of engines."""
    rows = tuple(_current_row(row, registry) for row in checked.suite.rows)
    schedules = {row.name for row in rows}
    runs = run_table(
        _current_run(each, registry) for each in checked.all_runs if each.run.row in schedules
    )
    return Reading(rows, runs, checked)


def changed_rows(suite: Suite) -> list[str]:
    """Return a line for every row that differs from that of the suite that ships by this name."""
    if suite.name not in suite_names():
        return []
    ships = {row.name: row for row in read_suite(suite.name).all_rows}
    stored = {row.name: row for row in suite.all_rows}
    lines = [f"{name}: the suite has no such row now" for name in stored if name not in ships]
    lines += [f"{name}: the store has no such row" for name in ships if name not in stored]
    lines += [
        f"{name}: the suite now has another instance or other published values"
        for name, row in stored.items()
        if name in ships and json.dumps(row.to_json()) != json.dumps(ships[name].to_json())
    ]
    return lines


def _current_row(row: Row, registry: Registry) -> Row:
    """Return the row with the present names of engines."""
    rates = {registry.current_name(name): rate for name, rate in row.published.rates.items()}
    return replace(row, published=replace(row.published, rates=rates))


def _current_run(checked: Checked, registry: Registry) -> dict[str, Any]:
    """Return the line of a run with the present names of engines."""
    run = checked.run
    record: dict[str, Any] = {
        "row": run.row, "key": run.contestant.key, "seed": run.seed,
        "failure": checked.failure, "held": checked.held, **(checked.found or {}),
    }  # fmt: skip
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


@contextmanager
def _damage_refused(path: str | Path) -> Iterator[None]:
    """Turn what reading a damaged file may raise into one error."""
    try:
        yield
    except DAMAGE as error:
        hint = "use a copy, or run the suite into another file"
        raise InputError(f"the store is damaged: {error}", where=str(path), hint=hint) from None


def _built(row: AnyRow, registry: Registry) -> tuple[str | CchybridError, tuple[int, int] | None]:
    """Return the digest of a row's instance, or why it cannot be built, and its size."""
    try:
        if not isinstance(row, Row):
            return digest_of(row, registry), None
        instance = resolve(row.spec, registry)
    except CchybridError as error:  # a missing file or plugin
        return error, None
    return instance.digest, (instance.network.nodes, len(instance.network.channels))


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
