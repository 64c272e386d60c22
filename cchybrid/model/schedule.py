"""Schedules: steps of transfers."""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import index
from pathlib import Path
from typing import Any, cast

from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import Instance, check_format, read_text, write_json
from cchybrid.model.json_fields import expect, only_keys, parse_json, read_integer, take, take_list
from cchybrid.model.shown import ShownBound, ShownSchedule
from cchybrid.model.steps import FlatSteps, Steps, Transfer, count_hops
from cchybrid.model.text import described
from cchybrid.model.whole_numbers import whole, whole_tuple

FORMAT, FORMAT_2 = "cchybrid-schedule/1", "cchybrid-schedule/2"
"""The formats of schedule files; the second one, for an allreduce or a scan, has sums."""


Sums = tuple[tuple[tuple[int, ...], ...], ...]
"""Per step and transfer of an allreduce or a scan, the members whose parts the transfer adds up."""


@dataclass(frozen=True, repr=False)
class LowerBound(ShownBound):
    """A number of steps that every schedule needs, and the evidence (see ``cchybrid.checker``)."""

    steps: int
    evidence: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.__dict__["steps"] = whole(self.steps, "lower_bound.steps")
        if self.steps < 0:
            raise InputError(
                f"{self.steps} steps", where="lower_bound.steps", hint="use at least 0"
            )


@dataclass(frozen=True, repr=False)
class Schedule(ShownSchedule):
    """The transfers of every step, valid or not (see ``cchybrid.referee.verify``).

    Parameters
    ----------
    instance
        The instance that it is a schedule of.
    steps
        Per step its transfers, as tuples or as ``FlatSteps``; for ``combine`` collectives a
        transfer carries a partial result.
    lower_bound
        The best lower bound known when the schedule was written, if any.
    made_by
        Facts about its origin, such as version, engine, seed and seconds.
    sums
        Of an ``allreduce`` or a scan, per transfer the members whose parts it carries as one sum.
    """

    instance: Instance
    steps: Steps
    lower_bound: LowerBound | None = None
    made_by: dict[str, Any] = field(default_factory=dict)
    sums: Sums = ()

    def __post_init__(self) -> None:
        for where, kind in (("instance", Instance), ("lower_bound", LowerBound), ("made_by", dict)):
            value = getattr(self, where)
            if not isinstance(value, kind) and (value is not None or where != "lower_bound"):
                raise InputError(
                    f"{described(value)} is no {kind.__name__}", where=where, hint="give one"
                )
        lists = (tuple, list)
        is_flat = type(self.steps) is FlatSteps
        if not is_flat and not (
            isinstance(self.steps, lists) and all(isinstance(s, lists) for s in self.steps)
        ):
            raise InputError(
                "not a list of steps", where="steps", hint="give a list of Transfer for each step"
            )
        reduces = self.instance.collective.with_sums
        if reduces or not is_flat:
            self.__dict__["steps"] = _as_tuples(tuple(self.steps) if is_flat else self.steps)
        sizes = [len(step) for step in self.steps] if reduces else []
        if (
            not isinstance(self.sums, lists)
            or not all(isinstance(step, lists) for step in self.sums)
            or [len(step) for step in self.sums] != sizes
        ):
            raise InputError(
                "not one sum for each transfer"
                if reduces
                else "sums without an allreduce or a scan",
                where="sums",
                hint="give a list of members for each transfer" if reduces else "leave them out",
            )
        self.__dict__["sums"] = tuple(
            tuple(whole_tuple(parts, f"sums[{place}][{n}]") for n, parts in enumerate(step))
            for place, step in enumerate(self.sums)
        )

    def parts(self, step: int, transfer: int) -> tuple[int, ...]:
        """Return the members whose parts a transfer adds up; none if it carries no sum."""
        return self.sums[step][transfer] if self.sums else ()

    @cached_property
    def channel_uses(self) -> int:
        """The number of channels used, summed over all transfers: the second criterion."""
        return count_hops(self.steps)

    @property
    def rounds(self) -> tuple[int, ...]:
        """The rounds of every step; one each, unless the communication model says otherwise."""
        found = tuple(map(self.instance.model.rounds_in, range(len(self.steps))))
        return found[::-1] if self.instance.collective.kind == "combine" else found

    @property
    def cost(self) -> tuple[int, int]:
        """The criteria in order, both minimized: steps, then channel uses."""
        return len(self.steps), self.channel_uses

    def to_json(self) -> dict[str, Any]:
        """Return the schedule as an object of the schedule format."""
        record: dict[str, Any] = {
            "format": FORMAT_2 if self.sums else FORMAT,
            "instance": self.instance.to_json(),
            "steps": steps_to_json(self.steps),
        }
        for step, sums in zip(record["steps"], self.sums, strict=False):
            for transfer, parts in zip(step, sums, strict=True):
                transfer["sum"] = list(map(index, parts))
        if self.lower_bound is not None:
            record["lower_bound"] = {
                "steps": self.lower_bound.steps,
                "evidence": self.lower_bound.evidence,
            }
        if self.made_by:
            record["made_by"] = self.made_by
        return record

    @classmethod
    def from_json(cls, record: Any) -> "Schedule":
        """Read an object of the schedule format; raise an ``InputError`` that names the place."""
        record = expect(record, dict, "the file")
        with_sums = record.get("format") == FORMAT_2
        if not with_sums:
            check_format(record, FORMAT)
        only_keys(record, ("format", "instance", "steps", "lower_bound", "made_by"), "")
        with with_context("instance"):
            instance = Instance.from_json(take(record, "instance", dict, ""))
        bound = None
        if "lower_bound" in record:
            inner = take(record, "lower_bound", dict, "")
            only_keys(inner, ("steps", "evidence"), "lower_bound")
            bound = LowerBound(
                take(inner, "steps", int, "lower_bound"),
                take(inner, "evidence", dict, "lower_bound", {}),
            )
        if with_sums != instance.collective.with_sums:
            raise InputError(
                f"{FORMAT_2} is for allreduce and scans, {FORMAT} for all else",
                where="format",
                hint="write the other one",
            )
        items = take(record, "steps", list, "")
        sums: Sums = ()
        if with_sums:
            items, sums = _take_sums(items, "steps")
        return cls(
            instance=instance,
            steps=steps_from_json(items, "steps"),
            lower_bound=bound,
            made_by=take(record, "made_by", dict, "", {}),
            sums=sums,
        )

    def save(self, path: str | Path) -> None:
        """Write the schedule as a file of the schedule format."""
        write_json(self.to_json(), path)

    @classmethod
    def load(cls, path: str | Path) -> "Schedule":
        """Read a file of the schedule format; an ``InputError`` names file and place."""
        with with_context(path):
            return cls.from_json(parse_json(read_text(path)))


