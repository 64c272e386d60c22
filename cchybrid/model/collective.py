"""Collectives: sets of messages to deliver or to combine."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice, starmap
from typing import Any, NamedTuple, cast

from cchybrid.model.errors import InputError, with_context
from cchybrid.model.json_fields import expect, only_keys, read_integer, take, take_list
from cchybrid.model.shown import ShownCollective
from cchybrid.model.text import described
from cchybrid.model.whole_numbers import whole, whole_tuple

MAX_CHUNKS = 10_000
"""Largest number of chunks of a message; a collective lists every chunk of every message."""


class Message(NamedTuple):
    """A message of a ``deliver`` collective: every destination gets the same data."""

    source: int
    destinations: tuple[int, ...]


class Reduction(NamedTuple):
    """A message of a ``combine`` collective: the sources' parts are combined on the way."""

    sources: tuple[int, ...]
    destination: int


class AllReduction(NamedTuple):
    """A message of an ``allreduce`` collective: every member gets the sum of all members' parts."""

    members: tuple[int, ...]

    def needed(self, member: int) -> tuple[int, ...]:
        """Return the members whose parts a member needs."""
        return self.members

    def needing(self, member: int) -> tuple[int, ...]:
        """Return the other members that need the part of a member."""
        return tuple(other for other in self.members if other != member)


@dataclass(frozen=True)
class Scan:
    """A message of a ``scan`` collective: a member gets the sum of the parts up to its own.

    The order is that of ``members``.
    """

    members: tuple[int, ...]

    def needed(self, member: int) -> tuple[int, ...]:
        """Return the members whose parts a member needs."""
        return self.members[: self.members.index(member) + 1]

    def needing(self, member: int) -> tuple[int, ...]:
        """Return the other members that need the part of a member."""
        return self.members[self.members.index(member) + 1 :]


class Exscan(Scan):
    """A message of an ``exscan`` collective: a member gets the sum of the parts before its own."""

    def needed(self, member: int) -> tuple[int, ...]:
        """Return the members whose parts a member needs."""
        return super().needed(member)[:-1]


SummedMessage = AllReduction | Scan
"""A message whose transfers carry sums of the parts of its members."""
AnyMessage = Message | Reduction | SummedMessage
"""A message of one of the kinds."""


