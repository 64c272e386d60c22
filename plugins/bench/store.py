"""The store: one SQLite file of suites and finished runs.

Every run is one transaction, written when the run is finished, so that a crash or a power loss
leaves only whole runs.
"""

import contextlib
import fcntl
import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cchybrid.model.errors import InputError
from cchybrid.model.instance import MAX_FILE_CHARACTERS, is_file
from cchybrid.plugin.registry import Registry, load_registry

from .contestant import Contestant
from .suite import Suite

FORMAT = "cchybrid-store/1"

_RUN_COLUMNS: dict[str, type | tuple[type, ...]] = {
    "row": str, "contestant": str, "seed": int, "failure": str, "result": str,
    "schedule": (bytes, type(None)),
}  # fmt: skip
"""The columns of the table ``runs``, and the types of their values; SQLite would store any."""


@dataclass(frozen=True)
class Run:
    """One finished run.

    Attributes
    ----------
    row
        The name of the row.
    contestant, seed
        The contestant and the seed of the run.
    failure
        The reason why there is no result, or "".
    result
        The JSON object that the kind's ``work`` returned, with the digest of the task as
        ``digest``. Empty after a failure.
    record
        The compressed JSON object that was found, such as a schedule.
    """

    row: str
    contestant: Contestant
    seed: int
    failure: str
    result: dict[str, Any]
    record: bytes | None = None

    def unpacked(self) -> Any:
        """Return the JSON object of the record.

        Raises
        ------
        ValueError, zlib.error
            There is none, or it cannot be unpacked, or it is too large.
        """
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(self.record or b"", MAX_FILE_CHARACTERS)
        if not unpacker.eof:
            raise ValueError("the packed record is cut short, or too large")
        return json.loads(text)

    @property
    def key(self) -> tuple[str, str, int]:
        """The key of the run in the store."""
        return self.row, self.contestant.key, self.seed

    @property
    def title(self) -> str:
        """The run by its row, contestant and seed."""
        return f"{self.row} [{self.contestant.name}, seed {self.seed}]"


def _run(values: tuple[Any, ...]) -> Run:
    """Return the run of a line of the table; a value of another type is a ``ValueError``."""
    for (column, kinds), value in zip(_RUN_COLUMNS.items(), values, strict=True):
        if not isinstance(value, kinds):
            raise ValueError(f"the {column} is {value!r:.40}")
    row, key, seed, failure, text, record = values
    if key != json.dumps(json.loads(key), sort_keys=True, separators=(",", ":")):
        raise ValueError("the contestant is not in its usual form, so it could count twice")
    result = json.loads(text)
    if not isinstance(result, dict):
        raise ValueError(f"the result is {text:.40}")
    return Run(row, Contestant.from_key(key), seed, failure, result, record)


