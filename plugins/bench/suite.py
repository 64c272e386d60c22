"""Suites: TOML files that list instances, and CSV tables of published values.

::

    name = "smoke"
    about = "a minute of everything"

    [[rows]]                          # lists multiply: here four rows
    topology = ["hypercube-8", "torus-4x4"]
    collective = ["AAS", "AAB"]
    routing = "minimal"

    [[tables]]                        # a CSV file, beside the suite or with a path from there
    file = "../papers/thesis_steps.csv"
    only = { topology = ["omega-*", "clos-*"] }
    with = { routing = "any" }          # replaces the values of the table

Values are those of ``cchybrid solve``: ``topology``, ``collective``, ``root``, ``transmitters``,
``receivers``, ``participants``, ``routing``, ``switching``, ``ports``, ``fail_links``,
``fail_nodes``, ``chunks``, ``rounds``, ``size``, ``tick``, ``size_matrix``, with nodes by number
or by name; published values are
``steps``, ``lower_bound``, ``place``, ``source``, ``note`` and ``comparable``. If ``with`` changes
the instance of a row, nothing is compared unless ``comparable`` is given.

A published success rate is ``success_percent`` with its ``engine``; so are the means over the
successes, ``mean_evaluations`` and ``mean_time``, in the words of the source. ``goal`` is the
number of steps that a success has to reach. These values of rows with the same name are combined.
``fixed_steps`` makes a conflict study of a row, and ``measure`` records the cost of its runs: see
``Row``. For contestants and budgets see ``study``.

A suite of another kind has tables under the keys of its ``BenchmarkKind``, in the same forms: with
a ``file``, or with lists that multiply::

    [[designs]]
    file = "../papers/gappin.csv"

    [[designs]]                       # here four networks
    nodes = [8, 9]
    degree = [3, 4]
    collective = "AAS"
    weights = "latency=1"
"""

import csv
import fnmatch
import itertools
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from cchybrid.library.collectives import all_names, name_key
from cchybrid.library.nearest import did_you_mean
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import is_file, read_text
from cchybrid.plugin.benchmark import Benchmark
from cchybrid.plugin.records import BenchmarkKind
from cchybrid.plugin.registry import Registry, load_registry

from .contestant import Contestant
from .study import RunBudget, listed, only_keys, read_budget, read_contestants

KEYS = ("name", "about", "contestants", "budget")
"""The keys of a suite beside those of its tables."""
MAX_ROWS = 100_000
"""Combinations of listed values in a suite."""


@dataclass(frozen=True)
class Suite:
    """A named list of rows of one kind, each row's name at most once.

    A study also has ``contestants`` (without budgets; if empty, the command line names them) and
    the budget of every run.
    """

    name: str
    about: str
    rows: tuple[Any, ...]
    contestants: tuple[Contestant, ...] = ()
    budget: RunBudget = field(default_factory=RunBudget)
    kind: str = "schedules"


def suite_names() -> list[str]:
    """Return the names of the suites that ship with cchybrid."""
    folder = library() / "suites"
    return sorted(path.stem for path in folder.glob("*.toml"))


def library() -> Path:
    """Return the folder of instances that ships with cchybrid."""
    return Path(str(files("cchybrid_instances")))


def read_suite(name: str, registry: Registry | None = None) -> Suite:
    """Read a suite by its name, or from a TOML file.

    Parameters
    ----------
    registry
        Has the kinds of benchmarks.

    Raises
    ------
    InputError
        The suite cannot be read; the error names the place.
    """
    path = Path(name)
    if path.suffix != ".toml":
        path = library() / "suites" / f"{name.lower()}.toml"
        if not is_file(path):
            known = ", ".join(suite_names())
            raise InputError(
                f"no suite is called {name}",
                where="SUITE",
                hint=did_you_mean(name, suite_names(), f"use {known}, or a .toml file"),
            )
    with with_context(path):
        return _read(path, load_registry() if registry is None else registry)


