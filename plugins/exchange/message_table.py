"""Collectives from the chunks of a foreign file: equal messages become the chunks of one."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from cchybrid.library.patterns import pattern_of
from cchybrid.model import AllReduction, Collective, Message, Network, Reduction, Scan
from cchybrid.model.collective import MAX_CHUNKS, AnyMessage, one_and_many
from cchybrid.model.errors import InputError
from cchybrid.model.shown import counted
from cchybrid.plugin.imported import ImportRequest

K = TypeVar("K", bound=Hashable)
MAX_MESSAGES = 1_000_000
"""Messages, chunks counted, of a foreign schedule."""


def collective_of(
    chunks: Iterable[tuple[K, AnyMessage]], terminals: Iterable[int]
) -> tuple[Collective, dict[K, int]]:
    """Return a collective, and the number of the message of each chunk.

    Parameters
    ----------
    chunks
        Pairs of a key and a message; messages that are equal are chunks of one.
    terminals
        The nodes of the network that take part in collectives.

    Raises
    ------
    InputError
        There are none, or too many.
    """
    groups: dict[AnyMessage, list[K]] = {}
    for total, (key, message) in enumerate(chunks, 1):
        if total > MAX_MESSAGES:
            raise InputError(f"more than {MAX_MESSAGES:,} messages", hint="audit a smaller file")
        groups.setdefault(message, []).append(key)
    if not groups:
        raise InputError("nothing is to be sent", hint="give a file with messages")
    messages = sorted(groups, key=one_and_many)
    counts = {len(keys) for keys in groups.values()}
    equal = len(counts) == 1 and max(counts) <= MAX_CHUNKS
    found = Collective(
        pattern_of(messages, terminals) if equal else "custom",
        cast(Any, tuple(messages if equal else (m for m in messages for _ in groups[m]))),
    )
    if equal:
        found = found.in_chunks(max(counts))
    numbers: dict[K, int] = {}
    for message in messages:
        for key in groups[message]:
            numbers[key] = len(numbers)
    return found, numbers


def collective_for(
    request: ImportRequest, messages: Mapping[K, AnyMessage], terminals: Iterable[int]
) -> tuple[Collective, dict[K, int]]:
    """Return the collective that the user names, else that of the messages, and their numbers."""
    if request.collective is None:
        return collective_of(messages.items(), terminals)
    return match_messages(request.collective, messages, request.network)


def match_messages(
    collective: Collective, given: Mapping[K, AnyMessage], network: Network | None
) -> tuple[Collective, dict[K, int]]:
    """Return a collective that the user names, and the number of each chunk in it.

    The network has the names of nodes, for messages.

    If every message is given equally often, more often than it is listed, these are its chunks,
    and the collective is returned in as many.

    Raises
    ------
    InputError
        A chunk is none of its messages, or there are more of them than chunks.
    """
    listed: tuple[AnyMessage, ...] = collective.messages
    required, found = Counter(map(_sorted, listed)), Counter(map(_sorted, given.values()))
    shares = {divmod(times, required[message] or 1) for message, times in found.items()}
    if len(shares) == 1 and found.keys() <= required.keys():
        times, rest = shares.pop()
        chunks = times * collective.chunks
        if times > 1 and rest == 0 and chunks <= MAX_CHUNKS:
            collective = collective.in_chunks(chunks)
            listed = collective.messages
    left: dict[AnyMessage, list[int]] = {}
    for number, message in reversed(list(enumerate(listed))):
        left.setdefault(_sorted(message), []).append(number)
    numbers: dict[K, int] = {}
    for key, message in given.items():
        plain = _sorted(message)
        if not left.get(plain):
            many = f"listed {counted(found[plain], 'time')}, in {collective.name} "
            reason = f"none of {collective.name}"
            raise InputError(
                f"the message {_shown(message, network)} is "
                + (many + f"{required[plain]}" if required[plain] else reason),
                where="--collective",
                hint="leave out --collective to see what the file does",
            )
        numbers[key] = left[plain].pop()
    return collective, numbers


def at_nodes(message: AnyMessage, nodes: Sequence[int] | Mapping[int, int]) -> AnyMessage:
    """Return the message of GPUs as one of the nodes that they are."""
    if isinstance(message, Scan):
        return type(message)(tuple(nodes[gpu] for gpu in message.members))
    ends = (
        tuple(sorted(nodes[gpu] for gpu in end)) if isinstance(end, tuple) else nodes[end]
        for end in message
    )
    return type(message)(*ends)  # type: ignore[arg-type]


def _sorted(message: AnyMessage) -> AnyMessage:
    """Return the message with its nodes in ascending order; a scan as it is."""
    if isinstance(message, Message):
        return Message(message.source, tuple(sorted(message.destinations)))
    if isinstance(message, Reduction):
        return Reduction(tuple(sorted(message.sources)), message.destination)
    return message if isinstance(message, Scan) else AllReduction(tuple(sorted(message.members)))


def _shown(message: AnyMessage, network: Network | None) -> str:
    name = str if network is None else network.node_name
    one, many = name(one_and_many(message)[0]), one_and_many(message)[1]
    nodes = ", ".join(map(name, many[:6])) + (", ..." if len(many) > 6 else "")
    if isinstance(message, AllReduction | Scan):
        return f"of members {one}, {nodes}"
    return f"from {nodes} to {one}" if isinstance(message, Reduction) else f"from {one} to {nodes}"
