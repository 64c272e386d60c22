"""The Python interface: the functions behind the command line, exported by ``cchybrid``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cchybrid.host.arguments import (
    read_budget,
    read_count,
    read_flag,
    read_left_out,
    read_names,
    read_options,
    read_seed,
    read_text,
)
from cchybrid.host.callbacks import Callbacks
from cchybrid.host.executors import cluster_executor
from cchybrid.host.instances import collective, given_instance, instance, network
from cchybrid.host.result import Result
from cchybrid.host.run_config import RunConfig
from cchybrid.host.schedule_task import ScheduleTask
from cchybrid.host.session import Session
from cchybrid.host.strategies import ranked
from cchybrid.model import Instance, Schedule
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.shown import call_view
from cchybrid.model.text import described
from cchybrid.plugin.executor import Executor
from cchybrid.plugin.records import EngineInfo, Observer
from cchybrid.plugin.registry import Registry, load_registry
from cchybrid.referee.verify import verify

__all__ = ["bound", "collective", "instance", "network", "solve"]

DEFAULT_SECONDS = 60.0
SLICE_THREADS = 2
"""Threads of a time slice on other machines: two engines work at a time."""


def solve(
    instance: Any,
    collective: Any = None,
    *,
    engines: Sequence[str] | None = None,
    without: Sequence[str] = (),
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
    bounds: bool = True,
    executor: Executor | None = None,
    stop: Callable[[], object] | None = None,
    on_event: Observer | None = None,
    observers: Iterable[Observer] = (),
    log: Callable[[Mapping[str, Any]], None] | None = None,
    registry: Registry | None = None,
) -> Result:
    """Find a schedule with the fewest steps, verify it, and bound the steps from below.

    Parameters
    ----------
    instance, collective
        An ``Instance``; or a network and a collective, as for ``instance``.
    engines, without, strategy, options
        Names of engines (default: all but baselines), of some left out, of the
        strategy; their options, such as ``{"umda": {"population": 100}}``.
    steps, blind
        The target; whether to search for it without any bound.
    time_limit, evaluations
        Wall-clock seconds (60); candidate evaluations of each engine.
    seed, threads, memory
        Seed; threads (one per processor); mebibytes of memory.
    first_schedule, bounds, certify
        Whether to make a greedy schedule, call bound providers, and prove a
        bound that only an engine claims.
    initial_schedule
        A schedule to start from, or its file; the referee verifies it.
    executor
        Carries out the search on other machines.
    stop, on_event, observers, log
        Ends the run when it returns true; called with every event; called with
        every line of the log.
    registry
        The plugins to use, if they are loaded already.

    Returns
    -------
    Result
        The best schedule and bound; ``troubles`` names engines that failed.

    Raises
    ------
    InputError
        For an argument that is wrong; with its name and a hint.

    Examples
    --------
    >>> import cchybrid
    >>> result = cchybrid.solve("mesh-3x3", "allgather", time_limit=20)
    >>> result.steps, result.status, result.certified
    (4, 'optimal', True)
    """
    if registry is not None and not isinstance(registry, Registry):
        raise InputError(
            f"{described(registry)} is no registry", where="registry", hint="leave it out"
        )
    registry = load_registry() if registry is None else registry
    if not isinstance(observers, Iterable):
        raise InputError(
            f"{described(observers)} is no list of functions", where="observers", hint="give one"
        )
    instance = _instance(instance, collective)
    with with_context("strategy"):
        plan = registry.strategy(read_text(strategy, "strategy"))
    steps, seed = read_count(steps, "steps"), read_seed(seed)
    if threads is None and executor is not None:
        threads = SLICE_THREADS
    budget = read_budget(time_limit, evaluations, threads, memory, DEFAULT_SECONDS)
    for where, function in (("stop", stop), ("on_event", on_event), ("log", log)):
        if function is not None and not callable(function):
            raise InputError(f"{described(function)} is no function", where=where, hint="give one")
    if plan.name != "auto" and evaluations is not None:
        raise InputError(
            "engines with an evaluation budget run one after another",
            where="strategy",
            hint="leave it out, or set a time limit",
        )
    blind, certify = read_flag(blind, "blind"), read_flag(certify, "certify")
    bounds = read_flag(bounds, "bounds")
    first_schedule = read_flag(first_schedule, "first_schedule")
    if blind and steps is None:
        raise InputError("a blind run without a number of steps", where="blind", hint="set steps")
    if executor is not None and (evaluations is not None or blind):
        raise InputError(
            "a run on other machines needs a time limit", where="executor", hint="leave it out"
        )
    names = None if engines is None else read_names(engines, "engines", "give their names")
    # A set, then sorted: the order in which engines are listed must not affect the result.
    requested = None if names is None else {registry.engine(name).name for name in names}
    default = {info.name for info in registry.engines.values() if not info.baseline}
    left_out = read_left_out(without, default if requested is None else requested, registry)
    chosen = ranked(
        info
        for info in registry.engines.values()
        if (_fits(info, instance) if requested is None else info.name in requested)
        and info.name not in left_out
    )

    def owner(name: str) -> str:
        current = registry.current_name(name)
        return current if current.lower() in registry.strategies else registry.engine(name).name

    texts = read_options(
        options,
        owner,
        {plan.name, "quotients", *(info.name for info in chosen)},
        "write a dictionary such as {'umda': {'population': 100}}",
    )
    config = RunConfig(
        engines=chosen,
        bounds=registry.bound_providers if bounds and not blind else [],
        strategy=plan.name,
        strategy_target=plan.target,
        budget=budget,
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
    initial = None if initial_schedule is None else _initial(initial_schedule, instance)
    watching = [*registry.observers, *(("caller", observer) for observer in observers)]
    shell = sys.modules.get("IPython")
    if on_event is None and shell and hasattr(shell.get_ipython(), "kernel"):
        watching.append(("notebook", call_view("notebook", "live_view", instance.name)))
    callbacks = Callbacks(stop, on_event)
    kind: type[ScheduleTask] = ScheduleTask
    if instance.collective.with_sums:
        if executor is not None:
            text = f"not available for {instance.collective.kind}"
            raise InputError(text, where="executor", hint="leave it out")
        # Imported here: it needs the proofs, whose kernels take half a second to load.
        from cchybrid.host.allreduce import AllReduceTask

        kind = AllReduceTask
    task = kind.of(instance, config, initial)
    if executor is not None:
        info = cluster_executor(registry, "executor")
        session = registry.load("executor", replace(info, target=info.session))
        return session(executor, task, config, watching, log, callbacks).run()  # type: ignore[no-any-return]
    return Session(task, config, watching, log, callbacks).run()  # type: ignore[no-any-return]


def bound(
    instance: Any,
    collective: Any = None,
    *,
    time_limit: float = DEFAULT_SECONDS,
    stop: Callable[[], object] | None = None,
    on_event: Observer | None = None,
    observers: Iterable[Observer] = (),
    registry: Registry | None = None,
) -> Result:
    """Find the best certified lower bound without a search for schedules.

    Parameters
    ----------
    instance, collective
        An ``Instance``; or a network and a collective, as ``cchybrid.instance`` takes them.
    time_limit
        Wall-clock seconds.
    stop, on_event, observers, registry
        As in ``solve``.

    Returns
    -------
    Result
        Without a schedule; ``lower_bound`` is the bound.

    Raises
    ------
    InputError
        As ``solve``.

    Examples
    --------
    >>> import cchybrid
    >>> found = cchybrid.bound("mesh-3x3", "allgather", time_limit=20)
    >>> found.lower_bound.steps, found.certified
    (4, True)
    """
    return solve(
        instance,
        collective,
        engines=(),
        time_limit=time_limit,
        first_schedule=False,
        stop=stop,
        on_event=on_event,
        observers=observers,
        registry=registry,
    )


def _fits(info: EngineInfo, instance: Instance) -> bool:
    """Return whether an engine takes part if no engine is named."""
    rounds = "several" if instance.model.rounds else "one"
    fits = instance.horizon in info.horizons
    return not info.baseline and fits and info.rounds in ("any", rounds)


def _instance(value: Any, collective: Any) -> Instance:
    if collective is None and not isinstance(value, Instance):
        raise InputError(
            f"{described(value)} is no instance",
            where="instance",
            hint="make one, such as cchybrid.instance('mesh-3x3', 'allgather')",
        )
    return given_instance(value, collective)


def _initial(source: Any, instance: Instance) -> Schedule:
    """Return the schedule to start from, which is valid for the instance."""
    with with_context("initial_schedule"):
        if isinstance(source, (str, Path)):
            source = Schedule.load(source)
        if not isinstance(source, Schedule):
            raise InputError(
                f"{described(source)} is no schedule", hint="give one, or the name of its file"
            )
        theirs, ours = source.instance.network, instance.network
        for node in range(min(theirs.nodes, ours.nodes)):
            if theirs.node_name(node) != ours.node_name(node):
                raise InputError(
                    f"node {node} is called {theirs.node_name(node)} there, and"
                    f" {ours.node_name(node)} in {instance.name}",
                    hint="give a schedule of this instance",
                )
        violations = verify(instance, source.steps, source.sums)
        if violations:
            raise InputError(
                f"not valid for {instance.name}: {violations[0].text}",
                hint="give a schedule of this instance",
            )
    return Schedule(instance, source.steps, source.lower_bound, sums=source.sums)
