"""The kind of benchmarks ``designs``."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cchybrid.model.errors import CchybridError, InputError
from cchybrid.plugin.benchmark import Benchmark, CheckedSuite, SettingsError, StoredRun
from cchybrid.plugin.benchmark_report import Report
from cchybrid.plugin.records import load_target
from cchybrid.plugin.registry import Registry

from ..api import design
from ..network.designer import Designer
from ..network.local_run import LocalDesignRun
from ..network.ports import Links
from ..network.record import design_record
from .checking import CheckedDesign, checked_design
from .report import design_report
from .row import DesignRow, figures_of


class Designs(Benchmark[DesignRow]):
    """Networks to be designed, and named ones to be evaluated."""

    def from_text(self, values: Mapping[str, str], folder: Path) -> DesignRow:
        """Return the row of a line; a design without a column ``name`` is named after its task."""
        return DesignRow.from_text(values)

    def changed(
        self, values: Mapping[str, str], changes: Mapping[str, str], folder: Path
    ) -> DesignRow:
        """Return the row of a line for other designers, named after them."""
        if {*changes} != {"designers"}:
            raise InputError("only designers can be changed", where="with", hint="leave others out")
        row = DesignRow.from_text({**values, **changes})
        name = f"{row.name}, by {' and '.join(row.designers)}"
        return DesignRow.from_text({**values, **changes, "name": name})

    def from_json(self, record: Mapping[str, Any]) -> DesignRow:
        """Return the row of a stored object."""
        return DesignRow.from_json(record)

    def digest(self, row: DesignRow, registry: Registry) -> str:
        """Return the digest of the task."""
        return row.digest

    def work(
        self, job: Mapping[str, Any], solve: Mapping[str, Any], seed: int, registry: Registry
    ) -> tuple[dict[str, Any], Any]:
        """Design the network of a row, or evaluate the named one."""
        row = DesignRow.from_json(job)
        started = time.monotonic()
        found = _designed_for_steps(row, solve, seed) if row.collective else None
        if found is not None:
            links, last, spent = found.links, found.seconds, sum(found.evaluations.values())
        elif row.network:
            links, last, spent = row.named_links(), 0.0, 0
        else:
            links, last, spent = _designed(row, solve, seed, registry)
        values = figures_of(row, links)
        if found is not None:
            values["steps"] = float(found.steps)
        result = {
            "digest": row.digest,
            "seed": seed,
            "status": "feasible",
            "design": {name: repr(value) for name, value in values.items()},
            "seconds_to_best": last,
            "seconds": time.monotonic() - started if found is None else found.seconds,
            "evaluations": spent,
        }
        record: dict[str, Any] = design_record(row.task(), links)
        if found is None:
            return result, record
        result["proven"] = found.proven
        return result, {"design": record, "schedule": found.schedule.to_json()}

    def words(self, result: Mapping[str, Any]) -> str:
        """Return the values of the network."""
        values = [f"{name} {float(value):.5g}" for name, value in result["design"].items()]
        return f"{', '.join(values)}; {result['seconds']:.1f} s"

    def check(self, row: DesignRow, run: StoredRun) -> CheckedDesign:
        """Check the network by the independent checker, and compute its values again."""
        return checked_design(row, run)

    def report(
        self, checked: CheckedSuite, other: CheckedSuite | None, registry: Registry
    ) -> Report:
        """Return own and published values side by side, column by column."""
        return design_report(checked)


def _designed_for_steps(row: DesignRow, solve: Mapping[str, Any], seed: int) -> Any:
    """Return the result of ``design`` for a row with a collective, with its schedule."""
    if solve["evaluations"] is not None:
        raise SettingsError(
            f"networks for {row.collective} are not designed by evaluations",
            where="--evaluations",
            hint="use --time-limit",
        )
    found = design(
        row.nodes,
        row.degree,
        cost=dict(row.weights),
        layout=row.layout or None,
        max_wire=row.max_wire,
        collective=row.collective,
        designers=row.designers,
        time_limit=solve["time_limit"],
        seed=seed,
        threads=solve.get("threads"),
    )
    if found.interrupted:
        raise CchybridError("interrupted")
    if found.schedule is None:
        raise CchybridError(f"no schedule was found for {row.name}")
    return found


def _designed(
    row: DesignRow, solve: Mapping[str, Any], seed: int, registry: Registry
) -> tuple[Links, float, int]:
    """Return the best network of the row's designers, the seconds to it from the start of the
    first designer, and the evaluations.

    Designers that cannot work on the task are left out; the others share the time equally.
    """
    task = row.task()
    best: LocalDesignRun | None = None
    spent, started, last = 0, time.monotonic(), 0.0
    able = []
    for name in row.designers:
        kind = load_target(registry.designer(name).target)
        designer: Designer = kind(kind.Options())
        if designer.unsupported(task) is None:
            able.append(designer)
    seconds = solve["time_limit"]
    for designer in able:
        getattr(designer, "prepare", lambda: None)()
        share = None if seconds is None else seconds / len(able)
        before = time.monotonic() - started
        run = LocalDesignRun(task, seed=seed, seconds=share, evaluations=solve["evaluations"])
        designer.design(task, run)
        spent += run.spent
        found, known = run.best(), None if best is None else best.best()
        if found is not None and (known is None or found < known):
            best, last = run, before + run.offers[-1][0]
    if best is None or best.links is None:
        raise CchybridError(f"no designer found a network for {row.name}")
    return best.links, last, spent
