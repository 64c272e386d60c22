"""Merging of stores: every run is verified, and stored once by its key."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cchybrid.model.errors import CchybridError, InputError
from cchybrid.plugin.benchmark import Benchmark
from cchybrid.plugin.registry import Registry

from .checking import check, damage_refused, refuse_other_tasks
from .store import Run, Store

Rows = dict[str, tuple[Any, Benchmark[Any]]]
"""Rows and their kinds, by the names of the rows."""


@dataclass
class Merged:
    """The outcome of a merge.

    Attributes
    ----------
    added
        Runs of the merged store that were stored.
    known
        Runs that were left out, as the store has one of the same key already, or replaced.
    refused
        A line for every run that does not hold or cannot be read; it was left out.
    """

    added: int = 0
    known: int = 0
    refused: list[str] = field(default_factory=list)


def merge(
    paths: Sequence[Path],
    output: Store,
    registry: Registry,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> Merged:
    """Add the runs of stores to a store.

    Of two runs with the same key, by the present names of engines, the first that holds is kept,
    unless it failed and the other did not, or only the other was measured.

    Parameters
    ----------
    paths
        The stores, which are not changed.
    output
        Opened for writing.
    watch
        Called after every run with the numbers of read runs of its store and of all.

    Raises
    ------
    InputError
        A file is no store, is damaged, or has other rows of a suite of the same name.
    """
    merged = Merged()

    def key_of(run: Run) -> tuple[str, str, int]:
        return run.row, run.contestant.renamed(registry).key, run.seed

    with damage_refused(output.path):
        own_rows, own_digests = _rows(output, registry), dict[str, str | None]()
    unverified = {key_of(run): run for run in output.runs(merged.refused.append)}
    known: dict[tuple[str, str, int], Run] = {}
    stored: set[tuple[str, str, int]] = set()
    for path in paths:
        digests: dict[str, str | None] = {}  # of this store, whose rows may have names of others
        with Store(path) as part, damage_refused(path, "leave it out"):
            _merge_suites(part, output, registry)
            rows = _rows(part, registry)
            total = sum(part.run_counts().values())
            for done, run in enumerate(part.runs(merged.refused.append), 1):
                key = key_of(run)
                # A run that does not hold must not keep out one that does.
                if own := unverified.pop(key, None):
                    if failure := _failure(own, own_rows, own_digests, registry):
                        merged.refused.append(f"{own.title}: {failure}")
                    else:
                        known[key] = own
                before = known.get(key)
                if before is not None and _rank(run) <= _rank(before):
                    merged.known += 1
                elif failure := _failure(run, rows, digests, registry):
                    merged.refused.append(f"{run.title}: {failure}")
                else:
                    output.put(run)
                    known[key] = run
                    merged.known += key in stored
                    stored.add(key)
                watch(done, total)
    merged.added = len(stored)
    return merged


def _rank(run: Run) -> tuple[bool, bool]:
    """Return what decides between runs of one key: a measured one holds for any row."""
    return not run.failure, "cost" in run.result


def _failure(run: Run, rows: Rows, digests: dict[str, str | None], registry: Registry) -> str:
    """Return why a run does not hold, or ""; failed runs hold."""
    if run.row not in rows:
        return "no suite of its store has such a row"
    row, kind = rows[run.row]
    if run.row not in digests:
        try:
            digests[run.row] = kind.digest(row, registry)
        except CchybridError:  # a missing file or plugin
            digests[run.row] = None
    # Where the instance cannot be built here, the run must hold for the one that it names.
    digest = digests[run.row] or str(run.result.get("digest"))
    return "" if run.failure else check(run, row, kind, digest).failure


def _rows(store: Store, registry: Registry) -> Rows:
    """Return all rows of a store."""
    suites = [store.suite(name, registry) for name in store.suites()]
    kinds = {suite.kind: registry.benchmark(suite.kind) for suite in suites}
    return {row.name: (row, kinds[suite.kind]) for suite in suites for row in suite.rows}


def _merge_suites(part: Store, output: Store, registry: Registry) -> None:
    """Store the suites of a part that the output lacks."""
    present = output.suites()
    for name in part.suites():
        suite = part.suite(name, registry)
        if name not in present:
            refuse_other_tasks(output, suite, registry)
            output.put_suite(suite)
        elif output.suite(name, registry) != suite:
            raise InputError(
                f"its suite {name} has other rows than that of the stores before",
                where=str(part.path),
                hint="merge stores of one version of a suite",
            )
