"""The Python function ``cchybrid.design``."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from cchybrid.design_checker import check_design
from cchybrid.host.arguments import read_budget
from cchybrid.host.event_bus import EventBus
from cchybrid.host.incumbent import Incumbent
from cchybrid.host.session import Session
from cchybrid.model import Network
from cchybrid.model.errors import InputError
from cchybrid.plugin.engine import Budget
from cchybrid.plugin.records import Observer
from cchybrid.plugin.registry import Registry, load_registry

from .network.cost import Cost
from .network.ports import Links, links_of, network_of, ports_of
from .network.record import design_record
from .network.steps_walk import form_of
from .network.task import DesignTask
from .network_steps import NoScheduleError, fewest_steps
from .network_task import NetworkTask
from .result import DesignResult
from .settings import observers, read_run

DEFAULT_DESIGN_SECONDS = 10.0
STEPS_SECONDS = 60.0
"""Wall-clock seconds with a collective, by default."""
DESIGNERS_SHARE = 0.1
"""The designers' share of the time with a collective; the rest is for schedules."""
MAX_STARTS = 4
"""Number of the designers' networks with which the search for the fewest steps starts."""
STEPS_SEARCH = "fewest-steps"
"""The name of this search, in the place of a designer."""
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
        A collective: from the networks of the designers begins the search for networks on which it
        takes the fewest steps (``cchybrid_plugins.design.network_steps``).
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
        Wall-clock seconds; by default 10, with a collective 60 (a tenth of them for the designers),
        none with an evaluation budget. The compilation of kernels, once per installation, does not
        count.
    evaluations
        Networks that each designer evaluates. Designers then run one after another, and the same
        seed always gives the same result. Not with a collective.
    seed
        Seed of all random choices, also of cost terms that draw at random.
    threads
        Designers that run at a time; by default one per processor.
    memory
        Mebibytes for the whole run, as in ``cchybrid.solve``.
    on_event
        Called with every event of the run.
    accepted
        Called after the run with the links and the cost of every network that a designer offered
        as better than its own before, once checked.
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
    default = DEFAULT_DESIGN_SECONDS if collective is None else STEPS_SECONDS
    budget = read_budget(time_limit, evaluations, threads, memory, default)
    seconds = budget.seconds or default
    if collective is not None:
        budget = replace(budget, seconds=seconds * DESIGNERS_SHARE)
    task, config = read_run(
        nodes, degree, cost, registry, budget, layout=layout, positions=positions,
        max_wire=max_wire, redundant_links=redundant_links, fault_tolerant=fault_tolerant,
        collective=collective, switching=switching, ports=ports, routing=routing, initial=initial,
        designers=designers, options=options, seed=seed, target=target,
    )  # fmt: skip
    if collective is not None:
        _check_search(fault_tolerant, evaluations)
    watching = observers(registry, on_event)
    run = NetworkTask(task, config)
    result: DesignResult = Session(run, config, watching).run()
    if accepted is not None:
        for offer in run.accepted:
            accepted(offer.value, offer.cost)
    if collective is None:
        return result
    result = replace(result, budget={**result.budget, "seconds": seconds})
    if result.interrupted:
        return result
    starts = _starts(task, config.initial, run.accepted)
    # The designers may have waited for the compilation of kernels, which does not count.
    left = seconds - min(result.seconds, seconds * DESIGNERS_SHARE)
    return _with_steps(result, run.accepted, starts, left, budget, registry, EventBus(watching))


def _check_search(fault_tolerant: bool, evaluations: int | None) -> None:
    """Raise an ``InputError`` for what cannot be combined with a collective."""
    if fault_tolerant:
        raise InputError(
            "a collective and fault tolerance", where="collective", hint="leave one of them out"
        )
    if evaluations is not None:
        raise InputError(
            "a collective and a number of evaluations",
            where="evaluations",
            hint="use a time limit: networks are scheduled in slices of time",
        )


def _starts(
    task: DesignTask, initial: Links | None, offered: list[Incumbent[Links]]
) -> list[Links]:
    """Return the initial network, then the cheapest others, all different up to isomorphism."""
    ranked = [offer.value for offer in sorted(offered, key=lambda offer: offer.cost)]
    chosen: dict[bytes, Links] = {}
    for links in ranked if initial is None else [initial, *ranked]:
        chosen.setdefault(form_of(task, links), links)
        if len(chosen) == MAX_STARTS:
            break
    return list(chosen.values())


def _with_steps(
    result: DesignResult,
    offered: list[Incumbent[Links]],
    starts: list[Links],
    seconds: float,
    budget: Budget,
    registry: Registry,
    bus: EventBus,
) -> DesignResult:
    """Return the result for the network on which the collective takes the fewest steps.

    If no schedule is found, the designers' network is kept, with a remark.
    """
    task, before = result.task, result.seconds

    def report(line: str) -> None:
        bus.emit("solved", before + bus.now(), {"text": line})

    try:
        found = fewest_steps(
            task,
            starts,
            time_limit=seconds,
            seed=result.seed,
            threads=budget.threads,
            memory=budget.memory,
            registry=registry,
            report=report,
        )
    except NoScheduleError as error:
        remarks = (*result.remarks, f"{STEPS_SEARCH}: {error}")
        return replace(result, seconds=before + bus.now(), remarks=remarks)
    except KeyboardInterrupt:
        return replace(result, seconds=before + bus.now(), interrupted=True)
    bus.emit("steps", before + bus.now(), found.to_json())
    result = replace(
        result,
        seconds=before + found.seconds,
        troubles=(*result.troubles, *bus.troubles),
        interrupted=found.interrupted,
        network_steps=found,
    )
    if found.links == result.links:
        return result
    cost = Cost(task)
    ports = ports_of(task.nodes, task.degree, found.links)
    searched = Incumbent(links_of(ports), 0.0, STEPS_SEARCH, before + found.seconds_to_best)
    first = next((offer for offer in offered if offer.value == searched.value), searched)
    certified = result.bound is not None and cost(ports) <= result.bound + task.tolerance
    if certified:
        check_design(design_record(task, found.links))
    return replace(
        result,
        network=network_of(task, found.links),
        links=found.links,
        values=cost.values(ports),
        cost=cost(ports),
        status="optimal" if certified else "feasible",
        certified=certified,
        proven_by="",
        designer=first.author,
        seconds_to_best=first.seconds,
    )
