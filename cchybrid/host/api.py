"""The Python interface: the functions behind the command line, exported by ``cchybrid``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cchybrid.host.instances import collective, instance, network
from cchybrid.host.result import Result
from cchybrid.host.run_config import RunConfig
from cchybrid.host.session import Session
from cchybrid.host.strategies import STRATEGIES, check_strategy, ranked
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.plugin.engine import Budget
from cchybrid.plugin.records import Observer
from cchybrid.plugin.registry import Registry, load_registry
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
    observers
        Called with every event of the run.
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
        For unknown names, and for numbers or options out of range.
    """
    registry = load_registry() if registry is None else registry
    check_strategy(strategy, "strategy")
    for name, number in (
        ("steps", steps),
        ("time_limit", time_limit),
        ("evaluations", evaluations),
        ("threads", threads),
        ("memory", memory),
    ):
        whole = name != "time_limit"
        if number is not None and not (
            isinstance(number, int if whole else (int, float)) and 0 < number < MAX_NUMBER
        ):
            kind = "a whole number" if whole else "a number"
            raise InputError(
                f"{number!r} makes no sense", where=name, hint=f"use {kind} above 0 and below 2^40"
            )
    if not isinstance(seed, int) or seed < 0:
        raise InputError(f"{seed!r} is no seed", where="seed", hint="use a whole number from 0")
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
    return Session(instance, config, watching, log).run()


def bound(
    instance: Instance,
    *,
    time_limit: float = DEFAULT_SECONDS,
    observers: Iterable[Observer] = (),
    registry: Registry | None = None,
) -> Result:
    """Find the best certified lower bound without a search for schedules."""
    return solve(
        instance, engines=(), time_limit=time_limit, observers=observers, registry=registry
    )
