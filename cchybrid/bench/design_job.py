"""The job of a row of designs: design the network, or evaluate the named one."""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping
from typing import Any

from cchybrid.bench.design_row import DesignRow, figures_of
from cchybrid.host.designs.api import design
from cchybrid.model.errors import CchybridError
from cchybrid.network_design.designer import Designer
from cchybrid.network_design.local_run import LocalDesignRun
from cchybrid.network_design.ports import Links
from cchybrid.network_design.record import design_record
from cchybrid.plugin.registry import load_registry


def work(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run one job and return its answer, as ``cchybrid.bench.job`` does."""
    row = DesignRow.from_json(job)
    solve = job["solve"]
    if row.collective:
        return _work_for_steps(row, solve, job["seed"])
    started = time.monotonic()
    try:
        if row.network:
            links, last, spent = row.named_links(), 0.0, 0
        else:
            links, last, spent = _designed(
                row, solve["time_limit"], solve["evaluations"], job["seed"]
            )
        values = figures_of(row, links)
    except CchybridError as error:
        return {"failure": str(error)}
    result = {
        "digest": row.digest,
        "status": "feasible",
        "design": {name: repr(value) for name, value in values.items()},
        "seconds_to_best": last,
        "seconds": time.monotonic() - started,
        "evaluations": spent,
    }
    return {"result": result, "schedule": design_record(row.task(), links)}


def _work_for_steps(row: DesignRow, solve: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the answer of a row with a collective: the network, and the schedule on it."""
    if solve["evaluations"] is not None:
        return {
            "refused": f"networks for {row.collective} are not designed by evaluations",
            "where": "--evaluations",
            "hint": "use --time-limit",
        }
    try:
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
            return {"failure": "interrupted"}
        if found.schedule is None:
            return {"failure": f"no schedule was found for {row.name}"}
        values = {**figures_of(row, found.links), "steps": float(len(found.schedule.steps))}
    except CchybridError as error:
        return {"failure": str(error)}
    result = {
        "digest": row.digest,
        "status": "feasible",
        "design": {name: repr(value) for name, value in values.items()},
        "proven": found.proven,
        "seconds_to_best": found.seconds,
        "seconds": found.seconds,
        "evaluations": sum(found.evaluations.values()),
    }
    record = {
        "design": design_record(row.task(), found.links),
        "schedule": found.schedule.to_json(),
    }
    return {"result": result, "schedule": record}


def _designed(
    row: DesignRow, seconds: float | None, evaluations: int | None, seed: int
) -> tuple[Links, float, int]:
    """Return the best network of the row's designers, the seconds to it, and the evaluations.

    Designers that cannot work on the task are left out; the others share the time equally.
    """
    task = row.task()
    best: LocalDesignRun | None = None
    spent = 0
    named = [_designer(name) for name in row.designers]
    able = [each for each in named if each.unsupported(task) is None]
    for designer in able:
        getattr(designer, "prepare", lambda: None)()
        share = None if seconds is None else seconds / len(able)
        run = LocalDesignRun(task, seed=seed, seconds=share, evaluations=evaluations)
        designer.design(task, run)
        spent += run.spent
        found, known = run.best(), None if best is None else best.best()
        if found is not None and (known is None or found < known):
            best = run
    if best is None or best.links is None:
        raise CchybridError(f"no designer found a network for {row.name}")
    return best.links, best.offers[-1][0], spent


def _designer(name: str) -> Designer:
    module, _, kind = load_registry().designer(name).target.partition(":")
    found = getattr(importlib.import_module(module), kind)
    designer: Designer = found(found.Options())
    return designer
