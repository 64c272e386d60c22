"""Checks of a designer; each raises a ``ConformanceError`` if it fails."""

import math
from collections.abc import Callable
from functools import partial

import cchybrid
from cchybrid.plugin.conformance.engine_checks import (
    STOP_REASON,
    WORK_SECONDS,
    check_options,
    check_record,
    check_some_supported,
)
from cchybrid.plugin.conformance.watch import ConformanceError, stop_after
from cchybrid.plugin.engine import Stop
from cchybrid.plugin.registry import Registry
from cchybrid.toolkit.kernels.rng import seed_state

from ..cost import Cost
from ..ports import Links, links_of
from ..random_networks import random_network
from ..task import DesignTask
from .small_tasks import ConformanceTask, conformance_tasks, large_tasks
from .subject import CheckedDesignRun, DesignerSubject

EVALUATIONS = 1000
"""The evaluation budget of checks with one."""
MAX_SPENT = 2 * EVALUATIONS
"""Evaluations after which a designer with that budget has gone too far."""
IMPROVE_SECONDS = 0.1
"""Seconds for a designer to improve its first network."""
TOLERANCE = 1e-9
"""Relative difference of costs up to which they count as equal."""


# Checks of a designer as a whole


def check_support(subject: DesignerSubject) -> None:
    """Check that the designer supports at least one task."""
    check_some_supported(subject, "task", {case.name: case.task for case in conformance_tasks()})


def check_proof(subject: DesignerSubject) -> None:
    """Check that a designer of kind ``exact`` proves the optimum of some task."""
    if subject.info is None or subject.info.kind != "exact":
        return
    for case in conformance_tasks():
        if case.optimum is None or not subject.supports(case.task):
            continue
        make = partial(CheckedDesignRun, case.task, seconds=subject.patience / 2)
        run, watched = subject.run(make, lambda run: run.should_stop(), "time was up")
        if watched.returned is Stop.EXHAUSTED and _is(run.best(), case.optimum):
            return
    raise ConformanceError(
        "is registered with kind='exact', but ended on no conformance task with Stop.EXHAUSTED "
        "and its best network; register it as heuristic"
    )


def check_stop(subject: DesignerSubject) -> None:
    """Check that a working designer returns soon after it was asked to stop."""
    for task in large_tasks():
        if not subject.supports(task):
            continue
        subject.run(partial(CheckedDesignRun, task), stop_after(WORK_SECONDS), STOP_REASON)


def check_host(subject: DesignerSubject) -> None:
    """Check that the designer works in a worker process."""
    if subject.info is None:
        return
    name = subject.info.name
    for case in conformance_tasks():
        if not subject.supports(case.task) or case.task.positions is not None:
            continue
        result = cchybrid.design(
            case.task.nodes,
            case.task.degree,
            cost=dict(case.task.weights),
            redundant_links=case.task.redundant_links,
            fault_tolerant=case.task.fault_tolerant,
            designers=[name],
            time_limit=subject.patience,
            evaluations=EVALUATIONS,
            registry=Registry(designers={name.lower(): subject.info}),
        )
        if result.troubles:
            raise ConformanceError(
                f"works here, but not in a worker process on {case.name!r}: {result.troubles[0]}"
            )
        return


# Checks of a designer on one task


def check_unsupported(subject: DesignerSubject, case: ConformanceTask) -> None:
    """Check that ``unsupported`` returns a reason or None, and never raises."""
    subject.refusal(case.task)


def check_offers(subject: DesignerSubject, case: ConformanceTask) -> None:
    """Check that offers are valid, that there is one, and that claims of optimality are true."""
    due = stop_after(IMPROVE_SECONDS, lambda run: run.links is not None)
    reason = "it had found a network and was asked to stop"
    run, watched = subject.run(partial(CheckedDesignRun, case.task), due, reason)
    if run.links is None:
        raise ConformanceError(
            "offered no network; say in unsupported() what the designer cannot work on"
        )
    exact = subject.info is not None and subject.info.kind == "exact"
    claims = exact and watched.returned is Stop.EXHAUSTED
    if claims and case.optimum is not None and not _is(run.best(), case.optimum):
        raise ConformanceError(
            f"returned Stop.EXHAUSTED with a network of cost {run.best()}, but one has "
            f"{case.optimum}; return Stop.STALLED where better networks may exist"
        )


