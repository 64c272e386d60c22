"""The cost of a network: the weighted sum of its terms."""

import math
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from cchybrid.model.errors import PluginError
from cchybrid.model.text import error_line
from cchybrid.plugin.records import CostTermInfo, load_target

from .faults import node_faults
from .latency import latency
from .ports import Ports
from .task import DesignTask
from .terms import CHEAPEST_FIRST, TERMS

LATENCY = TERMS["latency"].target

Function = Callable[[DesignTask, Ports], tuple[float, ...]]


class Cost:
    """The cost of networks by the weights of a task."""

    def __init__(self, task: DesignTask) -> None:
        self.task = task
        self._terms = {name: task.term(name) for name, _ in task.weights}
        # Terms of one function stand together; the last of them has the largest index.
        used = {term.target: term for term in sorted(self._terms.values(), key=attrgetter("index"))}
        ranks = {TERMS[name].target: rank for rank, name in enumerate(CHEAPEST_FIRST)}
        self._sources = tuple(sorted(used, key=lambda source: ranks.get(source, len(ranks))))
        self._functions = {source: _function(used[source]) for source in self._sources}
        self._signed = {
            source: tuple(
                (term.index, name, -weight if term.maximised else weight)
                for name, weight in task.weights
                if (term := self._terms[name]).target == source
            )
            for source in self._sources
        }
        self._unbounded = any(
            term.maximised and name not in TERMS for name, term in self._terms.items()
        )
        """Whether a term has no lower bound, so that all terms are computed."""
        self._rests_on_latency = any(
            TERMS[name].target in used for name in ("contention", "node-faults")
        )

    def values(self, ports: Ports) -> dict[str, float]:
        """Return the value of every term of the task.

        Values depend on the links only, not on the order of a node's ports: this order decides
        between routes of equal cost, and which links fail at random, so it is made ascending.
        """
        ports = np.sort(ports, axis=1)
        found = {source: self._functions[source](self.task, ports) for source in self._sources}
        return {name: found[term.target][term.index] for name, term in self._terms.items()}

    def __call__(self, ports: Ports) -> float:
        """Return the weighted sum; infinite if a term is infinite."""
        return self.up_to(ports, math.inf)

    def up_to(self, ports: Ports, limit: float) -> float:
        """Return the cost, or infinity if it is greater than ``limit``.

        Terms are computed cheapest first, and only until their sum, with lower bounds of the terms
        that are left, is greater than the limit.
        """
        ports = np.sort(ports, axis=1)
        if self.task.fault_tolerant and math.isinf(node_faults(ports)[0]):
            return math.inf
        found: dict[str, tuple[float, ...]] = {}
        bounds = {} if self._unbounded or limit == math.inf else self._bounds(ports, found)
        left = sum(bounds.values())
        cost = 0.0
        for source in self._sources:
            values = found.get(source) or self._functions[source](self.task, ports)
            for index, name, weight in self._signed[source]:
                if math.isinf(values[index]):
                    return math.inf
                cost += weight * values[index]
                left -= bounds.get(name, 0.0)
            if not self._unbounded and cost + left > limit + self.task.tolerance:
                return math.inf
        return cost if cost <= limit else math.inf

    def _bounds(self, ports: Ports, found: dict[str, tuple[float, ...]]) -> dict[str, float]:
        """Return lower bounds of the weighted terms; terms that are not listed have bound 0.

        Detours and failures make no path shorter. Every pair of nodes is left when one of the
        other n - 2 nodes fails.
        """
        nodes, degree = ports.shape
        values = {"connectivity": float(degree), "bisection": nodes * degree / 2}
        if self._rests_on_latency:
            mean, maximum = found[LATENCY] = latency(ports)
            values.update({"contention": mean, "max-contention": maximum})
            values["node-faults"] = mean * nodes * (nodes - 2) / (nodes - 1) ** 2
            values["max-node-faults"] = maximum if nodes > 2 else 0.0
        return {
            name: weight * values[name]
            for signed in self._signed.values()
            for _, name, weight in signed
            if name in values
        }


def _function(term: CostTermInfo) -> Function:
    """Return the function of a term and of those beside it; NaN is infinite.

    Its exceptions become a ``PluginError`` that names the term.
    """
    try:
        function: Callable[[DesignTask, Ports], Any] = load_target(term.target)
    except Exception as error:
        raise PluginError(f"cost term {term.name} cannot be loaded: {error_line(error)}") from error

    def call(task: DesignTask, ports: Ports) -> tuple[float, ...]:
        try:
            found = function(task, ports.copy())
            values = tuple(map(float, found if isinstance(found, tuple) else (found,)))
            values[term.index]
        except Exception as error:
            raise PluginError(f"cost term {term.name} failed: {error_line(error)}") from error
        return tuple(math.inf if math.isnan(value) else value for value in values)

    return call