@dataclass(frozen=True, repr=False)
class Collective(ShownCollective):
    """A set of messages of one kind: those of ``kind``.

    Destinations (or sources) are distinct and do not contain the message's own source (or
    destination); members are distinct, and at least two.

    Parameters
    ----------
    messages
        The messages; one that is cut into chunks is listed once for each of them, one after
        another.
    chunks
        Equal parts into which every message is cut; see ``in_chunks``.
    """

    name: str
    messages: tuple[Message, ...] | tuple[Reduction, ...] | tuple[SummedMessage, ...]
    chunks: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InputError(
                f"{described(self.name)} is no name", where="collective.name", hint="give a text"
            )
        if isinstance(self.messages, str) or not isinstance(self.messages, Iterable):
            raise InputError(
                f"{described(self.messages)} is no list of messages",
                where="collective.messages",
                hint="give a list of Message, Reduction, AllReduction or Scan",
            )
        if not isinstance(self.messages, Sequence):
            self.__dict__["messages"] = tuple(self.messages)
        if not self.messages:
            raise InputError("no messages", where="collective.messages", hint="name at least one")
        kinds = {type(message) for message in self.messages}
        if len(kinds) > 1:
            raise InputError(
                "messages of several kinds", where="collective.messages", hint="use one kind"
            )
        messages = self._take_whole_numbers()
        self._check_chunks()
        pairs = messages if kinds == {Message} else map(one_and_many, messages)
        for index, (one, many) in enumerate(cast(Iterable[tuple[int, tuple[int, ...]]], pairs)):
            if many and one not in many and (len(many) == 1 or len(set(many)) == len(many)):
                continue
            message = messages[index]
            where = f"collective.messages[{index}]"
            if isinstance(message, SummedMessage):
                raise InputError(
                    "less than two members, or one is listed twice",
                    where=where,
                    hint="name two or more nodes, each once",
                )
            if not many:
                raise InputError(
                    "no destinations or no sources", where=where, hint="name at least one"
                )
            if len(set(many)) != len(many):
                raise InputError("a node is listed twice", where=where, hint="name each node once")
            raise InputError(f"node {one} would send to itself", where=where, hint="leave it out")

    def _check_chunks(self) -> None:
        self.__dict__["chunks"] = chunks = whole(self.chunks, "collective.chunks")
        if not 0 < chunks <= MAX_CHUNKS:
            raise InputError(
                f"{chunks} chunks", where="collective.chunks", hint=f"use 1 to {MAX_CHUNKS}"
            )
        first = self.messages[::chunks]
        if any(self.messages[i::chunks] != first for i in range(1, chunks)):
            raise InputError(
                f"the messages are no groups of {chunks} equal ones",
                where="collective.messages",
                hint="use the method in_chunks",
            )

    def _take_whole_numbers(self) -> tuple[AnyMessage, ...]:
        """Return the messages; nodes may be given as whole numbers of any type."""
        messages: tuple[AnyMessage, ...] = self.messages
        if type(messages) is tuple and _have_integers(messages):
            return messages
        messages = tuple(
            _with_integers(message, f"collective.messages[{index}]")
            for index, message in enumerate(messages)
        )
        self.__dict__["messages"] = messages
        return messages

    def __getstate__(self) -> tuple[str, str, int, array[int], array[int], array[int]]:
        """Return the state for pickling, with the messages in flat arrays."""
        return self.name, self.kind, self.chunks, *self.flat

    def __setstate__(self, state: tuple[str, str, int, array[int], array[int], array[int]]) -> None:
        """Set the state of a pickled collective, which has been checked before."""
        name, kind, chunks, ones, sizes, nodes = state
        left = iter(nodes)
        many = (tuple(islice(left, size)) for size in sizes)
        messages: Any
        if kind == "deliver":
            messages = tuple(starmap(Message, zip(ones, many, strict=True)))
        elif kind == "combine":
            messages = tuple(starmap(Reduction, zip(many, ones, strict=True)))
        else:
            form = _SUMMED[kind]
            messages = tuple(form((a, *rest)) for a, rest in zip(ones, many, strict=True))
        self.__dict__.update(name=name, messages=messages, chunks=chunks, flat=(ones, sizes, nodes))

    @property
    def kind(self) -> str:
        """The kind of all messages: ``deliver``, ``combine``, or one ``with_sums``.

        These are ``allreduce``, ``scan`` and ``exscan``.
        """
        return _KINDS.get(type(self.messages[0]), "deliver")

    @property
    def with_sums(self) -> bool:
        """Whether transfers carry sums of the parts of members: an allreduce or a scan."""
        return isinstance(self.messages[0], SummedMessage)

    @cached_property
    def deliver_messages(self) -> tuple[Message, ...]:
        """The messages as deliveries: a reduction read backwards is a broadcast.

        Of an ``allreduce`` or a scan, only the part of each message's first member, which reaches
        all others.
        """
        if self.kind == "deliver":
            return cast(tuple[Message, ...], tuple(self.messages))
        return tuple(Message(*one_and_many(message)) for message in self.messages)

    @cached_property
    def flat(self) -> tuple[array[int], array[int], array[int]]:
        """The ``deliver_messages`` in flat arrays, made once as there are up to a million.

        The source of each, the number of its destinations, and the destinations of all.
        """
        pairs = self.deliver_messages
        ones, sizes = [one for one, _ in pairs], [len(many) for _, many in pairs]
        nodes = list(chain.from_iterable(many for _, many in pairs))
        return array("q", ones), array("q", sizes), array("q", nodes)

    def in_chunks(self, chunks: int) -> Collective:
        """Return the collective with every message cut into this number of equal chunks.

        Chunk c of message m has the number m times ``chunks`` plus c.
        """
        number = whole(chunks, "chunks")
        if not 0 < number <= MAX_CHUNKS:
            raise InputError(f"{number} chunks", where="chunks", hint=f"use 1 to {MAX_CHUNKS}")
        repeated = chain.from_iterable((m,) * number for m in self.messages[:: self.chunks])
        return Collective(self.name, cast(tuple[Message, ...], tuple(repeated)), number)

    def to_json(self) -> dict[str, Any]:
        """Return the ``collective`` object of the instance format: each message once."""
        pairs = map(one_and_many, self.messages[:: self.chunks])
        messages: list[dict[str, Any]]
        if self.with_sums:
            messages = [{"members": [one, *many]} for one, many in pairs]
        elif self.kind == "combine":
            messages = [{"sources": list(many), "destination": one} for one, many in pairs]
        else:
            messages = [{"source": one, "destinations": list(many)} for one, many in pairs]
        record = {"name": self.name, "kind": self.kind, "messages": messages}
        return record if self.chunks == 1 else {**record, "chunks": self.chunks}

    @classmethod
    def from_json(cls, record: Any, where: str = "collective") -> Collective:
        """Read the ``collective`` object of the instance format."""
        record = expect(record, dict, where)
        only_keys(record, ("name", "kind", "messages", "chunks"), where)
        name = take(record, "name", str, where)
        kind = take(record, "kind", str, where)
        if kind not in _READERS:
            raise InputError(
                f"unknown kind {kind!r}", where=f"{where}.kind", hint=f"use {', '.join(_READERS)}"
            )
        read = _READERS[kind]
        found = cls(name, cast(Any, take_list(record, "messages", read, where)))
        if "chunks" not in record:
            return found
        with with_context(where):
            return found.in_chunks(take(record, "chunks", int, ""))