def check_target(subject: DesignerSubject, case: ConformanceTask) -> None:
    """Check that the designer returns when a network is as good as the target."""
    make = partial(CheckedDesignRun, case.task, target=math.inf)
    reason = "the target was reached; ask run.should_stop() after every offer"
    subject.run(make, lambda run: run.links is not None, reason)


def check_evaluations(subject: DesignerSubject, case: ConformanceTask) -> None:
    """Check that the designer counts evaluations and returns when they are spent."""
    run = _spend_all(subject, case)
    if run.spent > MAX_SPENT:
        raise ConformanceError(
            f"spent {run.spent} evaluations of {EVALUATIONS}; ask run.should_stop() more often"
        )


def check_repeatable(subject: DesignerSubject, case: ConformanceTask) -> None:
    """Check that equal seeds and evaluations give equal networks."""
    first, second = (_spend_all(subject, case) for _ in range(2))
    if [cost for _, cost in first.offers] != [cost for _, cost in second.offers] or (
        first.links != second.links
    ):
        raise ConformanceError(
            "gave other networks for the same seed and evaluations; draw from run.seed alone, "
            "let no clock decide, sort what comes out of sets, keep nothing between runs"
        )


def check_known(subject: DesignerSubject, case: ConformanceTask) -> None:
    """Check that the designer accepts a network to begin with, and offers only better ones."""
    make = partial(
        CheckedDesignRun, case.task, evaluations=EVALUATIONS, initial=_any_network(case.task)
    )
    subject.run(make, lambda run: run.spent >= EVALUATIONS, "its evaluations were spent")


def _any_network(task: DesignTask) -> Links:
    """Return the links of a random network of finite cost."""
    cost, state = Cost(task), seed_state(0)
    while True:
        ports = random_network(task, state)
        if math.isfinite(cost(ports)):
            return links_of(ports)


def _spend_all(subject: DesignerSubject, case: ConformanceTask) -> CheckedDesignRun:
    reason = (
        f"its {EVALUATIONS} evaluations were spent; call run.spend after every evaluation and "
        "look at run.should_stop() afterwards"
    )
    make = partial(CheckedDesignRun, case.task, evaluations=EVALUATIONS)
    return subject.run(make, lambda run: run.spent >= EVALUATIONS, reason)[0]


def _is(cost: float | None, optimum: float) -> bool:
    return cost is not None and math.isclose(cost, optimum, rel_tol=TOLERANCE)


def _where_supported(
    check: Callable[[DesignerSubject, ConformanceTask], None],
) -> Callable[[DesignerSubject, ConformanceTask], None]:
    """Return the check, restricted to tasks that the designer supports."""

    def checked(subject: DesignerSubject, case: ConformanceTask) -> None:
        if subject.supports(case.task):
            check(subject, case)

    return checked


DESIGNER_CHECKS: dict[str, Callable[[DesignerSubject], None]] = {
    "options": check_options,
    "record": check_record,
    "support": check_support,
    "proof": check_proof,
    "stop": check_stop,
    "host": check_host,
}
"""Checks of the designer as a whole."""
TASK_CHECKS: dict[str, Callable[[DesignerSubject, ConformanceTask], None]] = {
    "unsupported": check_unsupported,
    "offers": _where_supported(check_offers),
    "target": _where_supported(check_target),
    "evaluations": _where_supported(check_evaluations),
    "repeatable": _where_supported(check_repeatable),
    "known": _where_supported(check_known),
}
"""Checks on every task that the designer supports, by name."""
