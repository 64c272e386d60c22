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
``fail_nodes``, ``chunks``, ``rounds``; published values are ``steps``, ``lower_bound``, ``place``,
``source``, ``note`` and ``comparable``. If ``with`` changes the instance of a row, nothing is
compared unless ``comparable`` is given.

A published success rate is ``success_percent`` with its ``engine``; ``goal`` is the number of
steps that a success has to reach. The rates of rows with the same name are combined.
``fixed_steps`` makes a conflict study of a row, and ``measure`` records the cost of its runs: see
``Row``. For contestants and budgets see ``study``.

A suite of designs has tables of networks to be designed instead, see ``DesignRow.from_text``::

    [[designs]]
    file = "../papers/gappin.csv"

    [[designs]]                       # lists multiply: here four networks
    nodes = [8, 9]
    degree = [3, 4]
    collective = "AAS"
    weights = "latency=1"

A suite of throughputs has tables with published rounds per chunk, see ``ThroughputRow``::

    [[throughputs]]
    file = "../papers/throughput.csv"
"""

from __future__ import annotations

import csv
import fnmatch
import itertools
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from cchybrid.bench.contestant import Contestant
from cchybrid.bench.design_row import DesignRow
from cchybrid.bench.row import Row
from cchybrid.bench.study import RunBudget, read_budget, read_contestants
from cchybrid.bench.throughput_row import ThroughputRow
from cchybrid.library.collectives import canonical_name
from cchybrid.library.nearest import did_you_mean
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import is_file, read_text

KEYS = ("name", "about", "rows", "tables", "designs", "throughputs", "contestants", "budget")
MAX_ROWS = 100_000
"""Combinations of listed values in a suite."""

AnyRow: TypeAlias = Row | DesignRow | ThroughputRow


@dataclass(frozen=True)
class Suite:
    """A named list of rows, each row's name at most once.

    A study also has ``contestants`` (without budgets; if empty, the command line names them) and
    the budget of every run. A suite of designs has ``designs`` and no ``rows``, one of throughputs
    only ``throughputs``.
    """

    name: str
    about: str
    rows: tuple[Row, ...]
    contestants: tuple[Contestant, ...] = ()
    budget: RunBudget = field(default_factory=RunBudget)
    designs: tuple[DesignRow, ...] = ()
    throughputs: tuple[ThroughputRow, ...] = ()

    @property
    def all_rows(self) -> tuple[AnyRow, ...]:
        """The rows of any kind."""
        return (*self.rows, *self.designs, *self.throughputs)


def suite_names() -> list[str]:
    """Return the names of the suites that ship with cchybrid."""
    folder = library() / "suites"
    return sorted(path.stem for path in folder.glob("*.toml"))


def library() -> Path:
    """Return the folder of instances that ships with cchybrid."""
    return Path(str(files("cchybrid_instances")))


def read_suite(name: str) -> Suite:
    """Read a suite by its name, or from a TOML file.

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
        return _read(path)


def _read(path: Path) -> Suite:
    try:
        record = tomllib.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"not TOML: {error}", hint="correct it there") from None
    _only_keys(record, KEYS, "the suite")
    rows: dict[str, Row] = {}
    for kind, expand in (("tables", _table_rows), ("rows", _listed_rows)):
        entries = record.get(kind, [])
        _check_tables(entries, kind)
        for index, entry in enumerate(entries):
            with with_context(f"{kind}[{index}]"):
                for row in expand(entry, path.parent):
                    known = rows.setdefault(row.name.casefold(), row)
                    if row.published.rates and known is not row:
                        rows[row.name.casefold()] = known.with_rates_of(row)
                    if known.spec.topology != row.spec.topology:
                        raise InputError(
                            f"two rows are called {row.name}", hint="give the files other names"
                        )
    designs = _designs(record.get("designs", []), path.parent)
    throughputs = _throughputs(record.get("throughputs", []), path.parent)
    if not rows and not designs and not throughputs:
        raise InputError("no rows", hint="write [[rows]] with topology and collective")
    if designs and (rows or "contestants" in record):
        raise InputError("designs beside rows or contestants", hint="write two suites")
    if throughputs and (rows or designs or "contestants" in record):
        raise InputError("throughputs beside other rows or contestants", hint="write two suites")
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
    return Suite(
        name,
        str(record.get("about", "")),
        tuple(rows.values()),
        contestants,
        budget,
        designs,
        throughputs,
    )


def _designs(entries: Any, folder: Path) -> tuple[DesignRow, ...]:
    _check_tables(entries, "designs")
    found: dict[str, DesignRow] = {}
    for index, entry in enumerate(entries):
        with with_context(f"designs[{index}]"):
            if entry and "file" not in entry:
                _add_designs(found, _listed_designs(entry))
                continue
            path = _table_file(entry, folder, "a table of designs")
            with with_context(path):
                _add_designs(found, _lines(path, ()))
    return tuple(found.values())


