"""The conformance suite of designers."""

from functools import partial
from typing import Any

from cchybrid.plugin.conformance.cases import ConformanceCase, cases_of, run_cases
from cchybrid.plugin.conformance.conformance import MAX_RUN_SECONDS
from cchybrid.plugin.conformance.subject import load_class
from cchybrid.plugin.records import DesignerInfo
from cchybrid.plugin.registry import load_registry

from .checks import DESIGNER_CHECKS, TASK_CHECKS
from .small_tasks import conformance_tasks
from .subject import DesignerSubject


def designer_cases(
    designer: str | type | DesignerInfo, *, options: Any = None, patience: float = MAX_RUN_SECONDS
) -> list[ConformanceCase]:
    """Return all cases of the suite, for one test each.

    Parameters
    ----------
    designer
        The name under which the designer is registered, its ``DesignerInfo``, or its class. With a
        class, the designer's kind is unknown, and it is not run in a worker process.
    options
        An ``Options`` object; the defaults if ``None``.
    patience
        Largest number of seconds for one run.
    """
    if isinstance(designer, type):
        subject = DesignerSubject(designer.__name__, lambda: designer, None, options, patience)
    else:
        info = load_registry().designer(designer) if isinstance(designer, str) else designer
        load = partial(load_class, info.target)
        subject = DesignerSubject(info.name, load, info, options, patience)
    return cases_of(subject, DESIGNER_CHECKS, conformance_tasks(), TASK_CHECKS)


def check_designer(
    designer: str | type | DesignerInfo, *, options: Any = None, patience: float = MAX_RUN_SECONDS
) -> None:
    """Run every check, and raise one error that names all failures.

    Raises
    ------
    ConformanceError
        An ``AssertionError`` with one line per case that failed.

    Examples
    --------
    A whole designer, and its test:

    >>> from cchybrid_plugins.design.network.cost import Cost
    >>> from cchybrid_plugins.design.network.ports import links_of
    >>> from cchybrid_plugins.design.network.random_networks import random_network
    >>> from cchybrid.plugin.engine import NoOptions, Stop
    >>> from cchybrid.toolkit.kernels.rng import seed_state
    >>> class RandomNetworks:
    ...     Options = NoOptions
    ...     def __init__(self, options):
    ...         pass
    ...     def unsupported(self, task):
    ...         return None
    ...     def design(self, task, run):
    ...         cost, state = Cost(task), seed_state(run.seed)
    ...         while not run.should_stop():
    ...             ports = random_network(task, state)
    ...             found, best = cost(ports), run.best()
    ...             run.spend(1)
    ...             if found < (float("inf") if best is None else best):
    ...                 run.offer(links_of(ports), found)
    ...         return Stop.LIMIT
    >>> check_designer(RandomNetworks)
    """
    run_cases(designer_cases(designer, options=options, patience=patience))
