"""Design tasks: what a network must be like, and what it is measured by."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.library.collectives import canonical_name
from cchybrid.library.nearest import did_you_mean
from cchybrid.model import CommunicationModel
from cchybrid.model.errors import InputError, Problem, refuse_first, with_context
from cchybrid.plugin.records import CostTermInfo
from cchybrid.problem.ragged import reachable

from .terms import TERMS

ROUNDING = 1e-12
"""Relative error of wire lengths above which floats decide about their order."""

LIGHTEST, HEAVIEST, RATIO = 1e-6, 1e6, 1000
"""The smallest and the largest weight of a cost term, and the largest ratio of two of a task."""
TOLERANCE = 1e-9
"""Difference of unweighted costs up to which they count as equal."""

Positions = tuple[tuple[float, ...], ...]

MAX_DESIGN_NODES = 2048
"""Networks with more nodes are refused: every cost is computed from all pairs of nodes."""

LAYOUTS = ("backplane", "centreplane", "grid-WxH")
"""The layouts by name; see ``layout``."""

WORMHOLE = CommunicationModel()
"""The default model: wormhole switching, all ports, minimal routing."""
DESIGN_COLLECTIVES = ("OAB", "AAB", "OAS", "AAS", "AOG", "AOR", "AAR", "AAG")
"""The collectives that networks are designed for: those between all nodes."""


@with_context("layout")
def layout(name: str, nodes: int) -> Positions:
    """Return the positions of the nodes in a layout.

    ``backplane`` is a line. ``centreplane`` is two parallel lines one unit apart; the first half
    of the nodes is on the first line. ``grid-WxH`` has W columns and H rows; nodes are numbered
    row by row.

    Raises
    ------
    InputError
        If there is no such layout, or it does not fit the number of nodes.
    """
    if name == "backplane":
        return tuple((float(node), 0.0) for node in range(nodes))
    if name == "centreplane":
        if nodes % 2:
            raise InputError(
                f"{nodes} nodes are not two equal lines",
                hint="use an even number of nodes, or backplane",
            )
        half = nodes // 2
        return tuple((float(node % half), float(node // half)) for node in range(nodes))
    found = re.fullmatch(r"grid-([0-9]{1,4})x([0-9]{1,4})", name)
    if found is None:
        raise InputError(f"no layout is called {name!r}", hint="use " + ", ".join(LAYOUTS))
    width, height = map(int, found.groups())
    if width * height != nodes:
        raise InputError(
            f"{name} has {width * height} places for {nodes} nodes",
            hint="let W times H be the number of nodes",
        )
    return tuple((float(node % width), float(node // width)) for node in range(nodes))


@dataclass(frozen=True)
class DesignTask:
    """The description of a network to be designed.

    Links are bidirectional; every node has the same number of ports.

    Parameters
    ----------
    nodes, degree
        The number of nodes, and of ports per node. Ports may stay empty.
    weights
        Pairs of a cost term's name and its weight; the cost of a network is the weighted sum.
    positions
        The coordinates of every node, or ``None``.
    max_wire
        The largest Manhattan distance between linked nodes, or ``None``.
    redundant_links
        Whether two nodes may have several links.
    seed
        The seed of cost terms that draw at random: random faults, initial bisections.
    fault_tolerant
        Whether the other nodes stay connected when any one node fails.
    extra_terms
        Cost terms of plugins.
    collective, model
        The collective of the cost term ``steps``, by a name of ``DESIGN_COLLECTIVES`` or an alias,
        and its communication model. The root of one-to-all and all-to-one is node 0.

    Raises
    ------
    InputError
        For values out of range, unknown terms, and positions that do not fit.
    """

    nodes: int
    degree: int
    weights: tuple[tuple[str, float], ...] = (("latency", 1.0), ("max-latency", 1.0))
    positions: Positions | None = None
    max_wire: float | None = None
    redundant_links: bool = False
    seed: int = 0
    fault_tolerant: bool = False
    extra_terms: tuple[CostTermInfo, ...] = ()
    collective: str | None = None
    model: CommunicationModel = WORMHOLE

    def __post_init__(self) -> None:
        if self.collective is not None:
            object.__setattr__(self, "collective", canonical_name(self.collective))
        refuse_first(self._problems())

    def _problems(self) -> Iterator[Problem]:
        """Yield what is wrong; what comes later may rely on what was right before."""
        if not 2 <= self.nodes <= MAX_DESIGN_NODES:
            yield f"{self.nodes} nodes", "nodes", f"use 2 to {MAX_DESIGN_NODES}"
        if self.degree < 1:
            yield f"degree {self.degree}", "degree", "use at least 1"
        if self.degree >= self.nodes and not self.redundant_links:
            yield (
                f"degree {self.degree} for {self.nodes} nodes",
                "degree",
                f"use at most {self.nodes - 1}, or allow redundant links",
            )
        if self.degree > MAX_DESIGN_NODES:
            yield f"degree {self.degree}", "degree", f"use at most {MAX_DESIGN_NODES}"
        if self.degree == 1 and self.nodes > 2:
            yield "nodes with one link each are not connected", "degree", "use at least 2"
        yield from self._problems_of_collective()
        yield from self._problems_of_weights()
        yield from self._problems_of_positions()

    def _problems_of_collective(self) -> Iterator[Problem]:
        if self.collective is None:
            return
        if self.collective not in DESIGN_COLLECTIVES:
            yield (
                f"networks are not designed for {self.collective[:40]!r}",
                "collective",
                "use " + ", ".join(DESIGN_COLLECTIVES),
            )
        if isinstance(self.model.inject, tuple) or isinstance(self.model.accept, tuple):
            yield "ports per node", "model.ports", "use the same number for all nodes"

    def _problems_of_weights(self) -> Iterator[Problem]:
        if not self.weights:
            yield "no cost term", "cost", "name one, such as latency"
        names = [name for name, _ in self.weights]
        for name, weight in self.weights:
            known = (*TERMS, *(term.name for term in self.extra_terms))
            if name not in known:
                yield (
                    f"no cost term is called {name!r}",
                    "cost",
                    did_you_mean(name, known) or "use " + ", ".join(known),
                )
            if not (math.isfinite(weight) and weight > 0):
                yield f"weight {weight} of {name}", "cost", "use a positive number"
            if names.count(name) > 1:
                yield f"{name} is listed twice", "cost", "name it once"
        for name, weight in self.weights:
            if not LIGHTEST <= weight <= HEAVIEST or weight > RATIO * self.lightest:
                yield (
                    f"weight {weight:g} of {name}",
                    "cost",
                    f"use {LIGHTEST:g} to {HEAVIEST:g}, all within a factor of {RATIO:,}",
                )
        if "steps" in names and self.collective is None:
            yield "the cost term steps needs a collective", "cost", "name one: AAS"
        if "wire" in names and self.positions is None:
            yield "the cost term wire needs positions", "cost", "give a layout"

    def _problems_of_positions(self) -> Iterator[Problem]:
        if self.positions is None:
            if self.max_wire is not None:
                yield "a longest wire needs positions", "max_wire", "give a layout"
            return
        if len(self.positions) != self.nodes:
            yield (
                f"{len(self.positions)} positions for {self.nodes} nodes",
                "positions",
                "give one per node",
            )
        for index, position in enumerate(self.positions):
            if len(position) not in (1, 2, 3) or len(position) != len(self.positions[0]):
                yield (
                    f"{len(position)} coordinates",
                    f"positions[{index}]",
                    "give every node the same number of coordinates, 1 to 3",
                )
            if not all(map(math.isfinite, position)):
                yield "a coordinate is not finite", f"positions[{index}]", "use finite numbers"
        if self.max_wire is None:
            return
        if not self.max_wire > 0:
            yield f"longest wire {self.max_wire}", "max_wire", "use a positive number"
        if not reachable(self.allowed, 0).all():
            yield (
                f"wires of at most {self.max_wire:g} do not connect the nodes",
                "max_wire",
                "allow longer wires",
            )

    @cached_property
    def wires(self) -> NDArray[np.float64]:
        """The Manhattan distance of every two nodes, shape (nodes, nodes); 0 without positions."""
        if self.positions is None:
            return np.zeros((self.nodes, self.nodes))
        points = np.array(self.positions, dtype=np.float64)
        lengths: NDArray[np.float64] = np.abs(points[:, None] - points[None]).sum(axis=2)
        return lengths

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """Whether two nodes may be linked, shape (nodes, nodes).

        Coordinates and the longest wire are exact decimals, as written: nodes at 0.1 and 0.4 have
        a wire of 0.3.
        """
        if self.max_wire is None:
            pairs = np.ones((self.nodes, self.nodes), dtype=np.bool_)
        else:
            pairs = self.wires <= self.max_wire
            self._correct_rounding(pairs, self.max_wire)
        np.fill_diagonal(pairs, False)
        return pairs

    @cached_property
    def wire_hops(self) -> NDArray[np.int64]:
        """The wires that lead from each node to each other one, at least; (nodes, nodes)."""
        near = np.eye(self.nodes, dtype=np.bool_)
        wires = self.allowed.astype(np.float32)
        hops = np.zeros(wires.shape, dtype=np.int64)
        while not near.all():
            hops += ~near
            near |= near.astype(np.float32) @ wires > 0
        return hops

    def _correct_rounding(self, pairs: NDArray[np.bool_], max_wire: float) -> None:
        """Compare wires that are as long as allowed, up to rounding errors, exactly."""
        if self.positions is None or not math.isfinite(max_wire):
            return
        largest = max(abs(value) for point in self.positions for value in point)
        close = np.abs(self.wires - max_wire) <= ROUNDING * (largest + max_wire)
        points = [[_decimal(value) for value in point] for point in self.positions]
        limit = _decimal(max_wire)
        for a, b in np.argwhere(close).tolist():
            length = sum(abs(x - y) for x, y in zip(points[a], points[b], strict=True))
            pairs[a, b] = length <= limit

    @property
    def lightest(self) -> float:
        """The smallest weight."""
        return min(weight for _, weight in self.weights)

    @property
    def tolerance(self) -> float:
        """The difference up to which two costs count as equal.

        It is far below the smallest difference of weighted latencies or steps, and above the
        rounding of sums, as weights differ at most by a factor of ``RATIO``.
        """
        return TOLERANCE * self.lightest

    def term(self, name: str) -> CostTermInfo:
        """Return the cost term of a name."""
        return TERMS.get(name) or next(term for term in self.extra_terms if term.name == name)

    def weight(self, name: str) -> float:
        """Return the weight of a cost term; 0 for terms that are not listed."""
        return dict(self.weights).get(name, 0.0)

    def uses_only(self, names: Iterable[str]) -> bool:
        """Return whether nothing but these cost terms decides between networks."""
        return not self.fault_tolerant and {name for name, _ in self.weights} <= set(names)

    def to_json(self) -> dict[str, Any]:
        """Return the task as a JSON object."""
        return {**asdict(self), "model": self.model.to_json()}

    def facts(self) -> dict[str, Any]:
        """Return the JSON object without the cost terms of plugins, for results."""
        return {key: value for key, value in self.to_json().items() if key != "extra_terms"}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "DesignTask":
        """Return the task of an object that ``to_json`` has made."""
        points = record["positions"]
        made = {
            "weights": tuple((name, weight) for name, weight in record["weights"]),
            "positions": None if points is None else tuple(map(tuple, points)),
            "extra_terms": tuple(CostTermInfo(**term) for term in record["extra_terms"]),
            "model": CommunicationModel.from_json(record["model"]),
        }
        return cls(**{**record, **made})


def _decimal(value: float) -> Fraction:
    """Return the shortest decimal that rounds to a float; ``cchybrid.checker`` reads the same."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(float(value)))
