"""The task and the settings of a run of designers, from the arguments of ``cchybrid.design``."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from cchybrid.host.arguments import read_flag, read_names, read_options, read_seed, read_text
from cchybrid.host.run_config import RunConfig
from cchybrid.library.instance_spec import find_network, read_model
from cchybrid.model import Network
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.whole_numbers import whole
from cchybrid.plugin.engine import Budget
from cchybrid.plugin.records import DesignerInfo, Observer
from cchybrid.plugin.registry import Registry

from .network.ports import Links, links_between_equals
from .network.task import WORMHOLE, DesignTask, Positions, layout
from .network.terms import TERMS


@dataclass(frozen=True)
class DesignConfig(RunConfig):
    """The settings of a run of designers, which are its ``engines``, in descending priority.

    Parameters
    ----------
    goal
        A cost that ends the run, or ``None``.
    initial
        The links of a network to begin with, or ``None``.
    """

    goal: float | None = None
    initial: Links | None = None


def read_run(
    nodes: int,
    degree: int,
    cost: Iterable[str] | Mapping[str, float],
    registry: Registry,
    budget: Budget,
    *,
    layout: str | None,
    positions: Iterable[Iterable[float]] | None,
    max_wire: float | None,
    redundant_links: bool,
    fault_tolerant: bool,
    collective: str | None,
    switching: str | None,
    ports: str | int | None,
    routing: str | int | None,
    initial: Network | str | None,
    designers: Iterable[str] | None,
    options: Mapping[str, Mapping[str, Any]] | None,
    seed: int,
    target: float | None = None,
) -> tuple[DesignTask, DesignConfig]:
    """Return the task of the arguments of ``cchybrid.design``, and the settings of its run.

    Raises
    ------
    InputError
        For unknown names, and for values out of range.
    """
    for name, value in (("switching", switching), ("ports", ports), ("routing", routing)):
        if collective is None and value is not None:
            raise InputError(
                f"{name} without a collective", where=name, hint="name a collective, or drop it"
            )
    for name, text in (("layout", layout), ("collective", collective), ("switching", switching)):
        if text is not None:
            read_text(text, name)
    model = read_model(WORMHOLE, routing, switching, ports)
    if model.periodic:
        raise InputError(
            "networks are not designed for time slots",
            where="switching",
            hint="use wormhole or store-and-forward",
        )
    task = DesignTask(
        whole(nodes, "nodes"),
        whole(degree, "degree"),
        weights=_weights(cost),
        positions=_positions(whole(nodes, "nodes"), layout, positions),
        max_wire=None if max_wire is None else _number(max_wire, "max_wire"),
        redundant_links=read_flag(redundant_links, "redundant_links"),
        seed=read_seed(seed),
        fault_tolerant=read_flag(fault_tolerant, "fault_tolerant"),
        extra_terms=tuple(info for info in registry.cost_terms.values() if info.name not in TERMS),
        collective=collective,
        model=model,
    )
    chosen = _chosen(designers, registry)
    config = DesignConfig(
        engines=chosen,
        bounds=(),
        budget=budget,
        seed=task.seed,
        goal=None if target is None else _number(target, "target"),
        options=read_options(
            options,
            lambda name: registry.designer(name).name,
            {info.name for info in chosen},
            "give values by option, per designer: {'gappin': {'population': 64}}",
        ),
        initial=None if initial is None else _links(initial, task, registry),
    )
    return task, config


def observers(registry: Registry, on_event: Observer | None) -> list[tuple[str, Observer]]:
    """Return the observers of plugins, and that of the caller."""
    own = [] if on_event is None else [("caller", on_event)]
    return [*registry.observers, *own]


def _weights(cost: Iterable[str] | Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    if isinstance(cost, Mapping):
        pairs = list(cost.items())
    else:
        names = read_names(cost, "cost", "give a list of names of cost terms")
        pairs = [(name, 1.0) for name in names]
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
    try:
        listed = [list(point) for point in points]
    except TypeError:
        raise InputError(
            f"{points!r} makes no sense", where="positions", hint="give coordinates for every node"
        ) from None
    return tuple(tuple(_number(value, "positions") for value in point) for point in listed)


def _chosen(names: Iterable[str] | None, registry: Registry) -> list[DesignerInfo]:
    """Return the designers in descending priority, those of equal priority by name."""
    if names is None:
        found = list(registry.designers.values())
    else:
        listed = read_names(names, "designers", "give a list of names of designers")
        found = list({info.name: info for info in map(registry.designer, listed)}.values())
    return sorted(found, key=lambda info: (-info.priority, info.name))


def _links(initial: Network | str, task: DesignTask, registry: Registry) -> Links:
    """Return the links of a network to begin with."""
    if not isinstance(initial, (Network, str)):
        raise InputError(
            f"{initial!r} is no network", where="initial", hint="give a Network, a file or a name"
        )

    def refuse(modes: str) -> None:
        raise InputError(modes, where="initial", hint="begin with nodes that are all alike")

    network = initial if isinstance(initial, Network) else find_network(initial, registry, refuse)
    if network.nodes != task.nodes:
        raise InputError(
            f"{network.name} has {network.nodes} nodes, the task {task.nodes}",
            where="initial",
            hint="begin with a network of as many nodes",
        )
    with with_context("initial"):
        return links_between_equals(network)


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise InputError(f"{value!r} is no finite number", where=where, hint="use a number")
    return float(value)