class Store:
    """An open store.

    Parameters
    ----------
    path
        The file; created if it does not exist and ``write`` is set.
    write
        Open it for a benchmark run, locked against other writers.

    Raises
    ------
    InputError
        The file is no store, cannot be opened, or is in use.
    """

    def __init__(self, path: str | Path, *, write: bool = False) -> None:
        self.path = Path(path)
        self._lock: Any = None
        self._writing = False
        if not write and not is_file(self.path):
            raise InputError("there is no such store", where=str(path), hint="check the name")
        try:
            if write:
                self._take_lock()
            if not write or self.path.stat().st_size:
                # Check the format before anything is changed: the file may not be a store.
                # A killed run leaves a journal, which only a writable connection can roll back.
                left = is_file(self.path.with_name(f"{self.path.name}-journal"))
                self._database = self._connect("rw" if left else "ro")
                self._check_format()
            if write:
                new = self.path.stat().st_size == 0
                if not new:
                    self._database.close()
                self._database = self._connect("rwc")
                if new:
                    self._create()
                self._database.execute("PRAGMA journal_mode=WAL")
                self._database.execute("PRAGMA synchronous=FULL")
                self._writing = True
        # A message about a damaged file may quote it, and then be no UTF-8.
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            self.close()
            raise InputError(
                f"cannot be used as a store: {error}", where=str(path), hint="name another file"
            ) from None
        except InputError:
            self.close()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; finished runs are kept even without this call."""
        if hasattr(self, "_database"):
            if self._writing:
                with contextlib.suppress(sqlite3.Error):  # a reader has the file open
                    self._database.execute("PRAGMA journal_mode=DELETE")
            self._database.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def put_suite(self, suite: Suite) -> None:
        """Store the rows of a suite in order, replacing its previous rows."""
        with self._transaction():
            self._database.execute("DELETE FROM suites WHERE suite = ?", (suite.name,))
            self._database.executemany(
                "INSERT INTO suites VALUES (?, ?, ?, ?)",
                (
                    (suite.name, position, row.name, json.dumps(row.to_json()))
                    for position, row in enumerate(suite.rows)
                ),
            )

    def put(self, run: Run) -> None:
        """Store a finished run, replacing a run of the same key."""
        with self._transaction():
            self._database.execute(
                "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)",
                (*run.key, run.failure, json.dumps(run.result), run.record),
            )
        # So that a copy of the file, made at any time, holds all but the last run.
        self._database.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def suites(self) -> list[str]:
        """Return the names of the suites in alphabetical order."""
        found = self._database.execute("SELECT DISTINCT suite FROM suites ORDER BY suite")
        return [name for (name,) in found]

    def suite(self, name: str, registry: Registry | None = None) -> Suite:
        """Return a suite with all its rows in their order; about and contestants are not stored.

        Raises
        ------
        InputError
            No plugin has rows of its kind.
        ValueError, LookupError, TypeError, AttributeError
            It is damaged.
        """
        registry = load_registry() if registry is None else registry
        found = self._database.execute(
            "SELECT row, content FROM suites WHERE suite = ? ORDER BY position", (name,)
        )
        listed = {row: json.loads(content) for row, content in found}
        records = list(listed.values())
        if not all(isinstance(record, dict) for record in records):
            raise ValueError(f"a row of the suite {name} is no object")
        keys = {info.row_key: info.name for info in registry.benchmarks.values()}
        kinds = {next((keys[key] for key in keys if key in record), "") for record in records}
        if "" in kinds:
            raise InputError(
                f"no plugin registers the kind of the suite {name}",
                where=str(self.path),
                hint="install the plugin that it was run with",
            )
        if len(kinds) > 1:
            raise ValueError(f"the suite {name} has rows of several kinds")
        (kind,) = kinds
        rows = tuple(map(registry.benchmark(kind).from_json, records))
        if len({row.name for row in rows}) < len(rows):
            raise ValueError(f"two rows of the suite {name} have one name")
        if [row.name for row in rows] != list(listed):
            raise ValueError(f"a row of the suite {name} is stored under another name")
        return Suite(name, "", rows, kind=kind)

    def row_names(self) -> set[str]:
        """Return the names of the rows of all suites."""
        return {name for (name,) in self._database.execute("SELECT row FROM suites")}

    def run_counts(self) -> dict[str, int]:
        """Return the number of runs by row, without reading them."""
        return dict(self._database.execute("SELECT row, count(*) FROM runs GROUP BY row"))

    def runs(self, damaged: Callable[[str], object] | None = None) -> Iterator[Run]:
        """Yield every run in the order of its key; nothing in it is checked.

        Parameters
        ----------
        damaged
            Called with a line for every run that cannot be read, which is left out; without it,
            such a run is a ``ValueError``.
        """
        seen: set[tuple[str, str, int]] = set()
        for values in self._database.execute(
            f"SELECT {', '.join(_RUN_COLUMNS)} FROM runs ORDER BY row, contestant, seed"
        ):
            try:
                run = _run(values)
                if run.key in seen:
                    raise ValueError("its contestant is that of another run, and would count twice")
                seen.add(run.key)
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                row, key, seed = values[:3]
                name = f"contestant {key!s:.80}"
                with contextlib.suppress(ValueError, LookupError, TypeError, AttributeError):
                    name = Contestant.from_key(key).name
                line = f"{row!s:.200} [{name}, seed {seed!r:.20}]: is damaged: {error}"
                if damaged is None:
                    raise ValueError(line) from None
                damaged(" ".join(line.split()))
                continue
            yield run

    def _take_lock(self) -> None:
        # A lock of the operating system, which ends with the process; SQLite's locks do not
        # conflict with it.
        if self.path.exists() and not self.path.is_file():  # opening a pipe would wait
            raise OSError("it is no file")
        self._lock = open(self.path, "ab")  # noqa: SIM115 (held until close)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                "another benchmark is writing to this store",
                where=str(self.path),
                hint="wait for it, or name another file",
            ) from None

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._database:  # commits or rolls back
            self._database.execute("BEGIN IMMEDIATE")
            yield

    def _connect(self, mode: str) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        database = sqlite3.connect(uri, uri=True, isolation_level=None)
        # A text that is no UTF-8 damages its own run only.
        database.text_factory = lambda text: text.decode(errors="replace")
        return database

    def _create(self) -> None:
        tables = Path(__file__).with_name("store.sql").read_text(encoding="utf-8")
        script = f"BEGIN;{tables}INSERT INTO meta VALUES ('format', '{FORMAT}');COMMIT;"
        self._database.executescript(script)

    def _check_format(self) -> None:
        found = None
        if self._database.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            query = "SELECT value FROM meta WHERE key = 'format'"
            with contextlib.suppress(sqlite3.OperationalError):  # another database has such a table
                found = self._database.execute(query).fetchone()
        if found != (FORMAT,):
            raise InputError(
                "this file is no store of cchybrid", where=str(self.path), hint="name another file"
            )
