"""The work on a row of designs: design the network, or evaluate the named one."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from cchybrid.model.errors import CchybridError
from cchybrid.plugin.benchmark import SettingsError
from cchybrid.plugin.records import load_target
from cchybrid.plugin.registry import Registry

from ..api import design
from ..network.designer import Designer
from ..network.local_run import LocalDesignRun
from ..network.ports import Links
from ..network.record import design_record
from .row import DesignRow, figures_of


def work(
    row: DesignRow, solve: Mapping[str, Any], seed: int, registry: Registry
) -> tuple[dict[str, Any], Any]:
    """Do one run, as ``Benchmark.work`` does."""
    started = time.monotonic()
    more: dict[str, Any] = {}
    steps: dict[str, float] = {}
    schedule = None
    if row.collective:
        found = _designed_for_steps(row, solve, seed)
        links, schedule = found.links, found.schedule
        more, steps = {"proven": found.proven}, {"steps": float(len(schedule.steps))}
        last, seconds, spent = found.seconds, found.seconds, sum(found.evaluations.values())
    elif row.network:
        links, last, spent = row.named_links(), 0.0, 0
    else:
        links, last, spent = _designed(row, solve, seed, registry)
    values = figures_of(row, links) | steps
    if not row.collective:
        seconds = time.monotonic() - started
    result = {
        "digest": row.digest,
        "seed": seed,
        "status": "feasible",
        "design": {name: repr(value) for name, value in values.items()},
        **more,
        "seconds_to_best": last,
        "seconds": seconds,
        "evaluations": spent,
    }
    record = design_record(row.task(), links)
    if schedule is not None:
        return result, {"design": record, "schedule": schedule.to_json()}
    return result, record


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
    """Return the best network of the row's designers, the seconds to it, and the evaluations.

    Designers that cannot work on the task are left out; the others share the time equally.
    """
    task = row.task()
    best: LocalDesignRun | None = None
    spent = 0
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
        run = LocalDesignRun(task, seed=seed, seconds=share, evaluations=solve["evaluations"])
        designer.design(task, run)
        spent += run.spent
        found, known = run.best(), None if best is None else best.best()
        if found is not None and (known is None or found < known):
            best = run
    if best is None or best.links is None:
        raise CchybridError(f"no designer found a network for {row.name}")
    return best.links, best.offers[-1][0], spent
