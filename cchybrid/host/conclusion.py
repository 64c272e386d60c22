"""Derivation of the result of a run from its state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from cchybrid.host.result import Result, Status
from cchybrid.host.run_config import RunConfig
from cchybrid.host.run_state import RunState
from cchybrid.host.versions import versions
from cchybrid.model import LowerBound, Schedule


def conclude(state: RunState, config: RunConfig, observer_troubles: Sequence[str] = ()) -> Result:
    """Return the result of a run.

    Parameters
    ----------
    observer_troubles
        One line for each observer that raised.
    """
    blackboard, infeasible = state.blackboard, state.infeasible
    bound = blackboard.certified
    if blackboard.lower > bound.steps:
        bound = LowerBound(blackboard.lower)
    budget = config.budget.to_json()
    schedule = state.schedule
    used = versions()
    if schedule is not None:
        made_by = {
            "version": used["cchybrid"],
            "engine": state.found_by,
            "seed": config.seed,
            "seconds": round(state.found_at, 3),
            "strategy": config.strategy,
            "budget": budget,
        }
        schedule = Schedule(state.instance, schedule.steps, bound, made_by)
    certified = blackboard.certified
    if infeasible is not None:
        bound = certified = LowerBound(1, dict(infeasible))
    return Result(
        instance=state.instance,
        status=_status(state),
        schedule=schedule,
        lower_bound=bound,
        certified=bound.steps == certified.steps,
        certified_bound=certified,
        bound_by="reach" if infeasible is not None else state.lower_by,
        engine=state.found_by,
        seconds=state.now,
        seconds_to_best=state.found_at,
        seed=config.seed,
        strategy=config.strategy,
        budget=budget,
        versions=used,
        options={
            config.strategy: asdict(config.strategy_options),
            "quotients": asdict(config.quotient_options),
            **state.options,
        },
        troubles=(*state.troubles, *observer_troubles),
        remarks=tuple(state.remarks),
        interrupted=state.interrupted,
        times=state.times,
        contributions=tuple(state.history.contributions),
        **state.effort.facts(schedule is not None),
    )


def _status(state: RunState) -> Status:
    too_few = state.target is not None and state.blackboard.lower > state.target
    if state.infeasible is not None or too_few:
        return "infeasible"
    if state.is_optimal:
        return "optimal"
    return "unknown" if state.schedule is None else "feasible"
