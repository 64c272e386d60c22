"""Reading a store for a report: every run is verified again; invalid ones are excluded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pandas import DataFrame

from cchybrid.bench.checking import COLUMNS, DAMAGE, check
from cchybrid.bench.contestant import Contestant, labels
from cchybrid.bench.row import Row
from cchybrid.bench.store import Store
from cchybrid.library.instance_spec import resolve
from cchybrid.model import Instance
from cchybrid.model.errors import CchybridError, InputError
from cchybrid.plugin.registry import Registry


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
            # Runs of further rows, stored since they were counted, are left to the next report.
            for done, run in enumerate((run for run in store.runs() if run.row in counts), 1):
                found[run.row].append(_current_run(check(run, digests[run.row]), registry))
                watch(done, max(done, sum(counts.values())))
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


def suite_of_kind(
    path: Path, suite: str | None, rows: Callable[[Store, str], Sequence[object]]
) -> str | None:
    """Return the name of the suite if it has rows of a kind, such as ``Store.designs``."""
    with Store(path) as store:
        try:
            names = store.suites()
            name = suite or (names[0] if len(names) == 1 else "")
            return name if name in names and rows(store, name) else None
        except DAMAGE:  # ``read_store`` reports it
            return None


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
