"""Checks of an engine on one instance; each raises a ``ConformanceError`` or is content."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from cchybrid.plugin.conformance.small_instances import ConformanceInstance
from cchybrid.plugin.conformance.subject import Subject, one_by_one
from cchybrid.plugin.conformance.trial import ConformanceError, Trial, Witness
from cchybrid.plugin.engine import Budget
from cchybrid.problem import Assignment, Problem

EVALUATIONS = 100
"""The evaluation budget of the checks that give one."""
LOOK = 0.1
"""Seconds that an engine gets to better its first answer."""


def check_unsupported(subject: Subject, case: ConformanceInstance) -> None:
    """The engine says why it cannot work on a problem, or None; it never raises."""
    problem = case.problem()
    try:
        reason: object = subject.engine().unsupported(problem)
    except Exception as error:
        raise ConformanceError(
            f"raised {type(error).__name__}: {error} in unsupported(); return None or the reason"
        ) from error
    if reason is not None and (not isinstance(reason, str) or not reason.strip()):
        raise ConformanceError(
            f"returned {reason!r} from unsupported(); return None or the reason as text"
        )


def check_offers(subject: Subject, case: ConformanceInstance, problem: Problem) -> None:
    """All that the engine says is true: valid offers, bounds that hold; and it says something."""
    seen: dict[int, float] = {}

    def due(run: Witness) -> bool:
        if run.schedules or run.bounds:
            seen.setdefault(id(run), time.monotonic())
        run.stopped = id(run) in seen and time.monotonic() - seen[id(run)] > LOOK
        return run.stopped

    def make() -> Witness:
        return subject.witness(problem, case.optimum, budget=Budget(seconds=None))

    trial = subject.try_out(make, due, "it had found something and was asked to stop")
    trial.demand_no_faults()
    if trial.idle:
        raise ConformanceError(
            f"neither offered a schedule nor reported a bound for {problem.deliveries} "
            "deliveries; say in unsupported() what the engine cannot work on"
        )


def check_target(subject: Subject, case: ConformanceInstance, problem: Problem) -> None:
    """An engine that was asked for a number of steps returns when it has them."""
    target = max(case.optimum, one_by_one(problem).steps - 1)

    def make() -> Witness:
        # An engine that does not find so many steps may use up its time.
        return subject.witness(
            problem, case.optimum, target=target, budget=Budget(seconds=min(5.0, subject.patience))
        )

    def due(run: Witness) -> bool:
        return run.should_stop() or (run.best() or target + 1) <= target

    reason = (
        f"the {target} steps that it was asked for were found; loop over run.targets(), and ask "
        "run.wants(steps) before you go on"
    )
    subject.try_out(make, due, reason).demand_no_faults()


def check_closed(subject: Subject, case: ConformanceInstance, problem: Problem) -> None:
    """An engine returns at once where nothing is left to find, or less is asked than can be."""
    known = one_by_one(problem)

    def closed() -> Witness:
        run = subject.witness(problem, None, first_lower=known.steps, budget=Budget(seconds=None))
        run.offer(known)
        return run

    def hopeless() -> Witness:
        return subject.witness(
            problem, None, first_lower=known.steps + 1, target=known.steps, budget=Budget(None)
        )

    for make, reason in (
        (closed, "the best schedule met the lower bound"),
        (hopeless, "fewer steps were asked for than the lower bound allows"),
    ):
        hint = f"{reason}; stop when run.targets() ends, and before the first target if it is empty"
        subject.try_out(make, lambda run: True, hint).demand_no_faults()


def check_evaluations(subject: Subject, case: ConformanceInstance, problem: Problem) -> None:
    """The engine counts its evaluations and returns when they are spent, without a clock."""
    _spend_all(subject, case, problem).demand_no_faults()


def check_repeatable(subject: Subject, case: ConformanceInstance, problem: Problem) -> None:
    """Same seed, same evaluations, one thread: the same offers and bounds, always."""
    first, second = (_spend_all(subject, case, problem).run for _ in range(2))
    schedules = [[found.steps for found in run.schedules] for run in (first, second)]
    same = {"schedules": schedules[0] == schedules[1], "bounds": first.bounds == second.bounds}
    for what, equal in same.items():
        if not equal:
            raise ConformanceError(
                f"gave other {what} for the same seed and evaluations; draw from run.seed alone, "
                "let no clock decide, sort what comes out of sets, keep nothing between runs"
            )


def check_hints(subject: Subject, case: ConformanceInstance, problem: Problem) -> None:
    """The engine takes what others have found, complete or not, valid or not."""
    known = one_by_one(problem)
    crowded = Assignment(known.option, np.minimum(known.step, 0))
    partial = Assignment(known.option.copy(), known.step.copy())
    partial.option[::2] = partial.step[::2] = -1

    def make() -> Witness:
        run = subject.witness(
            problem,
            case.optimum,
            budget=Budget(seconds=None, evaluations=EVALUATIONS),
            hints={case.optimum: crowded, case.optimum + 1: partial, 1: problem.empty()},
        )
        run.offer(known)
        return run

    subject.try_out(make, _spent, "its evaluations were spent").demand_no_faults()


def _spend_all(subject: Subject, case: ConformanceInstance, problem: Problem) -> Trial:
    def make() -> Witness:
        budget = Budget(seconds=None, evaluations=EVALUATIONS, threads=1)
        return subject.witness(problem, case.optimum, budget=budget)

    reason = (
        f"its {EVALUATIONS} evaluations were spent; call run.spend after every evaluation and "
        "look at run.should_stop() afterwards"
    )
    return subject.try_out(make, _spent, reason)


def _spent(run: Witness) -> bool:
    return run.spent >= EVALUATIONS


def _where_supported(
    check: Callable[[Subject, ConformanceInstance, Problem], None],
) -> Callable[[Subject, ConformanceInstance], None]:
    """Return the check such that it is made only on problems that the engine can work on."""

    def checked(subject: Subject, case: ConformanceInstance) -> None:
        problem = case.problem()
        if subject.supports(problem):
            check(subject, case, problem)

    return checked


INSTANCE_CHECKS: dict[str, Callable[[Subject, ConformanceInstance], None]] = {
    "unsupported": check_unsupported,
    "offers": _where_supported(check_offers),
    "target": _where_supported(check_target),
    "closed": _where_supported(check_closed),
    "evaluations": _where_supported(check_evaluations),
    "repeatable": _where_supported(check_repeatable),
    "hints": _where_supported(check_hints),
}
"""Checks that are made on every instance."""
