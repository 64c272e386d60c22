"""The Python interface: the functions behind the command line, exported by ``cchybrid``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

from cchybrid.host.instances import collective, instance, network
from cchybrid.host.result import Result
from cchybrid.host.run_config import RunConfig
from cchybrid.host.session import Session
from cchybrid.host.strategies import STRATEGIES, check_strategy, ranked
from cchybrid.model import Instance, Schedule
from cchybrid.model.errors import InputError
from cchybrid.model.schedule import Steps
from cchybrid.plugin.engine import Budget
from cchybrid.plugin.records import Observer
from cchybrid.plugin.registry import Registry, load_registry
from cchybrid.referee.verify import refuse_invalid
from cchybrid.system.processes import processor_count

__all__ = ["bound", "collective", "instance", "network", "solve"]

MAX_NUMBER = 1 << 40
"""Exclusive limit of seconds, steps, evaluations, threads and mebibytes."""
DEFAULT_SECONDS = 60.0


def solve(
    instance: Instance,
    *,
    engines: Sequence[str] | None = None,
    strategy: str = "auto",
    steps: int | None = None,
    blind: bool = False,
    time_limit: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    memory: int | None = None,
    first_schedule: bool = True,
    certify: bool = True,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    initial_schedule: Schedule | str | Path | None = None,
    stop: Callable[[], bool] | None = None,
    on_event: Callable[[Mapping[str, Any]], object] | None = None,
    observers: Iterable[Observer] = (),
    log: Callable[[Mapping[str, Any]], None] | None = None,
    registry: Registry | None = None,
) -> Result:
    """Find a schedule with the fewest steps, verify it, and bound the steps from below.

    Parameters
    ----------
    instance
        The instance.
    engines
        Names of the engines that take part; by default all installed ones except baselines.
    strategy
        ``auto``, ``race``, ``relay`` or ``quotients``.
    steps
        The target: search only for a schedule of at most this many steps.
    blind
        Search for the target without any bound, even if a bound shows that there is no such
        schedule: to compare engines by the conflicts that are left (``Result.conflicts``).
    time_limit
        Wall-clock seconds of the whole run; 60 by default, none with an evaluation budget. Time to
        wait for the compilation of kernels, once per installation, does not count.
    evaluations
        Candidate evaluations of each engine, as it counts them (``Run.spend``). Engines then run
        one after another, and with one thread the same seed always gives the same result (unless a
        time limit ends the run before).
    seed
        Seed of all random choices.
    threads
        Threads of all engines together; by default one per processor.
    memory
        Mebibytes of address space of each worker; unlimited by default.
    first_schedule
        Whether to make a greedy schedule before any engine starts, as the result if they find none.
    certify
        Whether to use the remaining time to prove a best bound that only an engine claims (by
        rows of the relaxation, or by CaDiCaL if python-sat is installed).
    options
        Options by name, per engine, strategy, and for ``quotients``.
    initial_schedule
        A valid schedule of the instance, or its file: the search begins with it, and the result is
        never longer.
    stop
        Called about twenty times a second in the calling thread; the run ends with the best so far
        when it returns true (``Result.interrupted``), and with its exception if it raises one.
    on_event
        Called with every event of the run, a mapping (``docs/hooks.md``), in the calling thread. If
        it raises, the run ends with that exception.
    observers
        Called with every event of the run, too; one that raises is removed and named in
        ``troubles``.
    log
        Called with every line of the log, from which ``cchybrid.host.replay`` repeats the run. If
        it raises, it is not called again, and a line in ``troubles`` says so.
    registry
        The plugins to use, if they are loaded already.

    Returns
    -------
    Result
        The best schedule and bound; engines that failed are named in ``troubles``.

    Raises
    ------
    InputError
        For unknown names, for numbers or options out of range, and for an initial schedule that is
        not valid.

    Notes
    -----
    Engines run in processes of their own, which are started as commands: a script needs no
    ``if __name__ == "__main__"``, a notebook nothing special, and several threads may call
    ``solve`` at the same time. Ctrl-C (``KeyboardInterrupt``) ends the run with the best so far.

    Examples
    --------
    >>> import cchybrid
    >>> result = cchybrid.solve(cchybrid.instance("spidergon-8", "AAS"), time_limit=60)
    >>> result.steps, result.status, result.certified
    (4, 'optimal', True)
    >>> again = cchybrid.solve(result.instance, initial_schedule=result.schedule, time_limit=60)
    >>> again.steps, again.engine
    (4, 'initial schedule')
    """
    if not isinstance(instance, Instance):
        raise InputError(
            f"{_kind(instance)} is no instance",
            where="instance",
            hint="make one: cchybrid.instance(network, collective)",
        )
    registry = load_registry() if registry is None else registry
    check_strategy(strategy, "strategy")
    steps, evaluations = _whole("steps", steps), _whole("evaluations", evaluations)
    threads, memory = _whole("threads", threads), _whole("memory", memory)
    time_limit = _positive("time_limit", time_limit)
    seed = _seed(seed)
    initial = None if initial_schedule is None else _valid_steps(instance, initial_schedule)
    if strategy == "quotients" and evaluations is not None:
        raise InputError(
            "a quotient search needs a time limit", where="strategy", hint="set a time limit"
        )
    if blind and steps is None:
        raise InputError("a blind run without a number of steps", where="blind", hint="set steps")
    if time_limit is None and evaluations is None:
        time_limit = DEFAULT_SECONDS
    names = [engines] if isinstance(engines, str) else engines
    # A set, then sorted: the order in which engines are listed must not affect the result.
    requested = None if names is None else {registry.engine(name).name for name in names}
    chosen = ranked(
        [
            info
            for info in registry.engines.values()
            if (not info.baseline if requested is None else info.name in requested)
        ]
    )
    texts: dict[str, dict[str, str]] = {}
    for name, values in (options or {}).items():
        of_strategy = name.lower() if name.lower() in STRATEGIES else None
        owner = of_strategy or registry.engine(name).name
        if owner not in (strategy, "quotients", *(info.name for info in chosen)):
            what = "strategy" if of_strategy else "engine"
            raise InputError(
                f"{what} {owner} does not take part",
                where="options",
                hint="name it, or drop the option",
            )
        texts.setdefault(owner, {}).update((key, str(value)) for key, value in values.items())
    if threads is None:
        threads = 1 if evaluations is not None else processor_count()
    config = RunConfig(
        engines=chosen,
        bounds=[] if blind else sorted(registry.bounds.values(), key=lambda info: info.order),
        strategy=strategy,
        budget=Budget(time_limit, evaluations, threads, memory),
        seed=seed,
        target=steps,
        blind=blind,
        first_schedule=first_schedule and not blind,
        # Engines that the user names are started whatever the bounds say.
        first_bounds=requested is None and not blind and evaluations is None,
        certify=certify,
        options=texts,
    )
    _ = config.strategy_options, config.quotient_options  # raises for wrong values
    watching = [*registry.observers, *(("caller", observer) for observer in observers)]
    if on_event is not None:
        watching.append(("", on_event))
    return Session(instance, config, watching, log, initial, stop).run()


def _whole(where: str, number: Any) -> int | None:
    """Return a whole number above 0, of any integer type."""
    if number is None:
        return None
    try:
        found = operator.index(number)
    except TypeError:
        found = 0
    if isinstance(number, bool) or not 0 < found < MAX_NUMBER:
        raise _senseless(where, number, "a whole number")
    return found


def _positive(where: str, number: Any) -> float | None:
    """Return a number above 0, of any real type."""
    if number is None:
        return None
    real = isinstance(number, Real) and not isinstance(number, bool)
    if not (real and 0 < number < MAX_NUMBER):
        raise _senseless(where, number, "a number")
    return float(number)


def _senseless(where: str, number: Any, kind: str) -> InputError:
    return InputError(
        f"{number!r} makes no sense", where=where, hint=f"use {kind} above 0 and below 2^40"
    )


def _seed(seed: Any) -> int:
    try:
        found = operator.index(seed)
    except TypeError:
        found = -1
    if isinstance(seed, bool) or found < 0:
        raise InputError(f"{seed!r} is no seed", where="seed", hint="use a whole number from 0")
    return found


def _valid_steps(instance: Instance, given: Any) -> Steps:
    """Return the steps of the schedule that a run begins with; they must be valid."""
    where = "initial_schedule"
    if isinstance(given, str | Path):
        given = Schedule.load(given)
    if not isinstance(given, Schedule):
        raise InputError(f"{_kind(given)} is no schedule", where=where, hint="give a Schedule")
    refuse_invalid(replace(given, instance=instance), where)
    return given.steps


def _kind(value: Any) -> str:
    return f"a {type(value).__name__}"


def bound(
    instance: Instance,
    *,
    time_limit: float = DEFAULT_SECONDS,
    observers: Iterable[Observer] = (),
    registry: Registry | None = None,
) -> Result:
    """Find the best certified lower bound without a search for schedules.

    Examples
    --------
    >>> import cchybrid
    >>> found = cchybrid.bound(cchybrid.instance("mesh-3x3", "AAS"))
    >>> found.lower_bound.steps, found.lower_bound.evidence["kind"], found.certified
    (6, 'cut', True)
    """
    return solve(
        instance, engines=(), time_limit=time_limit, observers=observers, registry=registry
    )
