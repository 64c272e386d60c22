"""The checked runs of a suite of schedules as a table."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pandas import DataFrame

from cchybrid.model.errors import CchybridError
from cchybrid.plugin.benchmark import Checked, CheckedSuite
from cchybrid.plugin.benchmark_report import machine_of
from cchybrid.plugin.registry import Registry

from ..checking import check_suite, stored_suite
from ..contestant import Contestant, labels
from ..features import features
from ..row import BY_ENGINE, Row
from ..schedule_checks import COLUMNS


@dataclass(frozen=True)
class Reading:
    """A suite of schedules in a store: its rows in order, and the table of their runs.

    ``checked`` has what else is known of the store, ``facts`` those of the instances by row.
    """

    rows: tuple[Row, ...]
    runs: DataFrame
    checked: CheckedSuite
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def suite(self) -> str:
        """The name of the suite."""
        return self.checked.name

    @property
    def counted(self) -> "Reading":
        """The same without the runs that do not hold, which are named and not counted."""
        return replace(self, runs=self.runs[self.runs.held])

    def features(self, row: Row) -> dict[str, Any]:
        """Return the features of a row's instance as columns."""
        return features(row, self.facts.get(row.name, {}))

    @property
    def contestants(self) -> list[Contestant]:
        """The contestants with runs that hold, in the order of their keys."""
        return [Contestant.from_key(key) for key in sorted(set(self.counted.runs.key))]


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


def once(runs: DataFrame) -> DataFrame:
    """Return each run once: of those of one row, contestant and seed one that holds, if any does.

    A row may stand in several suites; a run may be stored under a former name of its engine, too.
    """
    runs = runs.sort_values("failure", key=lambda text: text != "", kind="stable")
    runs = runs.drop_duplicates(["row", "key", "seed"])
    return runs.sort_index().reset_index(drop=True)


def read_store(path: str | Path, suite: str | None, registry: Registry) -> Reading:
    """Check the runs of a suite of schedules, and return them as a table.

    Raises
    ------
    InputError
        There is no such store or suite, or the file is damaged.
    """
    return reading_of(check_suite(path, stored_suite(path, suite, registry), registry), registry)


def reading_of(checked: CheckedSuite, registry: Registry) -> Reading:
    """Return the table of checked runs of schedules, with the present names of engines."""
    rows = tuple(_current_row(row, registry) for row in checked.rows)
    runs = once(run_table(_current_run(each, registry) for each in checked.all_runs))
    facts: dict[str, Mapping[str, Any]] = {}
    for row in rows:  # not of runs: names are outside the digest, and may be others
        with suppress(CchybridError):  # a missing file or plugin
            facts[row.name] = checked.kind.facts(row, registry)
    return Reading(rows, runs, checked, facts)


def _current_row(row: Row, registry: Registry) -> Row:
    """Return the row with the present names of engines."""
    current, published = registry.current_name, row.published
    named: dict[str, Any] = {
        key: {current(name): value for name, value in getattr(published, key).items()}
        for key in BY_ENGINE.values()
    }
    return replace(row, published=replace(published, **named))


def _current_run(checked: Checked, registry: Registry) -> dict[str, Any]:
    """Return the line of a run with the present names of engines."""
    run = checked.run
    record: dict[str, Any] = {
        "row": run.row, "key": run.contestant.key, "seed": run.seed,
        "failure": checked.failure, "held": checked.held, "machine": machine_of(run),
        **(checked.found or {}),
    }  # fmt: skip
    # Older runs name no engines among their versions.
    software = record.get("versions", {})
    engines = {name for name in software if name.startswith("engine ")}

    def renamed(title: str) -> str:
        # An engine, such as ``tabu``, or an engine ``on quotients``; else a bound provider.
        first, *rest = title.split(" ")
        known = not engines or f"engine {first}" in engines
        return " ".join([registry.current_name(first) if known else first, *rest])

    names: dict[str, Any] = {
        name: renamed(record[name]) for name in ("engine", "bound_by") if name in record
    }
    contributions = tuple(
        replace(entry, author=renamed(entry.author), seeded_by=renamed(entry.seeded_by))
        for entry in record.get("contributions", ())
    )
    key = Contestant.from_key(record["key"]).renamed(registry).key
    return {**record, **names, "key": key, "contributions": contributions}
