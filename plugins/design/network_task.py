"""The task of a run of designers: a network of the lowest cost.

The links of every network that is offered are checked and its cost is computed again; a designer
that is wrong is ended. Better networks go to all other designers as news.

With a time limit, as many designers as there are threads run at a time, in slices: first every
designer once, by priority; then those that found the best network most recently, and of the others
those that had the least time. With an evaluation budget they run one after another without news,
so that the same seed always gives the same result.
"""

import math
from collections.abc import Iterator, Sequence

from cchybrid.checker.instance import EvidenceError
from cchybrid.design_checker import check_design
from cchybrid.host import events as ev
from cchybrid.host.incumbent import Incumbent, is_better
from cchybrid.host.run_config import RunConfig
from cchybrid.host.run_history import RunHistory
from cchybrid.host.task import ContractError, Host, Task, WorkerState
from cchybrid.host.wire import Line
from cchybrid.model.errors import InputError, PluginError
from cchybrid.plugin.strategy import Arm, ArmKey, Phase

from .network.bounds import latency_bound
from .network.cost import Cost
from .network.ports import Links, check_links, links_of, network_of, ports_of
from .network.record import design_record
from .network.task import DesignTask
from .result import DesignResult, Status
from .settings import DesignConfig

FIRST_SLICE, LATER_SLICE = 0.1, 0.2
"""Shares of the time limit of a designer's first time slice, and of later ones."""
START = "start"
"""The name of the network that the search begins with, in the place of a designer."""


