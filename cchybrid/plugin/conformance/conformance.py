"""The conformance suite of engines."""

from functools import partial
from typing import Any

from cchybrid.plugin.conformance.cases import ConformanceCase, cases_of, run_cases
from cchybrid.plugin.conformance.engine_checks import ENGINE_CHECKS
from cchybrid.plugin.conformance.instance_checks import INSTANCE_CHECKS
from cchybrid.plugin.conformance.small_instances import conformance_instances
from cchybrid.plugin.conformance.subject import Subject, load_class
from cchybrid.plugin.engine import EngineInfo
from cchybrid.plugin.registry import load_registry

MAX_RUN_SECONDS = 60.0
"""Largest time for one run on a small instance, compilation of kernels included."""


def conformance_cases(
    engine: str | type | EngineInfo, *, options: Any = None, patience: float = MAX_RUN_SECONDS
) -> list[ConformanceCase]:
    """Return all cases of the suite, for one test each.

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
        ``package.module:Class``, or its class. With a class or a target, ``proves`` is unknown,
        and the engine is not run in a worker process.
    options
        An ``Options`` object; the defaults if ``None``.
    patience
        Largest number of seconds for one run.
    """
    subject = _subject(engine, options, patience)
    return cases_of(subject, ENGINE_CHECKS, conformance_instances(), INSTANCE_CHECKS)


def check_engine(
    engine: str | type | EngineInfo, *, options: Any = None, patience: float = MAX_RUN_SECONDS
) -> None:
    """Run every check, and raise one error that names all failures.

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
    run_cases(conformance_cases(engine, options=options, patience=patience))


def _subject(engine: str | type | EngineInfo, options: Any, patience: float) -> Subject:
    if isinstance(engine, type):
        return Subject(engine.__name__, lambda: engine, None, options, patience)
    if isinstance(engine, str) and ":" in engine:
        return Subject(engine, partial(load_class, engine), None, options, patience)
    info = load_registry().engine(engine) if isinstance(engine, str) else engine
    return Subject(info.name, partial(load_class, info.target), info, options, patience)
