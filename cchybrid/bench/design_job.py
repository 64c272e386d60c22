"""The job of a row of designs: design the network, or evaluate the named one."""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping
from typing import Any

from cchybrid.bench.design_row import DesignRow, design_record, figures_of
from cchybrid.model.errors import CchybridError
from cchybrid.network_design.designer import Designer
from cchybrid.network_design.local_run import LocalDesignRun
from cchybrid.network_design.ports import Links
from cchybrid.plugin.registry import load_registry


def work(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run one job and return its answer, as ``cchybrid.bench.job`` does."""
    row = DesignRow.from_json(job)
    if row.collective:
        return {"failure": f"no designer for {row.collective} is installed"}
    solve = job["solve"]
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
    return {"result": result, "schedule": design_record(row, links)}


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
