"""Collectives: sets of messages to deliver or to combine."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, starmap
from typing import Any, NamedTuple, cast

from cchybrid.model.errors import InputError
from cchybrid.model.json_fields import expect, only_keys, read_integer, take, take_list


class Message(NamedTuple):
    """A message of a ``deliver`` collective: every destination gets the same data."""

    source: int
    destinations: tuple[int, ...]


class Reduction(NamedTuple):
    """A message of a ``combine`` collective: the sources' parts are combined on the way."""

    sources: tuple[int, ...]
    destination: int


@dataclass(frozen=True, repr=False)
class Collective:
    """A set of messages, all of the kind ``deliver`` or all of the kind ``combine``.

    Destinations (or sources) are distinct and do not contain the message's own source (or
    destination).
    """

    name: str
    messages: tuple[Message, ...] | tuple[Reduction, ...]

    def __repr__(self) -> str:
        return f"<Collective {self.name}: {len(self.messages)} messages, {self.kind}>"

    def __post_init__(self) -> None:
        if not self.messages:
            raise InputError("no messages", where="collective.messages", hint="name at least one")
        kinds = {type(message) for message in self.messages}
        if len(kinds) > 1:
            raise InputError(
                "messages of both kinds", where="collective.messages", hint="use one kind"
            )
        messages: tuple[Message | Reduction, ...] = self.messages
        for index, message in enumerate(messages):
            one, many = _one_and_many(message)
            if many and one not in many and (len(many) == 1 or len(set(many)) == len(many)):
                continue
            where = f"collective.messages[{index}]"
            if not many:
                raise InputError(
                    "no destinations or no sources", where=where, hint="name at least one"
                )
            if len(set(many)) != len(many):
                raise InputError("a node is listed twice", where=where, hint="name each node once")
            raise InputError(f"node {one} would send to itself", where=where, hint="leave it out")

    def __getstate__(self) -> tuple[str, str, array[int], array[int], array[int]]:
        """Return the state for pickling, with the messages in flat arrays."""
        pairs = list(map(_one_and_many, self.messages))
        ones, sizes = [one for one, _ in pairs], [len(many) for _, many in pairs]
        nodes = list(chain.from_iterable(many for _, many in pairs))
        return self.name, self.kind, array("q", ones), array("q", sizes), array("q", nodes)

    def __setstate__(self, state: tuple[str, str, array[int], array[int], array[int]]) -> None:
        """Set the state of a pickled collective, which has been checked before."""
        name, kind, ones, sizes, nodes = state
        left = iter(nodes)
        many = (tuple(islice(left, size)) for size in sizes)
        messages: tuple[Message, ...] | tuple[Reduction, ...]
        if kind == "deliver":
            messages = tuple(starmap(Message, zip(ones, many, strict=True)))
        else:
            messages = tuple(starmap(Reduction, zip(many, ones, strict=True)))
        self.__dict__.update(name=name, messages=messages)

    @property
    def kind(self) -> str:
        """The kind of all messages: ``deliver`` or ``combine``."""
        return "combine" if isinstance(self.messages[0], Reduction) else "deliver"

    @cached_property
    def deliver_messages(self) -> tuple[Message, ...]:
        """The messages as deliveries: a reduction read backwards is a broadcast."""
        if self.kind == "deliver":
            return cast(tuple[Message, ...], tuple(self.messages))
        return tuple(Message(*_one_and_many(message)) for message in self.messages)

    def to_json(self) -> dict[str, Any]:
        """Return the ``collective`` object of ``cchybrid-instance/1``."""
        if self.kind == "combine":
            messages = [
                {"sources": list(many), "destination": one}
                for one, many in map(_one_and_many, self.messages)
            ]
        else:
            messages = [
                {"source": one, "destinations": list(many)}
                for one, many in map(_one_and_many, self.messages)
            ]
        return {"name": self.name, "kind": self.kind, "messages": messages}

    @classmethod
    def from_json(cls, record: Any, where: str = "collective") -> Collective:
        """Read the ``collective`` object of ``cchybrid-instance/1``."""
        record = expect(record, dict, where)
        only_keys(record, ("name", "kind", "messages"), where)
        name = take(record, "name", str, where)
        kind = take(record, "kind", str, where)
        if kind == "deliver":
            return cls(name, take_list(record, "messages", _read_message, where))
        if kind == "combine":
            return cls(name, take_list(record, "messages", _read_reduction, where))
        raise InputError(
            f"unknown kind {kind!r}", where=f"{where}.kind", hint="use deliver or combine"
        )


def _one_and_many(message: Message | Reduction) -> tuple[int, tuple[int, ...]]:
    if isinstance(message, Message):
        return message.source, message.destinations
    return message.destination, message.sources


def _read_message(value: Any, where: str) -> Message:
    # A fast test first: a collective has up to a million messages, and nearly all are well-formed.
    if type(value) is dict and len(value) == 2:
        source, many = value.get("source"), value.get("destinations")
        if type(source) is int and type(many) is list and set(map(type, many)) == {int}:
            return Message(source, tuple(many))
    record = expect(value, dict, where)
    only_keys(record, ("source", "destinations"), where)
    return Message(
        take(record, "source", int, where), take_list(record, "destinations", read_integer, where)
    )


def _read_reduction(value: Any, where: str) -> Reduction:
    record = expect(value, dict, where)
    only_keys(record, ("sources", "destination"), where)
    return Reduction(
        take_list(record, "sources", read_integer, where), take(record, "destination", int, where)
    )
