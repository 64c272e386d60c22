"""What a run comes to: the best schedule, the best bound, and the status that follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from cchybrid.host.board import Board
from cchybrid.host.course import Contribution
from cchybrid.host.order import Order
from cchybrid.host.result import Result, Status
from cchybrid.host.versions import versions
from cchybrid.model import Instance, LowerBound, Schedule


def conclude(
    instance: Instance,
    order: Order,
    board: Board,
    *,
    infeasible: Mapping[str, Any] | None,
    seconds: float,
    seconds_to_best: float,
    troubles: Sequence[str],
    remarks: Sequence[str],
    interrupted: bool,
    contributions: Sequence[Contribution],
    **spent: Any,
) -> Result:
    """Return the result of a run.

    Parameters
    ----------
    infeasible
        Evidence that the instance has no schedule, if it has none.
    seconds, seconds_to_best
        Of the whole run, and until the best schedule was found.
    troubles, remarks, interrupted, contributions
        As in ``Result``.
    spent
        What ``Tally.facts`` says.
    """
    bound = board.certified
    if board.lower > bound.steps:
        bound = LowerBound(board.lower)
    budget = {key: value for key, value in asdict(order.budget).items() if value is not None}
    schedule = board.schedule
    used = versions()
    if schedule is not None:
        made_by = {
            "version": used["cchybrid"],
            "engine": board.found_by,
            "seed": order.seed,
            "seconds": round(seconds_to_best, 3),
            "strategy": order.strategy,
            "budget": budget,
        }
        schedule = Schedule(instance, schedule.steps, bound, made_by)
    certified = board.certified
    if infeasible is not None:
        bound = certified = LowerBound(1, dict(infeasible))
    return Result(
        instance=instance,
        status=_status(board, order.target, infeasible is not None),
        schedule=schedule,
        lower_bound=bound,
        certified=bound.steps == certified.steps,
        certified_bound=certified,
        bound_by="reach" if infeasible is not None else board.lower_by,
        engine=board.found_by,
        seconds=seconds,
        seconds_to_best=seconds_to_best,
        seed=order.seed,
        strategy=order.strategy,
        budget=budget,
        versions=used,
        troubles=tuple(troubles),
        remarks=tuple(remarks),
        interrupted=interrupted,
        contributions=tuple(contributions),
        **spent,
    )


def _status(board: Board, target: int | None, infeasible: bool) -> Status:
    if infeasible or (target is not None and board.lower > target):
        return "infeasible"
    if board.closed:
        return "optimal"
    return "unknown" if board.schedule is None else "feasible"
