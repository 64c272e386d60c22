"""The conformance suite: what every engine has to pass, one check on one instance at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from cchybrid.plugin.conformance.engine_checks import ENGINE_CHECKS
from cchybrid.plugin.conformance.instance_checks import INSTANCE_CHECKS
from cchybrid.plugin.conformance.small_instances import ConformanceInstance, conformance_instances
from cchybrid.plugin.conformance.subject import Subject
from cchybrid.plugin.conformance.trial import ConformanceError
from cchybrid.plugin.engine import EngineInfo
from cchybrid.plugin.records import load_target
from cchybrid.plugin.registry import load_registry

PATIENCE = 60.0
"""Seconds that one run on a small instance may take, the compilation of kernels included."""


@dataclass(frozen=True)
class ConformanceCase:
    """One check of an engine, on one instance or as a whole. Call it to make the check.

    Parameters
    ----------
    subject
        The engine.
    check
        A key of ``ENGINE_CHECKS`` (then there is no instance) or of ``INSTANCE_CHECKS``.
    instance
        What the check is made on.
    """

    subject: Subject
    check: str
    instance: ConformanceInstance | None

    def __str__(self) -> str:
        """Return the case's name for test reports: the check and the instance."""
        return self.check if self.instance is None else f"{self.check} {self.instance.name}"

    def __call__(self) -> None:
        """Make the check; a ``ConformanceError`` says what the engine's author has to mend."""
        try:
            if self.instance is None:
                ENGINE_CHECKS[self.check](self.subject)
            else:
                INSTANCE_CHECKS[self.check](self.subject, self.instance)
        except ConformanceError as error:
            place = "" if self.instance is None else f" on {self.instance.name!r}"
            line = f"{self.subject.name} ({self.check}{place}) {error}"
            raise ConformanceError(line) from error.__cause__


def conformance_cases(
    engine: str | type | EngineInfo, *, options: Any = None, patience: float = PATIENCE
) -> list[ConformanceCase]:
    """Return all cases of the suite, to make one test of each.

    In pytest::

        import pytest
        from cchybrid.plugin.conformance import conformance_cases

        @pytest.mark.parametrize("case", conformance_cases("greedy"), ids=str)
        def test_conformance(case):
            case()

    Parameters
    ----------
    engine
        The name under which the engine is registered, its ``EngineInfo``, a target such as
        ``package.module:Class``, or its class. With a class or a target alone, nothing is known
        about ``proves``, and the engine is not tried in a worker process.
    options
        An ``Options`` object to test with; the defaults if ``None``.
    patience
        Seconds that one run may take at most.
    """
    subject = _subject(engine, options, patience)
    return [
        *(ConformanceCase(subject, check, None) for check in ENGINE_CHECKS),
        *(
            ConformanceCase(subject, check, instance)
            for instance in conformance_instances()
            for check in INSTANCE_CHECKS
        ),
    ]


def check_engine(
    engine: str | type | EngineInfo, *, options: Any = None, patience: float = PATIENCE
) -> None:
    """Make every check, and raise one error that names everything that has to be mended.

    Parameters
    ----------
    engine, options, patience
        As for ``conformance_cases``.

    Raises
    ------
    ConformanceError
        An ``AssertionError`` with one line per case that failed.

    Examples
    --------
    A whole engine, and its test:

    >>> from cchybrid.plugin.engine import NoOptions, Stop
    >>> from cchybrid.toolkit.kernels.first_fit import first_fit
    >>> from cchybrid.plugin.conformance import check_engine
    >>> class FirstFit:
    ...     Options = NoOptions
    ...     def __init__(self, options):
    ...         pass
    ...     def unsupported(self, problem):
    ...         return None
    ...     def solve(self, problem, run):
    ...         run.offer(first_fit(problem, run.seed))
    ...         return Stop.STALLED
    >>> check_engine(FirstFit)
    """
    failures: list[ConformanceError] = []
    for case in conformance_cases(engine, options=options, patience=patience):
        try:
            case()
        except ConformanceError as error:
            failures.append(error)
    if failures:
        raise ConformanceError("\n".join(map(str, failures))) from failures[0]


def _subject(engine: str | type | EngineInfo, options: Any, patience: float) -> Subject:
    if isinstance(engine, type):
        return Subject(engine.__name__, lambda: engine, None, options, patience)
    if isinstance(engine, str) and ":" in engine:
        return Subject(engine, partial(_load, engine), None, options, patience)
    info = load_registry().engine(engine) if isinstance(engine, str) else engine
    return Subject(info.name, partial(_load, info.target), info, options, patience)


def _load(target: str) -> Any:
    try:
        return load_target(target)
    except (ImportError, AttributeError) as error:
        raise ConformanceError(
            f"cannot be loaded from {target!r}: {error}; write package.module:Class"
        ) from error
