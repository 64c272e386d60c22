"""The cost of a network: the weighted sum of its terms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from cchybrid.model.errors import PluginError
from cchybrid.model.text import error_line
from cchybrid.network_design.bisection import bisection
from cchybrid.network_design.faults import node_faults, random_faults, survives_any_fault
from cchybrid.network_design.latency import latency
from cchybrid.network_design.ports import Ports
from cchybrid.network_design.routes import contention, path_deviations
from cchybrid.network_design.steps import steps_of_network
from cchybrid.network_design.task import DesignTask
from cchybrid.network_design.wires import longest_wire, minimum_connectivity
from cchybrid.proof.records import load_target

SLACK = 1e-9
"""Tolerance of comparisons of sums of terms."""
LATENCY_TERMS = ("latency", "max-latency")
"""The terms that designers compute by their own kernels."""


@dataclass(frozen=True)
class Term:
    """A cost term.

    Parameters
    ----------
    name
        The name, as in ``DesignTask.weights``.
    summary
        What is measured, with the unit.
    source
        The key of the function that computes it, in ``FUNCTIONS``.
    index
        The place of the term among the values of that function.
    maximised
        Whether larger values are better; the cost then contains the value with a minus sign.
    """

    name: str
    summary: str
    source: str
    index: int = 0
    maximised: bool = False


Function = Callable[[DesignTask, Ports], tuple[float, ...]]
FUNCTIONS: Mapping[str, Function] = {
    "latency": lambda task, ports: latency(ports),
    "contention": lambda task, ports: contention(ports),
    "wire": lambda task, ports: (longest_wire(task, ports),),
    "connectivity": lambda task, ports: (float(minimum_connectivity(ports)),),
    "bisection": lambda task, ports: (float(bisection(ports, task.seed)),),
    "paths": lambda task, ports: path_deviations(ports),
    "node faults": lambda task, ports: node_faults(ports),
    "random faults": lambda task, ports: random_faults(ports, task.seed),
    "steps": lambda task, ports: (steps_of_network(task, ports),),
}
"""The functions that compute the terms, some several at once."""

TERMS: Mapping[str, Term] = {
    term.name: term
    for term in (
        Term("latency", "mean latency over all n x n pairs, in hops", "latency"),
        Term("max-latency", "maximum latency, in hops", "latency", 1),
        Term("contention", "mean latency under moderate contention, in hops", "contention"),
        Term("max-contention", "maximum latency under moderate contention", "contention", 1),
        Term("contention-deviation", "standard deviation of messages per link", "contention", 2),
        Term("wire", "longest wire, Manhattan distance", "wire"),
        Term("connectivity", "links of the node with the fewest", "connectivity", maximised=True),
        Term("bisection", "fewest links between two halves", "bisection", maximised=True),
        Term("node-deviation", "standard deviation of paths through nodes", "paths"),
        Term("link-deviation", "standard deviation of paths through links", "paths", 1),
        Term("node-faults", "mean latency without one node, mean of all", "node faults"),
        Term("max-node-faults", "maximum latency without one node", "node faults", 1),
        Term("random-faults", "mean latency under random faults, mean of draws", "random faults"),
        Term("max-random-faults", "maximum latency under random faults", "random faults", 1),
        Term("steps", "lower bound of the steps of the task's collective, by counting", "steps"),
    )
}
"""The cost terms by name."""


CHEAPEST_FIRST = (
    "wire", "connectivity", "latency", "steps", "random faults", "node faults", "paths",
    "contention", "bisection",
)  # fmt: skip
"""The keys of ``FUNCTIONS`` in ascending order of the time that they take."""


class Cost:
    """The cost of networks by the weights of a task."""

    def __init__(self, task: DesignTask) -> None:
        self.task = task
        extra = {term.name: term for term in task.extra_terms}
        self._terms = {
            name: TERMS[name]
            if name in TERMS
            else Term(name, "", f"plugin {name}", maximised=extra[name].maximised)
            for name, _ in task.weights
        }
        self._functions = {**FUNCTIONS}
        for name, term in self._terms.items():
            if name not in TERMS:
                self._functions[term.source] = _single(name, extra[name].target)
        used = {term.source: None for term in self._terms.values()}
        ranks = {source: rank for rank, source in enumerate(CHEAPEST_FIRST)}
        self._sources = tuple(sorted(used, key=lambda source: ranks.get(source, len(ranks))))
        self._signed = {
            source: tuple(
                (term.index, name, -weight if term.maximised else weight)
                for name, weight in task.weights
                if (term := self._terms[name]).source == source
            )
            for source in self._sources
        }
        self._unbounded = any(term.maximised for term in extra.values() if term.name in self._terms)
        """Whether a term has no lower bound, so that all terms are computed."""
        self._rests_on_latency = not used.keys().isdisjoint(("contention", "node faults"))

    def values(self, ports: Ports) -> dict[str, float]:
        """Return the value of every term of the task.

        Values depend on the links only, not on the order of a node's ports: this order decides
        between routes of equal cost, and which links fail at random, so it is made ascending.
        """
        ports = np.sort(ports, axis=1)
        found = {source: self._functions[source](self.task, ports) for source in self._sources}
        return {name: found[term.source][term.index] for name, term in self._terms.items()}

    def __call__(self, ports: Ports) -> float:
        """Return the weighted sum; infinite if a term is infinite."""
        return self.up_to(ports, math.inf)

    def up_to(self, ports: Ports, limit: float) -> float:
        """Return the cost, or infinity if it is greater than ``limit``.

        Terms are computed cheapest first, and only until their sum, with lower bounds of the terms
        that are left, is greater than the limit.
        """
        ports = np.sort(ports, axis=1)
        if self.task.fault_tolerant and not survives_any_fault(ports):
            return math.inf
        found: dict[str, tuple[float, ...]] = {}
        if self._unbounded:
            return self._whole(ports, limit)
        bounds = self._bounds(ports, found) if limit < math.inf else {}
        left = sum(bounds.values())
        cost = 0.0
        for source in self._sources:
            values = found.get(source) or self._functions[source](self.task, ports)
            for index, name, weight in self._signed[source]:
                if math.isinf(values[index]):
                    return math.inf
                cost += weight * values[index]
                left -= bounds.get(name, 0.0)
            if cost + left > limit + SLACK:
                return math.inf
        return cost if cost <= limit else math.inf

    def _whole(self, ports: Ports, limit: float) -> float:
        values = {source: self._functions[source](self.task, ports) for source in self._sources}
        cost = sum(
            weight * values[source][index] if math.isfinite(values[source][index]) else math.inf
            for source, signed in self._signed.items()
            for index, _, weight in signed
        )
        return cost if cost <= limit else math.inf

    def _bounds(self, ports: Ports, found: dict[str, tuple[float, ...]]) -> dict[str, float]:
        """Return lower bounds of the weighted terms; terms that are not listed have bound 0.

        Detours and failures make no path shorter. Every pair of nodes is left when one of the
        other n - 2 nodes fails.
        """
        nodes, degree = ports.shape
        values = {"connectivity": float(degree), "bisection": nodes * degree / 2}
        if self._rests_on_latency:
            mean, maximum = found["latency"] = latency(ports)
            values.update({"contention": mean, "max-contention": maximum})
            values["node-faults"] = mean * nodes * (nodes - 2) / (nodes - 1) ** 2
            values["max-node-faults"] = maximum if nodes > 2 else 0.0
        return {
            name: weight * values[name]
            for signed in self._signed.values()
            for _, name, weight in signed
            if name in values
        }


def _single(name: str, target: str) -> Function:
    """Return a plugin's function as one of ``FUNCTIONS``; NaN is infinite.

    Its exceptions become a ``PluginError`` that names the term.
    """
    try:
        function: Callable[[DesignTask, Ports], float] = load_target(target)
    except Exception as error:
        raise PluginError(f"cost term {name} cannot be loaded: {error_line(error)}") from error

    def call(task: DesignTask, ports: Ports) -> tuple[float, ...]:
        try:
            value = float(function(task, ports.copy()))
        except Exception as error:
            raise PluginError(f"cost term {name} failed: {error_line(error)}") from error
        return (math.inf if math.isnan(value) else value,)

    return call