def _as_tuples(steps: Any) -> Steps:
    """Return steps that the caller cannot change: tuples of a message and a path of whole numbers.

    Raises
    ------
    InputError
        A transfer is something else; the error names its place.
    """
    try:  # at once, as a schedule may have millions of transfers
        transfers = [*chain.from_iterable(steps)]
        paths = [path for _, path in transfers]
        kinds = {type(steps), *map(type, steps), *map(type, paths)}
        if kinds <= {tuple} and {*map(type, transfers)} <= {Transfer}:
            numbers = {type(message) for message, _ in transfers}
            if numbers.union(map(type, chain.from_iterable(paths))) <= {int}:
                return cast(Steps, steps)
    except (TypeError, ValueError):
        pass
    return tuple(
        tuple(_transfer(transfer, f"steps[{place}][{number}]") for number, transfer in enumerate(s))
        for place, s in enumerate(steps)
    )


def _transfer(transfer: Any, where: str) -> Transfer:
    if not isinstance(transfer, (tuple, list)) or len(transfer) != 2:
        raise InputError(
            f"{described(transfer)} is no transfer", where=where, hint="give a Transfer"
        )
    message, path = transfer
    if isinstance(path, (str, set, frozenset, dict)):
        raise InputError(f"{described(path)} is no path", where=where, hint="give nodes in order")
    return Transfer(whole(message, f"{where}.message"), whole_tuple(path, f"{where}.path"))


def steps_to_json(steps: Steps) -> list[list[dict[str, Any]]]:
    """Return the steps as JSON lists of ``{"message": m, "path": [...]}``."""
    return [
        [{"message": index(message), "path": list(map(index, path))} for message, path in step]
        for step in steps
    ]


def steps_from_json(items: list[Any], where: str) -> Steps:
    """Read the steps of a schedule; raise an ``InputError`` that names the place."""
    return tuple(
        tuple(
            _read_transfer(item, where, s, t)
            for t, item in enumerate(expect(step, list, f"{where}[{s}]"))
        )
        for s, step in enumerate(items)
    )


def _take_sums(items: list[Any], where: str) -> tuple[list[Any], Sums]:
    """Return the steps without the sums of their transfers, and the sums."""
    plain: list[list[Any]] = []
    sums: list[list[tuple[int, ...]]] = []
    for s, step in enumerate(items):
        plain.append([])
        sums.append([])
        for t, item in enumerate(expect(step, list, f"{where}[{s}]")):
            place = f"{where}[{s}][{t}]"
            record = expect(item, dict, place)
            sums[-1].append(take_list(record, "sum", read_integer, place))
            plain[-1].append({key: value for key, value in record.items() if key != "sum"})
    return plain, tuple(map(tuple, sums))


def _read_transfer(item: Any, where: str, step: int, index: int) -> Transfer:
    # A fast test first: a schedule has up to a million transfers, and nearly all are well-formed.
    if type(item) is dict and len(item) == 2:
        message, path = item.get("message"), item.get("path")
        if type(message) is int and type(path) is list and all(type(v) is int for v in path):
            return Transfer(message, tuple(path))
    place = f"{where}[{step}][{index}]"
    record = expect(item, dict, place)
    only_keys(record, ("message", "path"), place)
    take(record, "message", int, place)
    nodes = take_list(record, "path", read_integer, place)
    raise InputError(f"unreadable transfer over {len(nodes)} nodes", where=place, hint="rewrite it")