class _Number(float):
    """A number that keeps its digits, which say how precise a published value is: 1.30."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("_", "")


def _read(path: Path, registry: Registry) -> Suite:
    try:
        record = tomllib.loads(read_text(path), parse_float=_Number)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not TOML: {error}", hint="correct it there") from None
    tables = {key: info for info in registry.benchmarks.values() for key in info.table_keys}
    only_keys(record, (*KEYS, *tables), "the suite")
    info = _kind([tables[key] for key in record if key in tables])
    kind = registry.benchmark(info.name)
    if "contestants" in record and not kind.engines:
        raise InputError(f"{info.name} beside contestants", hint="leave them out")
    rows: dict[str, Any] = {}
    for key in reversed(info.table_keys):  # tables of files first
        for where, row in _rows(record.get(key, []), key, kind, path.parent):
            name = row.name.casefold()
            with with_context(where):
                rows[name] = kind.joined(rows[name], row) if name in rows else row
    if not rows:
        raise InputError("no rows", hint="write [[rows]] with topology and collective")
    name = record.get("name", path.stem)
    if not isinstance(name, str) or not re.fullmatch(r"[\w .+-]{1,80}", name):
        raise InputError(
            f"{str(name)[:40]!r} is no name of a suite",
            where="name",
            hint="use letters, digits, spaces and . + -",
        )
    contestants = read_contestants(record.get("contestants", []))
    with with_context("budget"):
        budget = read_budget(record.get("budget", {}))
    about = str(record.get("about", ""))
    return Suite(name, about, tuple(rows.values()), contestants, budget, info.name)


def _kind(found: list[BenchmarkKind]) -> BenchmarkKind:
    """Return the one kind of the tables of a suite."""
    if not found:
        raise InputError("no rows", hint="write [[rows]] with topology and collective")
    if other := next((info for info in found if info != found[0]), None):
        raise InputError(f"{found[0].name} beside {other.name}", hint="write two suites")
    return found[0]


def _rows(entries: Any, key: str, kind: Benchmark[Any], folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield every row of the tables under a key, and its place."""
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError("no list of tables", where=key, hint=f"write [[{key}]]")
    for index, entry in enumerate(entries):
        where = f"{key}[{index}]"
        with with_context(where):
            lists = {*entry} - {"only", "with"} or (not entry and key == "rows")
            listed = lists and "file" not in entry
            for row in (_listed if listed else _of_table)(entry, kind, folder):
                yield where, row


def _listed(entry: Mapping[str, Any], kind: Benchmark[Any], folder: Path) -> Iterator[Any]:
    """Yield the row of every combination of listed values."""
    for values in _combinations(_texts(entry[key]) for key in entry):
        yield kind.from_text(dict(zip(entry, values, strict=True)), folder)


def _combinations(lists: Iterable[list[str]]) -> Iterable[tuple[str, ...]]:
    """Return every combination of one value of each list; refuse too many."""
    found = list(lists)
    if math.prod(map(len, found)) > MAX_ROWS:
        raise InputError(
            f"more than {MAX_ROWS} combinations of the listed values", hint="write several suites"
        )
    return itertools.product(*found)


def _of_table(entry: Mapping[str, Any], kind: Benchmark[Any], folder: Path) -> Iterator[Any]:
    """Yield the rows of a CSV file."""
    only_keys(entry, ("file", "only", "with"), "a table")
    if not isinstance(entry.get("file"), str):
        raise InputError("a table without a file", hint='write file = "table.csv"')
    path = folder / entry["file"]
    only = {key: _texts(value) for key, value in _mapping(entry, "only").items()}
    extra = {key: _texts(value) for key, value in _mapping(entry, "with").items()}
    with with_context(path):
        matched = not only
        for line, values in _lines(path, only):
            if not all(
                any(_matches(key, values[key], pattern) for pattern in patterns)
                for key, patterns in only.items()
            ):
                continue
            matched = True
            for chosen in _combinations(extra.values()):
                changes = dict(zip(extra, chosen, strict=True))
                with with_context(line):
                    if changes:
                        yield kind.changed(values, changes, folder)
                    else:
                        yield kind.from_text(values, folder)
        if not matched:
            raise InputError("no line matches", where="only", hint="change it")


def _matches(key: str, value: str, pattern: str) -> bool:
    """Return whether a value matches a pattern: a collective by any of its names, as users do."""
    names, pattern = [value.strip().lower()], pattern.strip().lower()
    if key == "collective":
        *names, pattern = map(_compared, (*all_names(value.strip()), pattern))
    return any(fnmatch.fnmatchcase(name, pattern) for name in names)


def _compared(collective: str) -> str:
    word, colon, argument = collective.partition(":")
    return name_key(word) + colon + argument.lower()


def _lines(path: Path, columns: Iterable[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the number and the values of every line of a CSV file that has these columns."""
    lines = read_text(path).splitlines(keepends=True)
    kept = [number for number, line in enumerate(lines, 1) if not line.startswith("#")]
    reader = csv.DictReader((lines[number - 1] for number in kept), strict=True)
    try:
        fields = list(reader.fieldnames or ())
        if len(set(fields)) < len(fields):
            raise InputError("two columns have one name", where="header", hint="rename one")
        for key in columns:
            if key not in fields:
                raise InputError(
                    f"the table has no column {key!r}", where="only", hint="correct it"
                )
        for values in reader:
            line = f"line {kept[reader.line_num - 1]}"
            if None in values or None in values.values():
                raise InputError("too many or too few values", where=line, hint="count the commas")
            yield line, values
    except csv.Error as error:
        raise InputError(f"no CSV: {error}", hint="correct it there") from None


def _mapping(entry: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = entry.get(key, {})
    if not isinstance(value, dict):
        raise InputError("no table of values", where=key, hint=f'write {key} = {{ root = "0" }}')
    return value


def _texts(value: Any) -> list[str]:
    return [
        ("no", "yes")[item] if isinstance(item, bool) else getattr(item, "text", str(item))
        for item in listed(value)
    ]