class NetworkTask(Task):
    """The state of a run of designers.

    Attributes
    ----------
    incumbent
        The links of the best network, and the designer that found it.
    accepted
        Every network that was checked, also those that are not the best.
    proven_by
        The exact designer that claims that no network is better, or "".
    """

    own_events = (ev.Designed,)
    run_class = "cchybrid_plugins.design.worker:DesignWorkerRun"
    # Designers mainly compile their kernels before they start, once per installation.
    max_start_seconds = 120.0

    def __init__(self, task: DesignTask, config: DesignConfig) -> None:
        super().__init__(RunHistory(ordered=False))
        self.task, self.config = task, config
        costs = ", ".join(name for name, _ in task.weights)
        self.name = f"{task.nodes} nodes of degree {task.degree}, {costs}"
        self.record = task.to_json()
        self.incumbent: Incumbent[Links] | None = None
        self.accepted: list[Incumbent[Links]] = []
        self.proven_by = ""
        self._cost = Cost(task)
        self._bound = latency_bound(task).cost(task)
        self._first: Incumbent[Links] | None = None
        self._own: dict[ArmKey, float] = {}
        self._improved: dict[ArmKey, float] = {}
        self._claimants: dict[ArmKey, WorkerState] = {}
        self._evaluations: dict[str, int] = {}

    @property
    def cost(self) -> float:
        """The cost of the best network; infinite without one."""
        return math.inf if self.incumbent is None else float(self.incumbent.cost)

    @property
    def found_at(self) -> float:
        """See ``Task.found_at``."""
        return 0.0 if self.incumbent is None else self.incumbent.seconds

    @property
    def is_settled(self) -> bool:
        """Whether the cost meets its bound, the goal or a claim."""
        return bool(self.proven_by) or self._meets(self._bound) or self._meets(self.config.goal)

    def _meets(self, cost: float | None) -> bool:
        return cost is not None and self.cost <= cost + self.task.tolerance

    def gain(self, seat: int) -> float:
        """Return when a designer last found the best network."""
        return self._improved.get(self.seats[seat].arm, 0.0)

    def start(self, config: RunConfig, host: Host) -> Iterator[tuple[ev.Opened | None, ev.Event]]:
        """Yield the network to begin with.

        Raises
        ------
        InputError
            The task does not allow it, or its cost is infinite.
        """
        links = self.config.initial
        if links is None:
            return
        check_links(self.task, links)
        cost = self._cost(ports_of(self.task.nodes, self.task.degree, links))
        if math.isinf(cost):
            raise InputError(
                "the network has an infinite cost", where="initial", hint="use a connected one"
            )
        yield ev.Opened(START, "host"), ev.Designed(links, cost, 0)
        self._first = self.incumbent

    def news(self) -> list[Line]:
        """Return the best network; with an evaluation budget the one to begin with."""
        best = self.incumbent if self.config.budget.evaluations is None else self._first
        return [] if best is None else [_line(best)]

    def phases(self, config: RunConfig) -> Iterator[Phase]:
        """Yield designers one by one with an evaluation budget, otherwise in time slices."""
        arms = [Arm(info, 1) for info in config.engines]
        limit, threads = config.budget.seconds, config.budget.threads
        if config.budget.evaluations is not None:
            yield from (Phase((arm,)) for arm in arms)
            return
        had_slice: set[ArmKey] = set()
        while alive := [arm for arm in arms if arm.key not in self.history.finished]:
            if limit is None or len(alive) <= threads:
                yield Phase(tuple(alive))
                continue
            alive.sort(
                key=lambda arm: (
                    arm.key in had_slice,
                    -self._improved.get(arm.key, 0.0),
                    self.history.worked(arm.key),
                )
            )
            chosen = tuple(alive[:threads])
            share = LATER_SLICE if chosen[0].key in had_slice else FIRST_SLICE
            had_slice |= {arm.key for arm in chosen}
            yield Phase(chosen, share=share, seconds=share * limit, pause=True)

    def ended(self, worker: WorkerState, event: ev.End) -> None:
        """Count evaluations; an exact designer that is exhausted claims an optimum."""
        opened = worker.opened
        if opened.role == "options":
            return
        self.history.finished.add(worker.arm)
        self._evaluations[opened.name] = event.evaluations or 0
        # Once the goal is met, offers are dropped, so the designer's best is not known.
        if event.stop == "exhausted" and opened.proves and not self._meets(self.config.goal):
            self._take_claim(worker)

    def _act_on(self, seat: int, worker: WorkerState, event: ev.Event) -> None:
        if isinstance(event, ev.Silent) and self.config.budget.evaluations is not None:
            raise ContractError("does not report what it spends of its evaluations")
        super()._act_on(seat, worker, event)

    def take(self, seat: int, worker: WorkerState, event: ev.Event) -> None:
        """Check a network that is offered; one that is no better than its author's is dropped."""
        assert isinstance(event, ev.Designed)
        own = self._own.get(worker.arm, math.inf)
        if event.cost >= own or self._meets(self.config.goal):
            return
        try:
            check_links(self.task, event.links)
        except InputError as error:
            raise ContractError(f"offered a network that is not allowed: {error}") from None
        ports = ports_of(self.task.nodes, self.task.degree, event.links)
        try:
            cost = self._cost(ports)
        except PluginError as error:
            raise ContractError(str(error)) from None
        if not math.isclose(cost, event.cost, rel_tol=1e-9, abs_tol=self.task.tolerance):
            raise ContractError(f"offered a network of cost {cost:g} as one of {event.cost:g}")
        self._own[worker.arm] = cost
        self.offered = True
        links = links_of(ports)
        found = Incumbent(links, cost, worker.title, self.now)
        self.accepted.append(found)
        if is_better(cost, self.incumbent):
            self._improved[worker.arm] = self.improved_at = self.now
            self.incumbent = found
            for claimant in list(self._claimants.values()):
                self._take_claim(claimant)
            values = self._cost.values(ports)
            self._announce("network", designer=worker.title, cost=cost, values=values)
            self._share(_line(self.incumbent), seat)

    def _take_claim(self, worker: WorkerState) -> None:
        """Believe an exact designer that no network is better than its best, unless one is."""
        name, own = worker.title, self._own.get(worker.arm, math.inf)
        self._claimants[worker.arm] = worker
        if self.incumbent is None:
            return
        if own <= self.cost + self.task.tolerance:
            self.proven_by = name
            return
        del self._claimants[worker.arm]
        if self.proven_by == name:
            self.proven_by = ""
        none = "there is no network"
        below = none if math.isinf(own) else f"no network has a cost below {own:g}"
        self._trouble(f"{name}: claims that {below}, but one has {self.cost:g}")

    def result(self, config: RunConfig, observer_troubles: Sequence[str] = ()) -> DesignResult:
        """Return the result of the run."""
        best = self.incumbent
        links: Links = () if best is None else best.value
        certified = best is not None and self._meets(self._bound) and self._is_certified(links)
        status: Status = "unknown"
        if best is not None:
            status = "optimal" if certified or self.proven_by else "feasible"
        ports = ports_of(self.task.nodes, self.task.degree, links)
        return DesignResult(
            task=self.task,
            status=status,
            certified=certified,
            proven_by="" if certified else self.proven_by,
            network=None if best is None else network_of(self.task, links),
            links=links,
            cost=None if best is None else best.cost,
            values={} if best is None else self._cost.values(ports),
            bound=self._bound,
            designer="" if best is None else best.author,
            seconds_to_best=self.found_at,
            evaluations=dict(self._evaluations),
            **self.common(config, observer_troubles, dict(self.options)),
        )

    def _is_certified(self, links: Links) -> bool:
        try:
            check_design(design_record(self.task, links))
        except EvidenceError as error:
            self.troubles.append(f"the checker rejects the network: {error}")
            return False
        return True


def _line(best: Incumbent[Links]) -> Line:
    """Return a network as a line of news."""
    return {"network": [list(link) for link in best.value], "cost": best.cost}
