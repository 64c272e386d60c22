"""One row of a suite of designs: a network to be designed, or a named one, and published values."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from cchybrid.checker import EvidenceError
from cchybrid.design_checker import check_design
from cchybrid.library.topologies import network
from cchybrid.model.errors import InputError, with_context

from ..network.cost import Cost
from ..network.distances import all_distances
from ..network.ports import Links, links_between_equals, ports_of
from ..network.record import design_record
from ..network.task import DesignTask, layout
from ..network.terms import TERMS

FIGURES = ("mean-distance", "diameter", "steps")
"""Published values that have no weight: mean over pairs of different nodes, diameter, and the steps
of a schedule of the collective."""
LARGER_IS_BETTER = ("connectivity", "bisection")
SETTINGS = (
    "name", "nodes", "degree", "weights", "layout", "max_wire", "network", "designers",
    "collective", "source", "note",
)  # fmt: skip
"""The columns of a table of designs that hold no published value."""


_TEXTS = ("layout", "network", "collective", "source", "note")


@dataclass(frozen=True)
class DesignRow:
    """A network to be designed, or a named one to be evaluated.

    Parameters
    ----------
    name
        The unique name.
    nodes, degree, weights, layout, max_wire
        As in ``DesignTask``; the layout by its name.
    network
        A topology to be evaluated instead; "" for a network to be designed.
    designers
        The designers that search, one after another.
    collective
        The collective for whose fewest steps the network is designed; "" for none.
    published
        Published values by cost term or figure, as written, so that their precision is known.
    """

    name: str
    nodes: int
    degree: int
    weights: tuple[tuple[str, float], ...]
    layout: str = ""
    max_wire: float | None = None
    network: str = ""
    designers: tuple[str, ...] = ("annealing",)
    collective: str = ""
    published: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    note: str = ""

    def task(self) -> DesignTask:
        """Return the task of the designers.

        Raises
        ------
        InputError
            If the values are no task.
        """
        positions = layout(self.layout, self.nodes) if self.layout else None
        return DesignTask(
            self.nodes,
            self.degree,
            self.weights,
            positions=positions,
            max_wire=self.max_wire,
            collective=self.collective or None,
        )

    @property
    def digest(self) -> str:
        """The digest of all that decides about the result; published values do not."""
        record = asdict(self)
        for key in ("published", "source", "note"):
            del record[key]
        return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()

    def named_links(self) -> Links:
        """Return the links of the named network."""
        return links_between_equals(network(self.network))

    def to_json(self) -> dict[str, Any]:
        """Return the row as a JSON object, as in the store."""
        return {"design": asdict(self)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "DesignRow":
        """Return the row of a JSON object of ``to_json``."""
        values = dict(record["design"])
        values["weights"] = tuple((name, weight) for name, weight in values["weights"])
        values["designers"] = tuple(values["designers"])
        row = cls(**values)
        words = (row.name, *(getattr(row, key) for key in _TEXTS))
        sound = all(isinstance(word, str) for word in (*words, *row.designers))
        if not sound or (type(row.nodes), type(row.degree)) != (int, int):
            raise ValueError(f"invalid values of {row.name}")
        for key, value in row.published.items():
            _number(value.strip(), key)
        return row

    @classmethod
    def from_text(cls, values: Mapping[str, str]) -> "DesignRow":
        """Return the row of a line of a table.

        Columns are those of ``SETTINGS``, cost terms and ``FIGURES``. The weights are those of the
        column ``weights``, such as ``latency=1 bisection=0.2``, and 1 for every other cost term
        with a published value. Without a column ``name``, the row is named after its nodes, degree
        and collective.

        Raises
        ------
        InputError
            For unknown columns, and values that are no row.
        """
        for key in values:
            if key not in (*SETTINGS, *TERMS, *FIGURES):
                raise InputError(f"a design has no {key!r}", hint="use cost terms and settings")
        text = {key: value.strip() for key, value in values.items() if value.strip()}
        published = {key: text[key] for key in (*TERMS, *FIGURES) if key in text}
        for key, value in published.items():
            if math.isnan(_number(value, key)):
                raise InputError("no number", where=key, hint="use a number, or inf")
        weights = {key: 1.0 for key in published if key in TERMS and key not in FIGURES}
        for pair in text.get("weights", "").split():
            term, _, weight = pair.partition("=")
            weights[term] = _number(weight, "weights")
        wire = text.get("max_wire")
        name = text.get("name", "")
        if "name" not in values:
            name = f"{text.get('nodes', '')} nodes, degree {text.get('degree', '')}"
            name += f", {text['collective']}" if "collective" in text else ""
        row = cls(
            name=name,
            nodes=_count(text.get("nodes", ""), "nodes"),
            degree=_count(text.get("degree", ""), "degree"),
            weights=tuple(weights.items()),
            max_wire=None if wire is None else _number(wire, "max_wire"),
            designers=tuple(text.get("designers", "annealing").split()),
            published=published,
            **{key: text.get(key, "") for key in _TEXTS},
        )
        if not re.fullmatch(r"[\w .,+/-]{1,80}", row.name):
            raise InputError("a design without a name", where="name", hint="name every line")
        row.task()
        if "steps" in published and not row.collective:
            raise InputError("steps of no collective", where="collective", hint="name one")
        for key in ("collective", "designers"):
            if row.network and key in text:
                raise InputError(
                    f"{row.network} is not designed",
                    where=key,
                    hint="leave it out, or use a suite of instances",
                )
        if row.network:
            with with_context("network"):
                row.named_links()
            if network(row.network).nodes != row.nodes:
                raise InputError(
                    f"{row.network} has {network(row.network).nodes} nodes",
                    where="nodes",
                    hint="correct the number",
                )
        return row


def figures_of(row: DesignRow, links: Links) -> dict[str, float]:
    """Return the values of a network's cost terms, its mean distance and its diameter.

    Raises
    ------
    EvidenceError
        If the network is none of the row's task, or its latencies differ from those of the
        independent checker.
    """
    task = row.task()
    ports = ports_of(task.nodes, task.degree, links)
    total, diameter = all_distances(ports)
    checked = check_design(design_record(task, links))
    values = Cost(task).values(ports)
    values |= {"mean-distance": float(checked.mean), "diameter": float(diameter)}
    pairs = task.nodes * (task.nodes - 1)
    if checked.diameter != diameter or checked.mean * pairs != total:
        raise EvidenceError("the latencies differ from those of the checker")
    return values


def compared(name: str, value: float, published: str) -> str:
    """Return ``better``, ``equal`` (up to the rounding of the published value) or ``worse``."""
    known = float(published)
    exponent = Decimal(published).as_tuple().exponent  # a text for infinity
    rounding = float(f"0.5001e{exponent}") if isinstance(exponent, int) else 0.0
    if value == known or abs(value - known) <= rounding:
        return "equal"
    return "better" if (value > known) == (name in LARGER_IS_BETTER) else "worse"


def _count(text: str, where: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text):
        raise InputError(f"{text[:40]!r} is no whole number", where=where, hint="correct it")
    return int(text)


def _number(text: str, where: str) -> float:
    try:
        value = float(text if text.isascii() and "_" not in text else "")
    except ValueError:
        raise InputError(f"{text[:40]!r} is no number", where=where, hint="correct it") from None
    if math.isinf(value) and "inf" not in text.lower():
        raise InputError(f"{text[:40]!r} is too large", where=where, hint="correct it")
    return value
