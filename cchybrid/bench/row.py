"""One row of a suite: an instance by name, and what the papers say about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from cchybrid.library.collectives import canonical_name
from cchybrid.library.instance_spec import InstanceSpec
from cchybrid.library.node_lists import format_nodes, parse_nodes
from cchybrid.model.errors import InputError, with_context

SPEC_FIELDS = tuple(each.name for each in fields(InstanceSpec))
_USUAL = {"switching": "wormhole", "routing": "minimal", "ports": "all"}


@dataclass(frozen=True)
class Published:
    """What others published about a row.

    Attributes
    ----------
    steps, lower_bound
        Their best schedule and their bound; ``None`` where they give none.
    place
        The root in their words, such as ``corner``.
    source, note
        Where it stands, and what has to be known about it.
    comparable
        False if they and we do not mean the same instance: then nothing is compared.
    goal
        The steps that a run of theirs had to reach to count as a success.
    rates
        Per engine the percentage of their runs that did.
    """

    steps: int | None = None
    lower_bound: int | None = None
    place: str = ""
    source: str = ""
    note: str = ""
    comparable: bool = True
    goal: int | None = None
    rates: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """An instance by name, and what was published about it.

    With ``fixed_steps`` it is a conflict study: it is run for so many steps without any bound, and
    what is compared are the conflicts that are left.
    """

    question: InstanceSpec
    published: Published = Published()
    fixed_steps: int | None = None

    @property
    def name(self) -> str:
        """What the row is called everywhere; equal names mean equal instances."""
        asked = self.question
        path = Path(asked.topology)
        parts = [path.name if path.is_absolute() else asked.topology, asked.collective or ""]
        if asked.root is not None:
            parts.append(f"root {asked.root}")
        if asked.transmitters is not None:
            parts.append(f"from {format_nodes(asked.transmitters)}")
        if asked.receivers is not None:
            parts.append(f"to {format_nodes(asked.receivers)}")
        if asked.switching is not None:
            parts.append(str(asked.switching))
        if asked.routing is not None:
            parts.append(f"routing {asked.routing}")
        if asked.ports is not None:
            parts.append(f"ports {asked.ports}")
        if asked.fail_links:
            parts.append(f"without link {' '.join(asked.fail_links)}")
        if asked.fail_nodes:
            parts.append(f"without node {format_nodes(asked.fail_nodes)}")
        if self.fixed_steps is not None:
            parts.append(f"in {self.fixed_steps} steps")
        return " ".join(part for part in parts if part)

    def to_json(self) -> dict[str, Any]:
        """Return the row as the store keeps it."""
        question = {key: value for key, value in asdict(self.question).items() if value is not None}
        record: dict[str, Any] = {"question": question, "published": asdict(self.published)}
        if self.fixed_steps is not None:
            record["fixed_steps"] = self.fixed_steps
        return record

    def to_solve(self) -> dict[str, Any]:
        """Return the arguments of ``solve`` that every contestant has to take here."""
        return {} if self.fixed_steps is None else {"steps": self.fixed_steps, "blind": True}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Row:
        """Read what ``to_json`` wrote."""
        question: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in record["question"].items()
        }
        published = Published(**record["published"])
        fixed_steps = record.get("fixed_steps")
        numbers = (published.steps, published.lower_bound, published.goal, fixed_steps)
        sound = (
            all(n is None or (isinstance(n, int) and 0 <= n < 10**9) for n in numbers)
            and isinstance(published.rates, dict)
            and all(isinstance(rate, (int, float)) for rate in published.rates.values())
            and isinstance(published.comparable, bool)
            and all(isinstance(x, str) for x in (published.place, published.source, published.note))
        )
        if not sound:
            raise ValueError(f"what was published of {question.get('topology')} makes no sense")
        return cls(InstanceSpec(**question), published, fixed_steps)

    @classmethod
    def from_text(cls, values: Mapping[str, str], folder: Path) -> Row:
        """Read a row from texts, as the lines of CSV files and the values of suites are.

        Parameters
        ----------
        values
            The texts by the names of the fields; empty ones do not count.
        folder
            Where files that are no absolute paths stand.

        Raises
        ------
        InputError
            A column that no row has, or a value that makes no sense; it names both.
        """
        question: dict[str, Any] = {}
        published: dict[str, Any] = {}
        for key, text in values.items():
            text = text.strip()
            if not text:
                continue
            with with_context(key):
                if key == "topology":
                    named = "/" not in text and "." not in text
                    question[key] = text.lower() if named else str((folder / text).absolute())
                elif key in _QUESTION:
                    question[key] = _QUESTION[key](text)
                elif key in _PUBLISHED:
                    published[key] = _PUBLISHED[key](text)
                else:
                    known = ", ".join((*SPEC_FIELDS, *_PUBLISHED))
                    raise InputError("no row has such a value", hint=f"use one of {known}")
        engine, percent = published.pop("engine", ""), published.pop("success_percent", None)
        fixed_steps = published.pop("fixed_steps", None)
        if "topology" not in question:
            raise InputError("a row without a topology", hint="name one, such as mesh-4x4")
        if percent is not None and not engine:
            raise InputError("a rate of nobody", where="success_percent", hint="name the engine")
        if percent is not None:
            published["rates"] = {engine: percent}
        if "collective" in question:  # else an instance file says what these replace
            for key, usual in _USUAL.items():
                if question.get(key) == usual:
                    del question[key]
        return cls(InstanceSpec(**question), Published(**published), fixed_steps)

    def with_rates_of(self, other: Row) -> Row:
        """Return the row with the rates too that ``other``, of the same name, has published.

        Raises
        ------
        InputError
            They say different things of one engine.
        """
        known = self.published.rates
        for engine, rate in other.published.rates.items():
            if known.get(engine, rate) != rate:
                raise InputError(
                    f"{self.name}: {engine} has two success rates", hint="leave one out"
                )
        rates = {**known, **other.published.rates}
        return replace(self, published=replace(self.published, rates=rates))


def _number(text: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text):
        raise InputError(f"{text!r} is no whole number", hint="write digits only")
    return int(text)


def _positive(text: str) -> int:
    number = _number(text)
    if number < 1:
        raise InputError(f"{number} steps make no sense", hint="use at least 1")
    return number


def _percent(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 100:
        raise InputError(f"{text[:40]!r} is no percentage", hint="write 0 to 100")
    return number


def _yes(text: str) -> bool:
    if text.lower() not in ("yes", "no", "true", "false"):
        raise InputError(f"{text!r} is neither yes nor no", hint="write yes or no")
    return text.lower() in ("yes", "true")


_QUESTION: dict[str, Callable[[str], Any]] = {
    "collective": canonical_name, "root": _number, "transmitters": parse_nodes,
    "receivers": parse_nodes, "routing": lambda text: "minimal" if text == "0" else text.lower(),
    "switching": str.lower, "ports": str.lower, "fail_links": lambda text: tuple(text.split()),
    "fail_nodes": parse_nodes,
}  # fmt: skip
_PUBLISHED: dict[str, Callable[[str], Any]] = {
    "steps": _number, "lower_bound": _number, "goal": _positive, "engine": str.lower,
    "success_percent": _percent, "place": str, "source": str, "note": str, "comparable": _yes,
    "fixed_steps": _positive,
}  # fmt: skip
"""How the text of every column is read."""
