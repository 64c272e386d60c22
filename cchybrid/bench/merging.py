"""Merging of stores: every run is verified, and stored once by its key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cchybrid.bench.checking import DAMAGE
from cchybrid.bench.runner import digest_of, verified
from cchybrid.bench.store import Run, Store
from cchybrid.bench.suite import AnyRow
from cchybrid.model.errors import CchybridError, InputError
from cchybrid.plugin.registry import Registry

Rows = dict[str, AnyRow]


@dataclass
class Merged:
    """The outcome of a merge.

    Attributes
    ----------
    added
        Runs that were stored.
    known
        Runs that were left out, as the store has one of the same key already.
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
    watch: Callable[[Path, int, int], None] = lambda path, done, total: None,
) -> Merged:
    """Add the runs of stores to a store.

    Of two runs with the same key the first is kept, unless it failed and the other did not.

    Parameters
    ----------
    paths
        The stores, which are not changed.
    output
        Opened for writing.
    watch
        Called after every run with its store, and the numbers of its read runs and of all.

    Raises
    ------
    InputError
        A file is no store, is damaged, or has other rows of a suite of the same name.
    """
    merged = Merged()
    digests: dict[str, str | None] = {}
    known = {run.key: run for run in output.runs(merged.refused.append)}
    for path in paths:
        with Store(path) as part:
            try:
                rows = _merge_suites(part, output)
                total = sum(part.run_counts().values())
                for done, run in enumerate(part.runs(merged.refused.append), 1):
                    before = known.get(run.key)
                    if before is not None and (run.failure or not before.failure):
                        merged.known += 1
                    else:
                        _add(run, rows, digests, registry, output, known, merged)
                    watch(path, done, total)
            except DAMAGE as error:
                raise InputError(
                    f"the store is damaged: {error}", where=str(path), hint="leave it out"
                ) from None
    return merged


def _add(
    run: Run,
    rows: Rows,
    digests: dict[str, str | None],
    registry: Registry,
    output: Store,
    known: dict[tuple[str, str, int], Run],
    merged: Merged,
) -> None:
    row = rows.get(run.row)
    failure = "no suite of its store has such a row"
    if row is not None:
        if run.row not in digests:
            digests[run.row] = _digest(row, registry)
        # Where the instance cannot be built here, the run must hold for the one that it names.
        digest = digests[run.row] or str(run.result.get("digest"))
        checked = verified(run, row, digest)
        failure = "" if run.failure else checked.failure
    if failure:
        merged.refused.append(f"{run.row}, seed {run.seed}: {failure}")
        return
    output.put(run)
    known[run.key] = run
    merged.added += 1


def _digest(row: AnyRow, registry: Registry) -> str | None:
    try:
        return digest_of(row, registry)
    except CchybridError:  # a missing file or plugin
        return None


def _merge_suites(part: Store, output: Store) -> Rows:
    """Store the suites of a part that the output lacks; return all rows of the part by name."""
    found: Rows = {}
    present = output.suites()
    for name in part.suites():
        suite = part.suite(name)
        if name not in present:
            output.put_suite(suite)
        elif output.suite(name) != suite:
            raise InputError(
                f"its suite {name} has other rows than that of the stores before",
                where=str(part.path),
                hint="merge stores of one version of a suite",
            )
        found |= {row.name: row for row in suite.all_rows}
    return found
