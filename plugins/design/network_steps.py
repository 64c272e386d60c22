"""Search for the network on which a collective takes the fewest steps, each network solved.

The bound over all networks of the task says which number of steps is tried first. For each number,
in ascending order:

- Of a small order, all networks are listed. A network is refuted if a bound of its own, checked by
  ``cchybrid.checker``, exceeds the number; the others are solved. If all are refuted, the number is
  impossible.
- Otherwise networks whose bounds do not exceed the number come from a random walk
  (``cchybrid_plugins.design.network.steps_walk``), and each is solved in a slice of the time.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cchybrid.host.api import solve
from cchybrid.host.result import Result
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import Registry
from cchybrid.proof.flow import solve_flow
from cchybrid.toolkit.kernels.rng import seed_state

from .network.all_networks import all_networks
from .network.ports import Links, check_links, links_of, ports_of
from .network.random_networks import random_network
from .network.steps import (
    instance_of,
    network_reach,
    proven_steps,
    steps_of_all_networks,
    steps_of_network,
)
from .network.steps_walk import form_of, rooted, walk
from .network.task import DesignTask

Proven = Literal["by a bound", "by exhaustion", "not proven"]

MAX_LISTED_NODES = {2: 40, 3: 14, 4: 11, 5: 10}
"""Nodes up to which all networks of a degree are listed: a few seconds. With more links: 8."""
SLICE_SECONDS = 10.0
"""Seconds for the schedule of one network, by default."""
WALK_SHARE = 0.5
"""Share of the remaining time for networks of one number of steps, before the next is tried."""
REPORT_SECONDS = 5.0
"""Seconds without a network that is solved after which the number of networks is reported."""


class NoScheduleError(InputError):
    """No schedule was found in time for any network."""


@dataclass(frozen=True)
class NetworkSteps:
    """The network with the fewest steps that was found.

    Attributes
    ----------
    task
        The task.
    links
        The links of the network; the root, if the collective has one, is node 0.
    result
        The result of ``cchybrid.host.api.solve`` for it: schedule, bound and evidence.
    steps_bound
        A lower bound of the steps on every network of the task.
    proven
        Whether no network of the task has fewer steps: ``by a bound`` over all networks,
        ``by exhaustion``, where every other network was refuted by a checked bound of its own, or
        ``not proven``.
    listed, solved
        The number of networks that were looked at, and for which schedules were searched.
    seconds, seconds_to_best
        Wall-clock seconds in all, and until the schedule was found.
    interrupted
        Whether the user interrupted the search.
    """

    task: DesignTask
    links: Links
    result: Result
    steps_bound: int
    proven: Proven
    listed: int
    solved: int
    seconds: float
    seconds_to_best: float
    interrupted: bool = False

    @property
    def steps(self) -> int:
        """The number of steps of the verified schedule."""
        assert self.result.steps is not None
        return self.result.steps

    @property
    def certified(self) -> bool:
        """Whether it is certified that this network has no shorter schedule."""
        return self.result.status == "optimal" and self.result.certified

    def to_json(self) -> dict[str, Any]:
        """Return the figures as a JSON object, without network and schedule."""
        return {
            "steps": self.steps,
            "steps_bound": self.steps_bound,
            "proven": self.proven,
            "steps_certified": self.certified,
            "networks_listed": self.listed,
            "networks_solved": self.solved,
        }


def fewest_steps(
    task: DesignTask,
    start: Iterable[Links] = (),
    *,
    time_limit: float = 60.0,
    slice_seconds: float = SLICE_SECONDS,
    seed: int = 0,
    threads: int | None = None,
    memory: int | None = None,
    listed_nodes: int | None = None,
    registry: Registry | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> NetworkSteps:
    """Search for a network of the task on which its collective takes the fewest steps.

    Parameters
    ----------
    task
        The task, with a collective.
    start
        Networks by their links, such as those of a designer; by default a random one.
    time_limit, slice_seconds
        Wall-clock seconds in all, and for the schedule of one network.
    seed
        Seed of all random choices.
    threads, memory, registry
        As in ``cchybrid.host.api.solve``.
    listed_nodes
        The number of nodes up to which all networks are listed; by default few enough for seconds.
    report
        Called with a line for every network that is solved, and every few seconds of a random walk.

    Raises
    ------
    InputError
        If the task has no collective or is too small, or does not allow a network of ``start``.
    NoScheduleError
        If no schedule was found in time.
    """
    if task.collective is None:
        raise InputError("no collective", where="collective", hint="name one, such as AAS")
    if task.fault_tolerant:
        raise InputError(
            "networks for the fewest steps are not searched among fault-tolerant ones",
            where="fault_tolerant",
            hint="leave it out, or the collective",
        )
    if listed_nodes is None:
        listed_nodes = MAX_LISTED_NODES.get(task.degree, 8)
    starts = list(start)
    for links in starts:
        check_links(task, links)
        if network_reach(ports_of(task.nodes, task.degree, links)) is None:
            raise InputError("the network is not connected", where="links", hint="link all nodes")
    if not starts:
        starts = [links_of(random_network(task, seed_state(seed)))]
    limits = {"threads": threads, "memory": memory, "registry": registry}
    search = _Search(task, time_limit, slice_seconds, seed, limits, report)
    return search.run(starts, listed_nodes)


@dataclass
class _Search:
    """The best network so far, and what is left of the time."""

    task: DesignTask
    time_limit: float
    slice_seconds: float
    seed: int
    limits: Mapping[str, Any]
    report: Callable[[str], None]

    def __post_init__(self) -> None:
        self._started = self._reported = time.monotonic()
        self._end = self._started + self.time_limit
        self._best: tuple[Links, Result] | None = None
        self._listed = self._solved = 0
        self._found_at = 0.0
        self._interrupted = False

    def run(self, starts: list[Links], listed_nodes: int) -> NetworkSteps:
        task = self.task
        bound = steps_of_all_networks(task)
        finite = task.nodes <= listed_nodes and task.max_wire is None and not task.redundant_links
        refuted = False
        try:
            refuted = self._search(starts, bound, finite)
        except KeyboardInterrupt:
            self._interrupted = True
            if self._best is None:
                raise
        links, result = self._kept()
        proven: Proven = "by exhaustion" if refuted else "not proven"
        if self._steps() == bound:
            proven = "by a bound"
        return NetworkSteps(
            task,
            links,
            result,
            bound,
            proven,
            self._listed,
            self._solved,
            time.monotonic() - self._started,
            self._found_at,
            self._interrupted,
        )

    def _search(self, starts: list[Links], bound: int, finite: bool) -> bool:
        """Return whether all networks with fewer steps than the best one are refuted."""
        self._solve(starts[0], None)
        refuted, target = True, bound
        if not finite:
            # Designers' networks have nearly the least distances: lower targets are not worth time.
            target = max(target, int(min(map(self._count, starts))))
        while target < self._steps() and not self._over(self._end):
            if finite:
                found, complete = self._exhaust(target)
            else:
                found, complete = self._wander(starts, target), False
            if found:
                break
            refuted = refuted and complete
            target += 1
        return finite and refuted and target == self._steps()

    def _kept(self) -> tuple[Links, Result]:
        if self._best is None:
            if self._interrupted:
                raise KeyboardInterrupt
            raise NoScheduleError(
                "no schedule was found in time", where="time_limit", hint="use more seconds"
            )
        return self._best

    def _steps(self) -> int:
        steps = self._kept()[1].steps
        assert steps is not None
        return steps

    def _over(self, end: float) -> bool:
        return self._interrupted or time.monotonic() >= end

    def _solve(self, links: Links, target: int | None) -> Result:
        """Solve a network, and keep it if its schedule is shorter."""
        left = self._end - time.monotonic()
        self._solved += 1
        result = solve(
            instance_of(self.task, links),
            steps=target,
            time_limit=max(1.0, min(self.slice_seconds, left)),
            seed=self.seed,
            **self.limits,
        )
        self._interrupted = self._interrupted or result.interrupted
        if result.steps is not None and (self._best is None or result.steps < self._steps()):
            self._best = links, result
            self._found_at = time.monotonic() - self._started
        found = f"{result.steps} steps" if result.steps is not None else "no schedule"
        self.report(f"network {self._solved}: {found}, bound {result.certified_bound.steps}")
        self._reported = time.monotonic()
        return result

    def _exhaust(self, target: int) -> tuple[bool, bool]:
        """Return whether a network with the target was found, and whether all are refuted.

        A network with fewer links allows no schedule that one with more links does not, if any
        route is allowed. Under another routing rule it may: a refutation that holds for the
        routes of the task only says nothing about networks with fewer links, and all are listed.
        """
        for maximal in (True, False):
            complete, narrow = True, False
            listed = list(self._unrefuted(target, maximal))
            if self._over(self._end):
                return False, False
            for links in listed:
                if self._over(self._end):
                    return False, False
                result = self._solve(links, target)
                if result.steps is not None:
                    return True, False
                if result.certified_bound.steps <= target:
                    complete = False
                elif not (self.task.model.hop_by_hop or self.task.model.routing == "any"):
                    narrow = True
            if not narrow or not complete:
                break
        return False, complete

    def _unrefuted(self, target: int, maximal: bool) -> list[Links]:
        """Return the networks that no bound over any routes refutes, most promising ones first."""
        task, left = self.task, []
        for each in all_networks(task, lambda: self._over(self._end), maximal=maximal):
            for links in rooted(task, each):
                self._listed += 1
                if proven_steps(task, links, target + 1) is None:
                    left.append(links)
        return sorted(left, key=lambda links: (self._count(links), links))

    def _count(self, links: Links) -> float:
        return steps_of_network(self.task, ports_of(self.task.nodes, self.task.degree, links))

    def _wander(self, starts: list[Links], target: int) -> bool:
        """Solve networks of random walks that may have the target; return whether one has it."""
        now = time.monotonic()
        last = target + 1 >= self._steps()
        end = self._end if last else now + WALK_SHARE * (self._end - now)
        seen: set[bytes] = set()
        walks = [
            walk(self.task, links, target, self.seed + place, lambda: self._tick(target, end))
            for place, links in enumerate(starts)
        ]
        for links in _alternating(walks):
            form = form_of(self.task, links)
            if form in seen:
                continue
            seen.add(form)
            self._listed += 1
            if self._may_have(links, target) and self._solve(links, target).steps is not None:
                return True
            if self._over(end):
                break
        return False

    def _tick(self, target: int, end: float) -> bool:
        """Report the progress of a walk from time to time; return whether its time is over."""
        if time.monotonic() - self._reported >= REPORT_SECONDS:
            self._reported = time.monotonic()
            self.report(f"{target} steps: {self._listed} networks looked at")
        return self._over(end)

    def _may_have(self, links: Links, target: int) -> bool:
        """Return whether the flow bound of a scatter, not yet made exact, allows the target."""
        instance = instance_of(self.task, links).forward
        if any(len(message.destinations) > 1 for message in instance.collective.deliver_messages):
            return True
        flow = solve_flow(instance)
        return flow is None or flow.load <= target + 1e-6


def _alternating(walks: list[Iterator[Links]]) -> Iterator[Links]:
    """Yield the next network of each walk in turn until all have ended."""
    while walks:
        for each in list(walks):
            links = next(each, None)
            if links is None:
                walks.remove(each)
            else:
                yield links
