"""One row of a suite: an instance by name, and the values published about it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from cchybrid.library.instance_spec import InstanceSpec
from cchybrid.library.node_lists import format_nodes, parse_nodes
from cchybrid.library.topologies import network
from cchybrid.model.errors import CchybridError, InputError, with_context
from cchybrid.plugin.benchmark import (
    read_collective,
    read_topology,
    shown_collective,
    shown_topology,
)
from cchybrid.plugin.registry import load_registry

SPEC_FIELDS = tuple(each.name for each in fields(InstanceSpec))
_NODE_LISTS = ("transmitters", "receivers", "fail_nodes", "participants")
_NAME_PARTS = {
    "root": "root {}", "transmitters": "from {}", "receivers": "to {}", "switching": "{}",
    "routing": "routing {}", "ports": "ports {}", "fail_links": "without link {}",
    "fail_nodes": "without node {}", "participants": "among {}", "chunks": "{} chunks",
    "rounds": "rounds {}", "size": "of {}", "tick": "tick {}", "size_matrix": "sizes {}",
    "steps": "in {} steps",
}  # fmt: skip
"""The words for each value that is given, in the name of a row."""
_NUMBERS = r"\s*[0-9]+\s*([,-]\s*[0-9]+\s*)*"
_USUAL = {"switching": "wormhole", "routing": "minimal", "ports": "all"}


@dataclass(frozen=True)
class Published:
    """The values published about a row.

    Attributes
    ----------
    steps, lower_bound
        Published best schedule and bound; ``None`` where there is none.
    place
        The root as the source describes it, such as ``corner``.
    source, note
        The source, and a remark.
    comparable
        ``False`` if the published instance differs from ours: then nothing is compared.
    goal
        Steps at or below which a published run counted as a success.
    rates
        Percentage of successful published runs by engine.
    mean_evaluations, mean_times
        Published means over the successful runs by engine, in the words of the source.
    """

    steps: int | None = None
    lower_bound: int | None = None
    place: str = ""
    source: str = ""
    note: str = ""
    comparable: bool = True
    goal: int | None = None
    rates: Mapping[str, float] = field(default_factory=dict)
    mean_evaluations: Mapping[str, str] = field(default_factory=dict)
    mean_times: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """An instance by name, and the values published about it.

    With ``target`` (the column ``fixed_steps``) it is a conflict study: every run searches for a
    schedule of this number of steps without any bound, and the remaining conflicts are compared.
    With ``measure``, the cost of the parts of every run is recorded, too (``run_cost``).
    """

    spec: InstanceSpec
    published: Published = Published()
    target: int | None = None
    measure: bool = False

    @property
    def topology(self) -> str:
        """The name of the topology, or of the file without its folder."""
        return shown_topology(self.spec.topology)

    @property
    def name(self) -> str:
        """The unique name; equal names mean equal instances."""
        spec = self.spec
        values = {
            **vars(spec), "fail_links": " ".join(spec.fail_links) or None,
            "fail_nodes": spec.fail_nodes or None, "steps": self.target,
        }  # fmt: skip
        parts = [self.topology, shown_collective(spec.collective or "")]
        for key, words in _NAME_PARTS.items():
            if (value := values[key]) is not None:
                parts.append(
                    words.format(shown_nodes(value, spec.topology) if key in _NODE_LISTS else value)
                )
        return " ".join(part for part in parts if part)

    def to_json(self) -> dict[str, Any]:
        """Return the row as a JSON object, as in the store."""
        spec = {key: value for key, value in asdict(self.spec).items() if value is not None}
        published = asdict(self.published)
        for name in ("mean_evaluations", "mean_times"):  # rows of 0.9.0 have neither
            if not published[name]:
                del published[name]
        record: dict[str, Any] = {"question": spec, "published": published}
        if self.target is not None:
            record["fixed_steps"] = self.target
        if self.measure:
            record["measure"] = True
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Row":
        """Return the row of a JSON object of ``to_json``."""
        spec: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in record["question"].items()
        }
        published = Published(**record["published"])
        target = record.get("fixed_steps")
        numbers = (published.steps, published.lower_bound, published.goal, target)
        sound = (
            all(n is None or (isinstance(n, int) and 0 <= n < 10**9) for n in numbers)
            and all(isinstance(getattr(published, name), dict) for name in BY_ENGINE.values())
            and all(isinstance(rate, (int, float)) for rate in published.rates.values())
            and all(
                isinstance(words, str)
                for means in (published.mean_evaluations, published.mean_times)
                for words in means.values()
            )
            and isinstance(published.comparable, bool)
            and all(isinstance(x, str) for x in (published.place, published.source, published.note))
        )
        if not sound:
            raise ValueError(f"invalid published values of {spec.get('topology')}")
        return cls(InstanceSpec(**spec), published, target, record.get("measure") is True)

    @classmethod
    def from_text(cls, values: Mapping[str, str], folder: Path) -> "Row":
        """Read a row from texts: a line of a CSV file, or the values of a suite.

        Parameters
        ----------
        values
            The texts by field; empty ones are ignored.
        folder
            The folder that relative paths start from.

        Raises
        ------
        InputError
            Unknown column, or invalid value; the error names both.
        """
        spec: dict[str, Any] = {}
        published: dict[str, Any] = {}
        for key, text in values.items():
            text = text.strip()
            if not text:
                continue
            with with_context(key):
                if key in _OF_FILES:
                    spec[key] = _OF_FILES[key](text, folder)
                elif key in _SPEC:
                    spec[key] = _SPEC[key](text)
                elif key in _PUBLISHED:
                    published[key] = _PUBLISHED[key](text)
                else:
                    known = ", ".join((*SPEC_FIELDS, *_PUBLISHED))
                    raise InputError("no row has such a value", hint=f"use one of {known}")
        engine = published.pop("engine", "")
        by_engine = {key: published.pop(key) for key in BY_ENGINE if key in published}
        target = published.pop("fixed_steps", None)
        measure = published.pop("measure", False)
        if "topology" not in spec:
            raise InputError("a row without a topology", hint="name one, such as mesh-4x4")
        for key, value in by_engine.items():
            if not engine:
                raise InputError(
                    "a value of an engine without its name", where=key, hint="name the engine"
                )
            published[BY_ENGINE[key]] = {engine: value}
        if "collective" in spec:  # an instance file has values that these would override
            for key, usual in _USUAL.items():
                if spec.get(key) == usual:
                    del spec[key]
        return cls(InstanceSpec(**spec), Published(**published), target, measure)

    def with_rates_of(self, other: "Row") -> "Row":
        """Return the row with the published values by engine of ``other``, a row of the same name.

        Raises
        ------
        InputError
            Two values of one engine differ, or another published value does.
        """
        fields = BY_ENGINE.values()
        none: dict[str, Any] = {name: {} for name in fields}
        stated = replace(other.published, **none)
        same = stated in (Published(), replace(self.published, **none))
        if not same or (self.target, self.measure) != (other.target, other.measure):
            raise InputError(
                f"{self.name} is listed twice with different values",
                hint="leave one out; only values of engines are put together",
            )
        joined: dict[str, Any] = {}
        for name in fields:
            known, more = getattr(self.published, name), getattr(other.published, name)
            for engine, value in more.items():
                if known.get(engine, value) != value:
                    raise InputError(
                        f"{self.name}: {engine} has two values of {name}", hint="leave one out"
                    )
            joined[name] = {**known, **more}
        return replace(self, published=replace(self.published, **joined))


def shown_nodes(nodes: str | Sequence[int | str], topology: str) -> str:
    """Return a list of nodes as a suite has it: numbers such as ``0-3,7``, or names.

    Where nodes have names, which may be ``0-3`` or ``07``, a text stays as it is.
    """
    if isinstance(nodes, str):
        numbers = format_nodes(parse_nodes(nodes)) if re.fullmatch(_NUMBERS, nodes) else nodes
        return nodes if numbers == nodes or _has_names(topology) else numbers
    if not all(isinstance(node, int) for node in nodes):
        return ",".join(map(str, nodes))
    return format_nodes(nodes)  # type: ignore[arg-type]


@cache
def _has_names(topology: str) -> bool:
    """Return whether the nodes of a network have names, or may have, as those of a file."""
    if Path(topology).is_absolute():
        return True
    try:
        return network(topology, load_registry().topologies.values()).node_names is not None
    except CchybridError:  # there is no such network, or not here
        return False


def _number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise InputError(f"{text!r} is no whole number", hint="write digits only")
    return int(text)


def _positive(text: str) -> int:
    number = _number(text)
    if number < 1:
        raise InputError(f"{number} makes no sense", hint="use at least 1")
    return number


def _percent(text: str) -> float:
    try:
        number = float(text if text.isascii() and "_" not in text else "")
    except ValueError:
        number = -1.0
    if not 0 <= number <= 100:
        raise InputError(f"{text[:40]!r} is no percentage", hint="write 0 to 100")
    return number


def _yes(text: str) -> bool:
    if text.lower() not in ("yes", "no", "true", "false"):
        raise InputError(f"{text!r} is neither yes nor no", hint="write yes or no")
    return text.lower() in ("yes", "true")


def _routing(text: str) -> str:
    if text.lower().endswith(".csv"):
        raise InputError("a row has no file of next hops", hint="name an instance file with them")
    return "minimal" if text == "0" else text.lower()


_SPEC: dict[str, Callable[[str], Any]] = {
    "root": str, "transmitters": str, "receivers": str, "routing": _routing,
    "switching": str.lower, "ports": str.lower, "fail_links": lambda text: tuple(text.split()),
    "fail_nodes": str, "participants": str, "chunks": _positive,
    "rounds": lambda text: ",".join(map(str.strip, text.split(","))), "size": str, "tick": str,
}  # fmt: skip
_OF_FILES: dict[str, Callable[[str, Path], str]] = {
    "topology": read_topology, "collective": read_collective, "size_matrix": read_topology,
}  # fmt: skip
"""The functions that read the texts that may name a file, relative to a folder."""
_PUBLISHED: dict[str, Callable[[str], Any]] = {
    "steps": _number, "lower_bound": _number, "goal": _positive, "engine": str.lower,
    "success_percent": _percent, "place": str, "source": str, "note": str, "comparable": _yes,
    "fixed_steps": _positive, "measure": _yes, "mean_evaluations": str, "mean_time": str,
}  # fmt: skip
"""The functions that read the texts of the columns."""
BY_ENGINE = {
    "success_percent": "rates", "mean_evaluations": "mean_evaluations", "mean_time": "mean_times"
}  # fmt: skip
"""The columns of values of an engine, and the fields of ``Published`` that hold them."""
