"""Kinds of benchmarks: the rows of a suite, the work on a row, the check of its runs, the report.

A plugin registers a ``BenchmarkKind``, whose ``target`` is a subclass of ``Benchmark``. The command
``bench`` reads its tables, runs its rows, keeps the results in its store, and writes its reports.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from cchybrid.library.collectives import PAIRS_OF_FILE, canonical_name
from cchybrid.library.instance_spec import InstanceSpec, noting, resolve
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.plugin.records import BenchmarkKind
from cchybrid.plugin.registry import Registry


def read_topology(text: str, folder: Path) -> str:
    """Return the topology that a row names: in lower case, or the absolute path of a file."""
    named = "/" not in text and "." not in text
    return text.lower() if named else str((folder / text).absolute())


def shown_topology(topology: str) -> str:
    """Return the name of a topology, or of its file without the folder, for the name of a row."""
    path = Path(topology)
    return path.name if path.is_absolute() else topology


def read_collective(text: str, folder: Path) -> str:
    """Return the collective that a row names, with the absolute path of a file of its pairs."""
    word, _, argument = canonical_name(text).partition(":")
    if f"{word.strip()}:{argument.strip()[:1]}" != PAIRS_OF_FILE:
        return canonical_name(text)
    return PAIRS_OF_FILE + str((folder / argument.strip()[1:]).absolute())


def shown_collective(collective: str) -> str:
    """Return the name of a collective, with a file of pairs without its folder."""
    if not collective.startswith(PAIRS_OF_FILE):
        return collective
    return PAIRS_OF_FILE + Path(collective.removeprefix(PAIRS_OF_FILE)).name


class BenchmarkRow(Protocol):
    """One row of a suite: what is to be done, and what was published about it."""

    @property
    def name(self) -> str:
        """The unique name in its suite; equal names mean equal tasks."""

    def to_json(self) -> dict[str, Any]:
        """Return the row as a JSON object with the key of its kind, as in the store."""


class StoredRun(Protocol):
    """A run of a row as a store holds it: nothing in it is checked."""

    @property
    def row(self) -> str:
        """The name of the row."""

    @property
    def seed(self) -> int:
        """The seed."""

    @property
    def failure(self) -> str:
        """The reason why there is no result, or ""."""

    @property
    def result(self) -> dict[str, Any]:
        """The JSON object that ``Benchmark.work`` returned."""

    @property
    def record(self) -> bytes | None:
        """The compressed JSON object that ``Benchmark.work`` returned beside the result."""

    def unpacked(self) -> Any:
        """Return the JSON object of the record.

        Raises
        ------
        ValueError, zlib.error
            There is none, or it cannot be unpacked, or it is too large.
        """


class Checked(NamedTuple):
    """A run of a store after its check.

    Attributes
    ----------
    run
        The run as it is stored; nothing in it but its names may be reported.
    failure
        Why it does not count, in one line; "" if it counts.
    held
        ``False`` if it is called a result but does not hold.
    found
        What ``Benchmark.check`` returned; ``None`` if the run does not count.
    """

    run: Any
    failure: str = ""
    held: bool = True
    found: Any = None

    @property
    def line(self) -> str:
        """The run by its row and seed, and why it does not count."""
        return f"{self.run.row}, seed {self.run.seed}: {self.failure}"


@dataclass(frozen=True)
class CheckedSuite:
    """A suite of a store, and its runs, each of them checked against the task of its row.

    Attributes
    ----------
    path, name, rows
        The store, the name of the suite, and its rows in order.
    runs
        The runs by row, in the order of the rows.
    unchecked
        By row, why its task could not be built; its runs do not count.
    excluded
        A line for every run of the store that cannot be read, and for the runs of every row that
        none of its suites has.
    changed
        A line for every row that differs from that of the suite that ships under this name.
    digests
        By row with runs, the digest of its task.
    kind
        The kind of the rows, which made the digests.
    """

    path: Path
    name: str
    rows: Sequence[Any]
    runs: Mapping[str, Sequence[Checked]]
    unchecked: Mapping[str, str] = field(default_factory=dict)
    excluded: Sequence[str] = ()
    changed: Sequence[str] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    kind: Any = None

    @property
    def all_runs(self) -> list[Checked]:
        """The runs of all rows."""
        return [run for runs in self.runs.values() for run in runs]


class SettingsError(InputError):
    """The settings of a run are not valid for any row: the benchmark ends."""


R = TypeVar("R", bound=BenchmarkRow)


class Benchmark(ABC, Generic[R]):
    """A kind of benchmarks, made from its record.

    Attributes
    ----------
    engines
        Whether engines solve its rows. Then suites may name contestants, and reports may compare
        two stores and have a page for every schedule.
    budget
        Whether its runs have a budget and a seed.
    notes
        Lines on what rows do not use of their files, in the order of their digests.
    """

    engines = False
    budget = True

    def __init__(self, info: BenchmarkKind) -> None:
        self.info = info
        self.notes: list[str] = []

    @abstractmethod
    def from_text(self, values: Mapping[str, str], folder: Path) -> R:
        """Return the row of a line of a table, or of listed values, by column.

        Parameters
        ----------
        folder
            The folder of the suite, where relative paths start.

        Raises
        ------
        InputError
            Unknown column, or invalid value; the error names both.
        """

    def changed(self, values: Mapping[str, str], changes: Mapping[str, str], folder: Path) -> R:
        """Return the row of a line of a table with changed values (``with``).

        Published values may not hold for it. Refused by default.
        """
        raise InputError(
            f"{self.info.name} have no values in place of those of a table",
            where="with",
            hint="write another table",
        )

    def joined(self, known: R, row: R) -> R:
        """Return the one row for two of the same name; refused by default."""
        raise InputError(f"two rows are called {row.name}", hint="give one another name")

    @abstractmethod
    def from_json(self, record: Mapping[str, Any]) -> R:
        """Return the row of a JSON object of ``to_json``, as a store has it.

        Raises
        ------
        ValueError, LookupError, TypeError, AttributeError, InputError
            The object is damaged.
        """

    @abstractmethod
    def digest(self, row: R, registry: Registry) -> str:
        """Return the digest of all that decides about a result; published values do not.

        Raises
        ------
        InputError
            The row names no task.
        """

    def check_settings(self, row: R, solve: Mapping[str, Any], registry: Registry) -> None:
        """Refuse settings that runs of a row cannot have; by default nothing is refused.

        Parameters
        ----------
        solve
            As in ``work``.

        Raises
        ------
        InputError
            The benchmark does not begin.
        """
        return

    def instance(self, row: R, registry: Registry) -> Any:
        """Return the instance that a row names, whose nodes have the names that its page shows.

        Only kinds with ``engines`` have any.
        """
        raise InputError(f"{self.info.name} have no instances", where=row.name)

    def resolved(self, name: str, spec: InstanceSpec, registry: Registry) -> Instance:
        """Return the instance of a row of this name, with lines on what it leaves unused noted."""
        notes: list[str] = []
        instance = resolve(spec, registry, noting(notes.append), notes.append)
        lines = [f"row {name}: {note}" for note in notes]
        self.notes += [line for line in lines if line not in self.notes]
        return instance

    def job(self, row: R, registry: Registry) -> dict[str, Any]:
        """Return the JSON object that ``work`` gets, on this machine or on another."""
        return row.to_json()

    @abstractmethod
    def work(
        self, job: Mapping[str, Any], solve: Mapping[str, Any], seed: int, registry: Registry
    ) -> tuple[dict[str, Any], Any]:
        """Do one run, in a process of its own.

        Parameters
        ----------
        job
            What ``job`` returned.
        solve
            The arguments of ``cchybrid.solve`` for this run: ``time_limit``, ``evaluations``,
            ``threads``; of kinds with engines also ``engines``, ``strategy`` and others.

        Returns
        -------
        tuple
            The result, a JSON object with at least ``digest``; and a JSON object with what was
            found, which the store compresses, or ``None``. A ``seed`` of the result must be that
            of the run, and of kinds with engines ``strategy`` and ``budget`` as well, or the run
            does not count.

        Raises
        ------
        SettingsError
            No row can be run with these settings.
        CchybridError
            This run failed.
        """

    @abstractmethod
    def check(self, row: R, run: StoredRun) -> Any:
        """Return what holds of a run whose digest is that of its row, for ``report``.

        Raises
        ------
        Exception
            The run does not hold, or its record is damaged; the text says why.
        """

    def words(self, result: Mapping[str, Any]) -> str:
        """Return the result of a run in a few words, for the progress."""
        return str(result.get("status", "done"))

    @abstractmethod
    def report(self, checked: CheckedSuite, other: CheckedSuite | None, registry: Registry) -> Any:
        """Return the report of a suite of a store: a ``cchybrid.plugin.benchmark_report.Report``.

        Parameters
        ----------
        other
            The suite of another store to compare with; only for kinds with ``engines``.
        """


def amount(values: Mapping[str, Any], name: str = "seconds") -> float:
    """Return a time, or another cost, of a result as stored.

    Raises
    ------
    InputError, LookupError, TypeError, ValueError
        It is missing, or no finite number from 0 on.
    """
    value = values[name]
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise InputError(f"{name} is {value!r:.40}")
    return float(value)
