"""The Python function ``cchybrid.design_front``: networks that trade one cost term for another.

Designers search several times, each time with other weights of the two terms; if one of them is
the longest wire, with other limits of it. Of all networks that they offer, those are kept to which
no other is at least as good in both terms and better in one: the Pareto front.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from cchybrid.design_checker import check_design
from cchybrid.host.arguments import read_budget
from cchybrid.host.run_result import RunResult, columns
from cchybrid.host.session import Session
from cchybrid.host.versions import versions
from cchybrid.model import Network
from cchybrid.model.errors import InputError
from cchybrid.model.text import csv_text
from cchybrid.plugin.records import Observer
from cchybrid.plugin.registry import Registry, load_registry

from .network.bisection import heuristic_terms
from .network.cost import Cost
from .network.ports import Links, network_of, ports_of
from .network.record import design_record
from .network.task import RATIO, ROUNDING, DesignTask
from .network_task import NetworkTask
from .result import DesignResult
from .settings import DesignConfig, observers, read_run

DEFAULT_FRONT_SECONDS = 30.0
DEFAULT_RUNS = 6
SMALL_WEIGHT = 1e-3
"""Weight of the second term where the first one decides, so that it still counts among equals."""


@dataclass(frozen=True)
class FrontPoint:
    """A network of a front: the values of both terms, and its links."""

    values: tuple[float, float]
    links: Links


@dataclass(frozen=True, kw_only=True, repr=False)
class DesignFront(RunResult):
    """The result of ``design_front``; further attributes as in ``RunResult``.

    Attributes
    ----------
    task
        The task; its weights name the two terms.
    points
        The networks of the front, each checked, from the best to the worst in the first term.
    maximised
        Whether larger values are better, for each term.
    runs
        The number of runs of the designers.
    """

    task: DesignTask
    points: tuple[FrontPoint, ...]
    maximised: tuple[bool, bool]
    runs: int

    @property
    def terms(self) -> tuple[str, str]:
        """The names of the two terms."""
        (first, _), (second, _) = self.task.weights
        return first, second

    @property
    def title(self) -> str:
        """The task and the two terms."""
        size = f"{self.task.nodes} nodes of degree {self.task.degree}"
        return f"{size}: {' against '.join(self.terms)}"

    @property
    def sentence(self) -> str:
        """The title, and whether any network was found."""
        return self.title if self.points else f"{self.title}: no network was found"

    def details(self) -> list[str]:
        """Return the front as a table, and what is to be known of the search."""
        lines = []
        if self.points:
            values = [(f"{p.values[0]:.6g}", f"{p.values[1]:.6g}") for p in self.points]
            lines = columns([self.terms, *values])
        if len(self.points) == 1:
            lines.append("this network is the best one found in both terms")
        elif self.points:
            lines.append(f"{len(self.points)} networks, of which none beats another in both terms")
        lines += heuristic_terms(self.task.nodes, self.terms)
        return [*lines, f"{self.runs} runs, {self.seconds:.1f} s, seed {self.seed}"]

    def network(self, place: int) -> Network:
        """Return the network of a point."""
        return network_of(self.task, self.points[place].links)

    def to_csv(self) -> str:
        """Return a line per network: both values, and the links such as ``0-1 0-4``."""
        rows = [
            [*map(repr, point.values), " ".join(f"{a}-{b}" for a, b in point.links)]
            for point in self.points
        ]
        return csv_text([[*self.terms, "links"], *rows])

    def to_json(self) -> dict[str, Any]:
        """Return the front as a JSON object."""
        return {
            "task": self.task.facts(),
            "terms": list(self.terms),
            "points": [
                {
                    "values": dict(zip(self.terms, point.values, strict=True)),
                    "links": [list(link) for link in point.links],
                }
                for point in self.points
            ],
            "runs": self.runs,
            **super().to_json(),
        }


def design_front(
    nodes: int,
    degree: int,
    terms: Iterable[str],
    *,
    runs: int = DEFAULT_RUNS,
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
    time_limit: float | None = None,
    evaluations: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    memory: int | None = None,
    on_event: Observer | None = None,
    report: Callable[[str], None] = lambda line: None,
    registry: Registry | None = None,
) -> DesignFront:
    """Search for the networks that no other beats in both of two cost terms.

    Parameters
    ----------
    nodes, degree
        As in ``cchybrid.design``.
    terms
        The names of two cost terms. The first one that is ``wire`` is limited instead of weighted.
    runs
        Runs of the designers, at most: each has other weights, or another longest wire.
    layout, positions, max_wire, redundant_links, fault_tolerant
        As in ``cchybrid.design``.
    collective, switching, ports, routing
        For the cost term ``steps``, which is a lower bound.
    initial, designers, options
        As in ``cchybrid.design``; the initial network need not keep to every limit of the wires.
    time_limit
        Wall-clock seconds of all runs; 30 by default, none with an evaluation budget.
    evaluations
        Networks that each designer evaluates in each run, for a repeatable result.
    seed, threads, memory, on_event, registry
        As in ``cchybrid.design``.
    report
        Called with a line for every run.

    Raises
    ------
    InputError
        For unknown names, and for values out of range.

    Examples
    --------
    >>> import cchybrid
    >>> front = cchybrid.design_front(
    ...     8, 3, ("latency", "wire"), layout="grid-4x2", runs=2, evaluations=200
    ... )
    >>> front.terms, len(front.points) > 0
    (('latency', 'wire'), True)

    References
    ----------
    Weighted sums find only networks on the convex hull of the front as optima; those between them
    come from what the designers offer on their search. Limits of one cost, the epsilon constraint
    method, have no such gap: Haimes, Lasdon and Wismer, IEEE Transactions on Systems, Man, and
    Cybernetics 1 (1971) 296-297, doi:10.1109/TSMC.1971.4308298.
    """
    registry = load_registry() if registry is None else registry
    names = _two_terms(terms)
    if collective is not None and "steps" not in names:
        raise InputError(
            "no term of the front depends on it", where="collective", hint="add the term steps"
        )
    if isinstance(runs, bool) or not isinstance(runs, int) or not 2 <= runs <= 100:
        raise InputError(f"{runs!r} runs", where="runs", hint="use 2 to 100")
    budget = read_budget(time_limit, evaluations, threads, memory, DEFAULT_FRONT_SECONDS)
    task, config = read_run(
        nodes, degree, names, registry, budget, layout=layout, positions=positions,
        max_wire=max_wire, redundant_links=redundant_links, fault_tolerant=fault_tolerant,
        collective=collective, switching=switching, ports=ports, routing=routing, initial=initial,
        designers=designers, options=options, seed=seed,
    )  # fmt: skip
    search = _FrontSearch(task, config, runs, observers(registry, on_event), report)
    return search.run()


def _two_terms(terms: Iterable[str]) -> tuple[str, str]:
    names = [terms] if isinstance(terms, str) else [str(name) for name in terms]
    if len(names) != 2 or len(set(names)) != 2:
        raise InputError(
            "a front has two different cost terms",
            where="terms",
            hint="name two, such as latency and wire",
        )
    return names[0], names[1]


@dataclass
class _FrontSearch:
    """The front so far, and what is left of the time."""

    task: DesignTask
    config: DesignConfig
    runs: int
    watching: list[tuple[str, Observer]]
    report: Callable[[str], None]

    def __post_init__(self) -> None:
        self._cost = Cost(self.task)
        self._names = [name for name, _ in self.task.weights]
        first, second = (self.task.term(name).maximised for name in self._names)
        self._maximised = first, second
        # The links of the networks that no other beats, by their values with the sign that makes
        # smaller ones better.
        self._front: dict[tuple[float, float], Links] = {}
        self._done = 0
        self._seconds = 0.0
        self._left = self.config.budget.seconds
        self._troubles: dict[str, None] = {}
        self._interrupted = False

    def run(self) -> DesignFront:
        """Run the designers until all weights or limits were used, or Ctrl-C."""
        try:
            tasks = self._with_limits() if "wire" in self._names else self._with_weights()
            for title, task in tasks:
                result = self._design(task)
                self.report(f"run {self._done}, {title}: {len(self._front)} networks on the front")
                if result.interrupted:
                    self._interrupted = True
                    break
        except KeyboardInterrupt:
            self._interrupted = True
        points = [
            FrontPoint(self._signed(*signed), links)
            for signed, links in sorted(self._front.items())
        ]
        for point in points:
            check_design(design_record(self._limited(point), point.links))
        return DesignFront(
            task=self.task,
            points=tuple(points),
            maximised=self._maximised,
            runs=self._done,
            seconds=self._seconds,
            seed=self.config.seed,
            budget=self.config.budget.to_json(),
            versions=versions(),
            troubles=tuple(self._troubles),
            interrupted=self._interrupted,
        )

    def _limited(self, point: FrontPoint) -> DesignTask:
        """Return the task with the wires of a point as its limit, so that they are checked."""
        if "wire" not in self._names:
            return self.task
        longest = point.values[self._names.index("wire")]
        return replace(self.task, weights=(("latency", 1.0),), max_wire=_limit_of(longest))

    def _with_limits(self) -> Iterator[tuple[str, DesignTask]]:
        """Yield the task with one term and a limit of the longest wire.

        First the shortest limit and the longest one; then always the middle one between two limits,
        where the best networks within them differ most in the other term.
        """
        other = next(name for name in self._names if name != "wire")
        limits = wire_limits(self.task)
        tried: list[int] = []
        while len(tried) < self.runs:
            place = 0 if not tried else len(limits) - 1 if len(tried) == 1 else None
            if place is None:
                place = self._between(limits, sorted(tried))
            if place is None or place in tried:
                return
            tried.append(place)
            task = replace(self.task, weights=((other, 1.0),), max_wire=limits[place])
            yield f"wires up to {limits[place]:g}", task

    def _between(self, limits: list[float], tried: list[int]) -> int | None:
        """Return the place of the next limit; ``None`` if no two limits make a difference."""
        gaps = []
        for low, high in pairwise(tried):
            before, after = self._best_within(limits[low]), self._best_within(limits[high])
            if high - low > 1 and after < before:
                gaps.append((before - after, (low + high) // 2))
        return max(gaps)[1] if gaps else None

    def _best_within(self, limit: float) -> float:
        """Return the best value of the other term among networks with wires up to a limit."""
        wire = self._names.index("wire")
        values = (signed[1 - wire] for signed in self._front if signed[wire] <= limit)
        return min(values, default=math.inf)

    def _with_weights(self) -> Iterator[tuple[str, DesignTask]]:
        """Yield the task with weights that first favour one term, then the other, then neither.

        The range of a term is its difference between the best networks of the first two runs; the
        weights are equally spaced shares, each divided by the range of its term, and the smaller
        one is raised to the least that a task allows beside the other.
        """
        names = self._names
        for first, second in ((1.0, SMALL_WEIGHT), (SMALL_WEIGHT, 1.0)):
            yield self._weighted(first, second)
        values = np.array([*self._front])
        ranges = np.ptp(values, axis=0) if len(values) else np.zeros(len(names))
        if not (ranges > 0).all():  # one network is best in both terms
            return
        for share in np.linspace(0.0, 1.0, self.runs)[1:-1]:
            weights = np.array([share, 1 - share]) / ranges
            first, second = np.maximum(weights / weights.max(), 1 / RATIO).tolist()
            yield self._weighted(first, second)

    def _weighted(self, first: float, second: float) -> tuple[str, DesignTask]:
        weights = tuple(zip(self._names, (first, second), strict=True))
        title = ", ".join(f"{name} {weight:.3g}" for name, weight in weights)
        return title, replace(self.task, weights=weights)

    def _design(self, task: DesignTask) -> DesignResult:
        config, budget = self.config, self.config.budget
        share = None if self._left is None else self._left / max(1, self.runs - self._done)
        initial = config.initial
        if initial is not None and not all(task.allowed[a, b] for a, b in initial):
            initial = None
        settings = replace(config, budget=replace(budget, seconds=share), initial=initial)
        run = NetworkTask(task, settings)
        result: DesignResult = Session(run, settings, self.watching).run()
        for offer in run.accepted:
            self._offer(offer.value)
        self._done += 1
        self._seconds += result.seconds
        if self._left is not None and share is not None:
            # A designer may have waited for the compilation of kernels, which does not count.
            self._left -= min(share, result.seconds)
        self._troubles |= dict.fromkeys(result.troubles)
        return result

    def _offer(self, links: Links) -> None:
        """Keep a network that no other beats; drop the networks that it beats."""
        ports = ports_of(self.task.nodes, self.task.degree, links)
        values = self._cost.values(ports)
        one, two = mine = self._signed(*(values[name] for name in self._names))
        if not np.isfinite(mine).all() or any(a <= one and b <= two for a, b in self._front):
            return
        kept = {(a, b): links for (a, b), links in self._front.items() if a < one or b < two}
        self._front = {**kept, mine: links}

    def _signed(self, first: float, second: float) -> tuple[float, float]:
        """Return values so that smaller ones are better, or such values as they were."""
        one, two = self._maximised
        return -first if one else first, -second if two else second


def wire_limits(task: DesignTask) -> list[float]:
    """Return the lengths of wires, ascending, from the shortest that connects all nodes."""
    lengths = sorted({_limit_of(float(length)) for length in task.wires[task.allowed]})

    def connects(length: float) -> bool:
        try:
            replace(task, max_wire=length)
        except InputError:
            return False
        return True

    return lengths[bisect_left(lengths, True, key=connects) :]


def _limit_of(length: float) -> float:
    """Return a limit that allows a length, which may be a rounding error below its exact value."""
    return length * (1 + ROUNDING)
