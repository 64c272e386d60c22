"""Checks of an engine as a whole; each raises a ``ConformanceError`` if it fails."""

import dataclasses
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import get_type_hints

import cchybrid
from cchybrid.plugin.conformance.small_instances import conformance_instances, large_instance
from cchybrid.plugin.conformance.subject import PluginSubject, Subject
from cchybrid.plugin.conformance.watch import ConformanceError, stop_after
from cchybrid.plugin.engine import API, Budget
from cchybrid.plugin.registry import load_registry
from cchybrid.problem import build_problem

EVALUATIONS = 50
"""The evaluation budget in a worker process."""
WORK_SECONDS = 0.3
"""Seconds of work before an engine or a designer is asked to stop."""
STOP_REASON = "it was asked to stop; ask run.should_stop() at least a few times a second"
"""The reason that is given then."""


def check_options(subject: PluginSubject) -> None:
    """Check that ``Options`` is a frozen dataclass with defaults that constructs the plugin."""
    kind = getattr(subject.load(), "Options", None)
    if not isinstance(kind, type) or not dataclasses.is_dataclass(kind):
        raise ConformanceError("has no dataclass Options; without options, use NoOptions")
    if not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise ConformanceError("has Options that can change; write @dataclass(frozen=True)")
    hints = get_type_hints(kind)
    for item in dataclasses.fields(kind):
        if item.default is dataclasses.MISSING:
            raise ConformanceError(f"has no default for Options.{item.name}; give it one")
        if hints[item.name] not in (int, float, bool, str):
            raise ConformanceError(
                f"has Options.{item.name} of type {hints[item.name]}, which users cannot write; "
                "use int, float, bool or str"
            )
    try:
        subject.construct()
    except Exception as error:
        raise ConformanceError(
            f"cannot be constructed with its default options: {type(error).__name__}: {error}"
        ) from error


def check_record(subject: PluginSubject) -> None:
    """Check the fields of the ``EngineInfo`` or ``DesignerInfo``."""
    info = subject.info
    if info is None:
        return
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", info.name):
        raise ConformanceError(
            f"is registered as {info.name!r}, which does not fit --option PLUGIN.NAME=VALUE; "
            "use letters, digits, - and _"
        )
    if not info.summary.strip() or "\n" in info.summary:
        raise ConformanceError("has no summary of one line in its record; write one")
    if info.api != API:
        raise ConformanceError(f"is written for plugin interface {info.api}, this is {API}")


def check_support(subject: Subject) -> None:
    """Check that the engine supports at least one kind of instance."""
    cases = {case.name: case.problem() for case in conformance_instances()}
    check_some_supported(subject, "instance", cases)


def check_some_supported(subject: PluginSubject, what: str, cases: Mapping[str, object]) -> None:
    """Check that the engine or designer supports at least one of these."""
    reasons = {name: subject.construct().unsupported(case) for name, case in cases.items()}
    if None not in reasons.values():
        name, reason = next(iter(reasons.items()))
        raise ConformanceError(
            f"supports no conformance {what} at all; of {name!r} it says: {reason}"
        )


def check_proof(subject: Subject) -> None:
    """Check that an engine of kind ``exact`` proves the optimum of some instance."""
    if subject.info is None or not subject.info.proves:
        return  # every run checks that such an engine claims no bound
    tried = 0
    for case in conformance_instances():
        problem = case.problem()
        if not problem.complete or case.optimum < 2 or not subject.supports(problem):
            continue
        tried += 1
        if tried > 3:
            break
        run = subject.new_run(problem, case.optimum, budget=Budget(seconds=5.0))
        subject.run_engine(lambda run=run: run, lambda run: run.should_stop(), "time was up")  # type: ignore[misc]
        if run.lower() == case.optimum:
            return
    raise ConformanceError(
        "is registered with kind='exact', but proved on no conformance instance that its optimum "
        'is one; call run.bound(S + 1) for "none in S steps", or register another kind'
    )


def check_stop(subject: Subject) -> None:
    """Check that a working engine returns soon after it was asked to stop."""
    problem = build_problem(large_instance())
    if not subject.supports(problem):
        return
    make = partial(subject.new_run, problem, None, budget=Budget(seconds=None))
    subject.run_engine(make, stop_after(WORK_SECONDS), STOP_REASON).raise_first_fault()


def check_host(subject: Subject) -> None:
    """Check that the engine works in a worker process."""
    if subject.info is None:
        return
    for case in conformance_instances():
        if case.optimum > 1 and subject.supports(case.problem()):
            alone = dataclasses.replace(
                load_registry(), engines={subject.info.name.lower(): subject.info}
            )
            # A budget of evaluations, so that a slow start of the worker has no effect.
            result = cchybrid.solve(
                case.instance,
                engines=[subject.info.name],
                time_limit=subject.patience,
                evaluations=EVALUATIONS,
                registry=alone,
                bounds=False,
            )
            if result.troubles:
                raise ConformanceError(
                    f"works here, but not in a worker process on {case.name!r}: "
                    f"{result.troubles[0]}"
                )
            return


ENGINE_CHECKS: dict[str, Callable[[Subject], None]] = {
    "options": check_options,
    "record": check_record,
    "support": check_support,
    "proof": check_proof,
    "stop": check_stop,
    "host": check_host,
}
"""Checks of the engine as a whole."""
