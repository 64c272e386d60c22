"""The Python interface: what the command line does, as functions. ``import cchybrid`` offers it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cchybrid.host.result import Result
from cchybrid.host.run_config import RunConfig
from cchybrid.host.session import Session
from cchybrid.host.strategies import STRATEGIES, check_strategy, ranked
from cchybrid.library.instance_spec import InstanceSpec, resolve
from cchybrid.library.topologies import network as build_network
from cchybrid.model import Instance, Network
from cchybrid.model.errors import InputError
from cchybrid.plugin.engine import Budget
from cchybrid.plugin.records import Observer
from cchybrid.plugin.registry import Registry, load_registry


def instance(topology: str, collective: str | None = None, **rest: Any) -> Instance:
    """Return the instance of a topology and a collective by name, or of a file.

    Parameters
    ----------
    topology, collective, rest
        The fields of ``InstanceSpec``.

    Raises
    ------
    InputError
        With one line that says what is wrong, where, and how to mend it.
    """
    return resolve(InstanceSpec(topology, collective, **rest), load_registry())


def network(name: str) -> Network:
    """Return a network by name, such as ``mesh-4x8``, plugins' families included."""
    return build_network(name, load_registry().topologies.values())


LARGEST = 1 << 40
"""No number of seconds, steps, evaluations, threads or mebibytes is meant to be larger."""
DEFAULT_SECONDS = 60.0


def solve(
    question: Instance,
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
    """Find a schedule with the fewest steps, verify it, and bound it from below.

    Parameters
    ----------
    question
        The instance.
    engines
        Names of the engines that take part; by default all that are installed and no baselines.
    strategy
        ``auto``, ``race``, ``relay`` or ``quotients``.
    steps
        Look only for a schedule of at most so many steps.
    blind
        Look for them without any bound, even where a bound says that there is none: to compare
        engines by the conflicts that they are left with (``Result.conflicts``).
    time_limit
        Wall-clock seconds of the whole run; 60 by default, none with an evaluation budget. What
        waits for kernels to be compiled, once per installation, does not count.
    evaluations
        Evaluations of each engine. Then engines work one after another, and with one thread the
        same seed gives the same result, always (unless a time limit, given too, cuts the run).
    seed
        Rules every random choice.
    threads
        Threads of all engines together; by default one per processor.
    memory
        Mebibytes of address space of each worker; unlimited by default.
    first_schedule
        Make a greedy schedule before any engine works, as the answer where they find none.
    certify
        Where only an engine claims the best bound, use the time that is left to prove it (by
        rows of the relaxation, or by CaDiCaL if python-sat is there).
    options
        Per engine its options by name; also of the strategy and of ``quotients``.
    observers
        Called with every event of the run.
    log
        Called with every line of the log, from which ``cchybrid.host.replay`` repeats the run.
    registry
        The plugins to use, if they are loaded already.

    Returns
    -------
    Result
        Whatever was found; engines that failed are named in ``troubles``.

    Raises
    ------
    InputError
        For names, numbers or options that make no sense.
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
            isinstance(number, int if whole else (int, float)) and 0 < number < LARGEST
        ):
            kind = "a whole number" if whole else "a number"
            raise InputError(
                f"{number!r} makes no sense", where=name, mend=f"use {kind} above 0 and below 2^40"
            )
    if not isinstance(seed, int) or seed < 0:
        raise InputError(f"{seed!r} is no seed", where="seed", mend="use a whole number from 0")
    if strategy == "quotients" and evaluations is not None:
        raise InputError(
            "tours of quotients go by the clock", where="strategy", mend="set a time limit instead"
        )
    if blind and steps is None:
        raise InputError("a blind run without a number of steps", where="blind", mend="set steps")
    if time_limit is None and evaluations is None:
        time_limit = DEFAULT_SECONDS
    names = [engines] if isinstance(engines, str) else engines
    # Each once, in the order of their priority: how they are listed must not decide the result.
    asked = None if names is None else {registry.engine(name).name for name in names}
    chosen = ranked(
        [
            info
            for info in registry.engines.values()
            if (not info.baseline if asked is None else info.name in asked)
        ]
    )
    texts: dict[str, dict[str, str]] = {}
    for name, values in (options or {}).items():
        of_strategy = name.lower() if name.lower() in (*STRATEGIES, "quotients") else None
        owner = of_strategy or registry.engine(name).name
        if owner not in (strategy, "quotients", *(info.name for info in chosen)):
            what = "strategy" if of_strategy else "engine"
            raise InputError(
                f"{what} {owner} does not take part",
                where="options",
                mend="name it, or drop the option",
            )
        texts.setdefault(owner, {}).update((key, str(value)) for key, value in values.items())
    if threads is None:
        threads = 1 if evaluations is not None else len(os.sched_getaffinity(0))
    config = RunConfig(
        engines=chosen,
        bounds=[] if blind else sorted(registry.bounds.values(), key=lambda info: info.order),
        strategy=strategy,
        budget=Budget(time_limit, evaluations, threads, memory),
        seed=seed,
        target=steps,
        blind=blind,
        first_schedule=first_schedule and not blind,
        certify=certify,
        options=texts,
    )
    _ = config.strategy_options, config.quotient_options  # wrong values are refused now
    watching = [*registry.observers, *(("caller", observer) for observer in observers)]
    return Session(question, config, watching, log).run()


def bound(
    question: Instance,
    *,
    time_limit: float = DEFAULT_SECONDS,
    observers: Iterable[Observer] = (),
    registry: Registry | None = None,
) -> Result:
    """Find the best certified lower bound without looking for a schedule."""
    return solve(
        question, engines=(), time_limit=time_limit, observers=observers, registry=registry
    )
