"""Checks of an engine on one instance; each raises a ``ConformanceError`` if it fails."""

from collections.abc import Callable
from functools import partial

import numpy as np

from cchybrid.plugin.conformance.small_instances import ConformanceInstance
from cchybrid.plugin.conformance.subject import Subject, serial_schedule
from cchybrid.plugin.conformance.trial import CheckedRun, Trial
from cchybrid.plugin.conformance.watch import ConformanceError, stop_after
from cchybrid.plugin.engine import Budget
from cchybrid.problem import Assignment, Problem

TARGET_SECONDS = 2.0
"""Seconds for an engine to reach an easy target, after which it is stopped."""
IMPROVE_SECONDS = 0.1
"""Seconds for an engine to improve its first result."""


def check_unsupported(subject: Subject, case: ConformanceInstance) -> None:
    """Check that ``unsupported`` returns a reason or None, and never raises."""
    subject.refusal(case.problem())


def check_offers(subject: Subject, case: ConformanceInstance, problem: Problem) -> None:
    """Check that offers are valid, that bounds hold, and that there is at least one of them."""
    due = stop_after(IMPROVE_SECONDS, lambda run: run.schedules or run.bounds)
    make = partial(subject.new_run, problem, case.optimum, budget=Budget(seconds=None))
    trial = subject.run_engine(make, due, "it had found something and was asked to stop")
    trial.raise_first_fault()
    if trial.is_empty:
        raise ConformanceError(
            f"neither offered a schedule nor reported a bound for {problem.deliveries} "
            "deliveries; say in unsupported() what the engine cannot work on"
        )


def check_target(subject: Subject, case: ConformanceInstance, problem: Problem) -> None:
    """Check that the engine returns when the target is reached."""
    target = max(case.optimum, serial_schedule(problem).steps - 1)
    # An engine that does not reach the target may use up its time.
    budget = Budget(seconds=min(TARGET_SECONDS, subject.patience))
    make = partial(subject.new_run, problem, case.optimum, target=target, budget=budget)

    def due(run: CheckedRun) -> bool:
        return run.should_stop() or (run.best() or target + 1) <= target

    reason = (
        f"the target of {target} steps was reached; loop over run.targets(), and ask "
        "run.wants(steps) before you go on"
    )
    subject.run_engine(make, due, reason).raise_first_fault()


def check_closed(subject: Subject, case: ConformanceInstance, problem: Problem) -> None:
    """Check that the engine returns at once if no better schedule can exist."""
    known = serial_schedule(problem)

    def closed() -> CheckedRun:
        run = subject.new_run(problem, None, first_lower=known.steps, budget=Budget(seconds=None))
        run.offer(known)
        return run

    below_bound = partial(
        subject.new_run, problem, None, first_lower=known.steps + 1, target=known.steps,
        budget=Budget(None),
    )  # fmt: skip
    for make, reason in (
        (closed, "the best schedule met the lower bound"),
        (below_bound, "the target was below the lower bound"),
    ):
        hint = f"{reason}; stop when run.targets() ends, and before the first target if it is empty"
        subject.run_engine(make, lambda run: True, hint).raise_first_fault()


def check_evaluations(subject: Subject, case: ConformanceInstance, problem: Problem) -> None:
    """Check that the engine counts evaluations and returns when they are spent."""
    _spend_all(subject, case, problem).raise_first_fault()


def check_repeatable(subject: Subject, case: ConformanceInstance, problem: Problem) -> None:
    """Check that equal seeds and evaluations give equal offers and bounds, with one thread."""
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
    """Check that the engine accepts near-solutions, incomplete or invalid."""
    known = serial_schedule(problem)
    crowded = Assignment(known.option, np.minimum(known.step, 0))
    partial = Assignment(known.option.copy(), known.step.copy())
    partial.option[::2] = partial.step[::2] = -1

    def make() -> CheckedRun:
        run = subject.new_run(
            problem,
            case.optimum,
            budget=Budget(seconds=None, evaluations=subject.evaluations),
            hints={case.optimum: crowded, case.optimum + 1: partial, 1: problem.empty()},
        )
        run.offer(known)
        return run

    subject.run_engine(
        make, CheckedRun.should_stop, "its evaluations were spent"
    ).raise_first_fault()


def _spend_all(subject: Subject, case: ConformanceInstance, problem: Problem) -> Trial:
    budget = Budget(seconds=None, evaluations=subject.evaluations, threads=1)
    make = partial(subject.new_run, problem, case.optimum, budget=budget)
    reason = (
        f"its {budget.evaluations} evaluations were spent; call run.spend after every evaluation "
        "and look at run.should_stop() afterwards"
    )
    return subject.run_engine(make, CheckedRun.should_stop, reason)


def _where_supported(
    check: Callable[[Subject, ConformanceInstance, Problem], None],
) -> Callable[[Subject, ConformanceInstance], None]:
    """Return the check, restricted to problems that the engine supports."""

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
"""Checks on every instance, by name."""