def one_and_many(message: AnyMessage) -> tuple[int, tuple[int, ...]]:
    """Return the source of a message and its destinations.

    Of a reduction its destination and its sources, of an allreduce or a scan the first member and
    the others.
    """
    if isinstance(message, Message):
        return message.source, message.destinations
    if isinstance(message, SummedMessage):
        return (message.members[0] if message.members else -1), message.members[1:]
    return message.destination, message.sources


def _have_integers(messages: tuple[AnyMessage, ...]) -> bool:
    # All at once, as a collective has up to a million messages.
    kinds = {*map(type, messages)}
    if not kinds <= {Message, Reduction, *_SUMMED.values()}:
        return False
    summed = [message for message in messages if isinstance(message, SummedMessage)]
    if any(type(message.members) is not tuple for message in summed):
        return False
    pairs = messages if kinds == {Message} else [*map(one_and_many, messages)]
    many = [each for _, each in cast(Iterable[tuple[int, tuple[int, ...]]], pairs)]
    if {*map(type, many)} != {tuple}:
        return False
    ones = {type(one) for one, _ in cast(Iterable[tuple[int, Any]], pairs)}
    return ones.union(map(type, chain.from_iterable(many))) <= {int}


def _with_integers(message: Any, where: str) -> AnyMessage:
    if isinstance(message, Message):
        return Message(whole(message.source, where), whole_tuple(message.destinations, where))
    if isinstance(message, Reduction):
        return Reduction(whole_tuple(message.sources, where), whole(message.destination, where))
    if isinstance(message, SummedMessage):
        return type(message)(whole_tuple(message.members, where))
    raise InputError(
        f"{str(message)[:40]!r} is no message",
        where=where,
        hint="give Message, Reduction, AllReduction or Scan; pairs: see cchybrid.collective",
    )


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


def _read_members(form: Callable[..., AnyMessage], value: Any, where: str) -> AnyMessage:
    record = expect(value, dict, where)
    only_keys(record, ("members",), where)
    return form(take_list(record, "members", read_integer, where))


_SUMMED: dict[str, Any] = {"allreduce": AllReduction, "scan": Scan, "exscan": Exscan}
_KINDS = {Reduction: "combine", **{form: kind for kind, form in _SUMMED.items()}}
_READERS: dict[str, Callable[[Any, str], AnyMessage]] = {
    "deliver": _read_message,
    "combine": _read_reduction,
    **{kind: partial(_read_members, form) for kind, form in _SUMMED.items()},
}
