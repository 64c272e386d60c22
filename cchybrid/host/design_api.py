"""The Python function ``cchybrid.design``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from cchybrid.host.api import MAX_NUMBER
from cchybrid.host.design_config import DesignConfig
from cchybrid.host.design_result import DesignResult
from cchybrid.host.design_session import DesignSession
from cchybrid.host.network_steps import fewest_steps
from cchybrid.library.instance_spec import find_network, read_model
from cchybrid.model import Network
from cchybrid.model.errors import InputError
from cchybrid.network_design.cost import TERMS, Cost
from cchybrid.network_design.ports import Links, network_of, ports_of
from cchybrid.network_design.task import WORMHOLE, DesignTask, ExtraTerm, Positions, layout
from cchybrid.plugin.engine import Budget
from cchybrid.plugin.records import DesignerInfo, Observer
from cchybrid.plugin.registry import Registry, load_registry
from cchybrid.system.processes import processor_count

DEFAULT_DESIGN_SECONDS = 10.0
STEPS_SECONDS = 60.0
"""Wall-clock seconds with a collective, by default."""
DESIGNERS_SHARE = 0.1
"""The designers' share of the time with a collective; the rest is for schedules."""
DEFAULT_COST = ("latency", "max-latency")


def design(
    nodes: int,
    degree: int,
    *,
    cost: Iterable[str] | Mapping[str, float] = DEFAULT_COST,
    layout: str | None = None,
    positions: Iterable[Iterable[float]] | None = None,
    max_wire: float | None = None,
    redundant_links: bool = False,
    fault_tolerant: bool = False,
    collective: str | None = None,
    switching: str | None = None,
    ports: str | int | None = None,
    routing: str | int | None = None,
    initial: Network | str | None = None,
    designers: Iterable[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    target: float | None = None,
    time_limit: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    memory: int | None = None,
    on_event: Observer | None = None,
    accepted: Callable[[Links, float], None] | None = None,
    registry: Registry | None = None,
) -> DesignResult:
    """Search for a network of low cost, and check it.

    Parameters
    ----------
    nodes, degree
        The number of nodes, and the largest number of links of a node.
    cost
        Names of cost terms, each of weight 1, or their weights by name.
    layout
        Where the nodes are: ``backplane``, ``centreplane`` or ``grid-WxH``.
    positions
        Coordinates of the nodes, instead of a layout.
    max_wire
        The largest Manhattan distance between linked nodes.
    redundant_links
        Whether two nodes may have several links.
    fault_tolerant
        Whether the others have to stay connected when any one node fails.
    collective
        A collective: after the designers, networks are searched on which it takes the fewest steps
        (``cchybrid.host.network_steps``).
    switching, ports, routing
        Its communication model, as in ``InstanceSpec``.
    initial
        A network to begin with, a file of one, or a topology's name.
    designers
        Names of the designers that take part, by default all.
    options
        Options by name, per designer.
    target
        A cost that ends the search.
    time_limit
        Wall-clock seconds; 10 by default, none with an evaluation budget. The compilation of
        kernels, once per installation, does not count.
    evaluations
        Networks that each designer evaluates. Designers then run one after another, and the same
        seed always gives the same result.
    seed
        Seed of all random choices, also of cost terms that draw at random.
    threads
        Designers that run at a time; by default one per processor.
    memory
        Mebibytes of address space of each worker; unlimited by default.
    on_event
        Called with every event of the run.
    accepted
        Called with the links and the cost of every network that a designer offers, once checked.
    registry
        The plugins to use, if they are loaded already.

    Raises
    ------
    InputError
        For unknown names, and for values out of range.

    Examples
    --------
    >>> import cchybrid
    >>> result = cchybrid.design(10, 3, time_limit=20)
    >>> result.status, result.certified, result.values["max-latency"]
    ('optimal', True, 2.0)
    """
    registry = load_registry() if registry is None else registry
    _check_numbers(time_limit, evaluations, threads, memory, seed, target)
    task = DesignTask(
        _whole(nodes, "nodes"),
        _whole(degree, "degree"),
        weights=_weights(cost),
        positions=_positions(nodes, layout, positions),
        max_wire=max_wire,
        redundant_links=redundant_links,
        seed=seed,
        fault_tolerant=fault_tolerant,
        extra_terms=extra_terms(registry),
        collective=collective,
        model=read_model(WORMHOLE, routing, switching, ports),
    )
    if collective is not None and fault_tolerant:
        raise InputError(
            "a collective and fault tolerance", where="collective", hint="leave one of them out"
        )
    seconds = STEPS_SECONDS if time_limit is None else time_limit
    if collective is not None:
        time_limit = seconds * DESIGNERS_SHARE
    if time_limit is None and evaluations is None:
        time_limit = DEFAULT_DESIGN_SECONDS
    if threads is None:
        threads = 1 if evaluations is not None else processor_count()
    chosen = _chosen(designers, registry)
    config = DesignConfig(
        designers=chosen,
        budget=Budget(time_limit, evaluations, threads, memory),
        seed=seed,
        target=target,
        options=_options(options or {}, chosen, registry),
        initial=None if initial is None else _links(initial, task, registry),
    )
    watching = list(registry.observers)
    if on_event is not None:
        watching.append(("caller", on_event))
    result = DesignSession(task, config, watching, accepted).run()
    if collective is None or not result.links or result.interrupted:
        return result
    left = max(1.0, seconds - result.seconds)
    return _with_steps(result, left, threads, registry)


def _with_steps(
    result: DesignResult, seconds: float, threads: int, registry: Registry
) -> DesignResult:
    """Return the result for the network on which the collective takes the fewest steps."""
    task = result.task
    found = fewest_steps(
        task,
        [result.links],
        time_limit=seconds,
        seed=result.seed,
        threads=threads,
        registry=registry,
    )
    cost = Cost(task)
    ports = ports_of(task.nodes, task.degree, found.links)
    moved = found.links != result.links
    return replace(
        result,
        network=network_of(task, found.links),
        links=found.links,
        values=cost.values(ports),
        cost=cost(ports),
        status="feasible" if moved else result.status,
        certified=result.certified and not moved,
        proven_by="" if moved else result.proven_by,
        designer="walk" if moved else result.designer,
        seconds=result.seconds + found.seconds,
        steps=found,
    )


def extra_terms(registry: Registry) -> tuple[ExtraTerm, ...]:
    """Return the cost terms of plugins; those named like one of cchybrid's are left out."""
    return tuple(
        ExtraTerm(info.name, info.target, info.maximised)
        for info in registry.cost_terms.values()
        if info.name.lower() not in TERMS
    )


def _weights(cost: Iterable[str] | Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    if isinstance(cost, str):
        cost = (cost,)
    pairs = cost.items() if isinstance(cost, Mapping) else ((name, 1.0) for name in cost)
    return tuple((str(name), _number(weight, f"weight of {name}")) for name, weight in pairs)


def _positions(
    nodes: int, name: str | None, points: Iterable[Iterable[float]] | None
) -> Positions | None:
    if name is not None and points is not None:
        raise InputError("a layout and positions", where="layout", hint="give one of them")
    if name is not None:
        return layout(name, nodes)
    if points is None:
        return None
    return tuple(tuple(_number(value, "positions") for value in point) for point in points)


def _chosen(names: Iterable[str] | None, registry: Registry) -> list[DesignerInfo]:
    """Return the designers in descending priority, those of equal priority by name."""
    listed = [names] if isinstance(names, str) else names
    found = (
        list(registry.designers.values())
        if listed is None
        else list({info.name: info for info in map(registry.designer, listed)}.values())
    )
    return sorted(found, key=lambda info: (-info.priority, info.name))


def _options(
    options: Mapping[str, Mapping[str, Any]], chosen: list[DesignerInfo], registry: Registry
) -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = {}
    for name, values in options.items():
        info = registry.designer(name)
        if info not in chosen:
            raise InputError(
                f"designer {info.name} does not take part",
                where="options",
                hint="name it, or drop the option",
            )
        texts.setdefault(info.name, {}).update((key, str(value)) for key, value in values.items())
    return texts


def _links(initial: Network | str, task: DesignTask, registry: Registry) -> Links:
    """Return the links of a network to begin with."""
    network = initial if isinstance(initial, Network) else find_network(initial, registry)
    if network.nodes != task.nodes:
        raise InputError(
            f"{network.name} has {network.nodes} nodes, the task {task.nodes}",
            where="initial",
            hint="begin with a network of as many nodes",
        )
    carried = {(channel.source, channel.target): channel.capacity for channel in network.channels}
    links: list[tuple[int, int]] = []
    for (a, b), capacity in carried.items():
        if carried.get((b, a)) != capacity:
            raise InputError(
                f"{network.name} has a channel from {a} to {b} without an equal one back",
                where="initial",
                hint="begin with a network of bidirectional links",
            )
        if a < b:
            links += [(a, b)] * capacity
    return tuple(links)


def _check_numbers(
    time_limit: float | None,
    evaluations: int | None,
    threads: int | None,
    memory: int | None,
    seed: int,
    target: float | None,
) -> None:
    for name, number, kinds in (
        ("time_limit", time_limit, (int, float)),
        ("evaluations", evaluations, (int,)),
        ("threads", threads, (int,)),
        ("memory", memory, (int,)),
    ):
        if number is None:
            continue
        if isinstance(number, bool) or not isinstance(number, kinds) or not 0 < number < MAX_NUMBER:
            kind = "a whole number" if kinds == (int,) else "a number"
            raise InputError(
                f"{number!r} makes no sense", where=name, hint=f"use {kind} above 0 and below 2^40"
            )
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < MAX_NUMBER:
        raise InputError(f"{seed!r} is no seed", where="seed", hint="use a whole number from 0")
    if target is not None:
        _number(target, "target")


def _whole(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{value!r} is no whole number", where=where, hint="use one above 0")
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise InputError(f"{value!r} is no finite number", where=where, hint="use a number")
    return float(value)