def _throughputs(entries: Any, folder: Path) -> tuple[ThroughputRow, ...]:
    _check_tables(entries, "throughputs")
    found: dict[str, ThroughputRow] = {}
    for index, entry in enumerate(entries):
        with with_context(f"throughputs[{index}]"):
            path = _table_file(entry, folder, "a table of throughputs")
            for line, values in _lines(path, ()):
                with with_context(path), with_context(line):
                    row = ThroughputRow.from_text(values)
                    if found.setdefault(row.name, row) is not row:
                        raise InputError(f"two rows are called {row.name}", hint="leave one out")
    return tuple(found.values())


def _check_tables(entries: Any, key: str) -> None:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError("no list of tables", where=key, hint=f"write [[{key}]]")


def _table_file(entry: Mapping[str, Any], folder: Path, what: str) -> Path:
    """Return the file of a table that has no other key."""
    _only_keys(entry, ("file",), what)
    if not isinstance(entry.get("file"), str):
        raise InputError("a table without a file", hint='write file = "table.csv"')
    return folder / str(entry["file"])


def _add_designs(
    found: dict[str, DesignRow], lines: Iterable[tuple[str, Mapping[str, str]]]
) -> None:
    """Add the designs of the lines of a table, each with its place."""
    for line, values in lines:
        with with_context(line):
            row = DesignRow.from_text(values)
            if row.name in found:
                raise InputError(f"two rows are called {row.name}", hint="give one another name")
            found[row.name] = row


def _listed_designs(entry: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the values of every combination of listed values, with the name made of them."""
    if "name" in entry:
        raise InputError("a name of several designs", where="name", hint="drop it")
    for values in _combinations(_texts(entry[key]) for key in entry):
        text = dict(zip(entry, values, strict=True))
        name = f"{text.get('nodes', '')} nodes, degree {text.get('degree', '')}"
        text["name"] = f"{name}, {text['collective']}" if "collective" in text else name
        yield text["name"], text


def _listed_rows(entry: Mapping[str, Any], folder: Path) -> Iterator[Row]:
    keys = list(entry)
    for values in _combinations(_texts(entry[key]) for key in keys):
        yield Row.from_text(dict(zip(keys, values, strict=True)), folder)


def _combinations(lists: Iterable[list[str]]) -> Iterable[tuple[str, ...]]:
    """Return every combination of one value of each list; refuse too many."""
    found = list(lists)
    if math.prod(map(len, found)) > MAX_ROWS:
        raise InputError(
            f"more than {MAX_ROWS} combinations of the listed values", hint="write several suites"
        )
    return itertools.product(*found)


def _table_rows(entry: Mapping[str, Any], folder: Path) -> Iterator[Row]:
    _only_keys(entry, ("file", "only", "with"), "a table")
    if not isinstance(entry.get("file"), str):
        raise InputError("a table without a file", hint='write file = "table.csv"')
    path = folder / entry["file"]
    only = {key: _texts(value) for key, value in _mapping(entry, "only").items()}
    extra = {key: _texts(value) for key, value in _mapping(entry, "with").items()}
    with with_context(path):
        matched = False
        for line, values in _lines(path, only):
            if not all(
                any(fnmatch.fnmatch(_folded(key, values[key]), _folded(key, p)) for p in patterns)
                for key, patterns in only.items()
            ):
                continue
            matched = True
            for chosen in _combinations(extra.values()):
                changed = dict(zip(extra, chosen, strict=True))
                with with_context(line):
                    row = Row.from_text({**values, **changed}, folder)
                    stated = "comparable" in changed or values.get("comparable")
                    own = {**values}
                    if not own.get("collective"):  # then the table alone names no instances
                        own["collective"] = changed.get("collective", "")
                    if not stated and row.spec != Row.from_text(own, folder).spec:
                        # Published values of one instance do not hold for another.
                        row = replace(row, published=replace(row.published, comparable=False))
                    yield row
        if not matched:
            raise InputError("no line matches", where="only", hint="change it")


def _folded(key: str, text: str) -> str:
    """Return a text in the form in which values are compared with patterns."""
    return (canonical_name(text.strip()) if key == "collective" else text.strip()).lower()


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
    values = value if isinstance(value, list) else [value]
    if not values:
        raise InputError("an empty list", hint="name at least one value, or leave it out")
    for item in values:
        if not isinstance(item, (str, int, float)):
            raise InputError(f"{item!r} is no value", hint="write a text, a number, or a list")
    return ["yes" if item is True else "no" if item is False else str(item) for item in values]


def _only_keys(record: Mapping[str, Any], keys: tuple[str, ...], what: str) -> None:
    for key in record:
        if key not in keys:
            raise InputError(f"{what} has no {key!r}", hint=f"use {', '.join(keys)}")
