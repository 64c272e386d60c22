"""Named collectives: sources and destinations of the messages of every pattern.

The abbreviations and definitions are those of Jaroš, "Evolutionary Design of Collective
Communications on Wormhole Networks" (Brno 2010), chapter 3; "section" and "eq." below refer to it.
The aliases are the names of MPI and of the libraries NCCL and SCCL.
"""

import difflib
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cchybrid.library.node_lists import parse_nodes, parse_pairs
from cchybrid.library.node_numbers import node_numbers, node_pairs, read_pairs
from cchybrid.library.records import CollectiveInfo, Roles
from cchybrid.library.roles import (
    check_participants,
    group_of,
    listed,
    roles_of,
    senders_and_receivers,
)
from cchybrid.model import AllReduction, Collective, Exscan, Message, Network, Reduction, Scan
from cchybrid.model.errors import InputError, with_context

MAX_PAIRS = 4_194_304
"""Pairs of a source and a destination that a named collective may have (2048 nodes to all)."""
PAIRS_OF_FILE = "pairs:@"
"""The name of a collective whose pairs are in a file, before the file's path."""

_SEE_LIST = "`cchybrid collectives` lists the names"


def collective(
    name: str,
    network: Network,
    *,
    root: int | None = None,
    transmitters: Sequence[int] | None = None,
    receivers: Sequence[int] | None = None,
    participants: Sequence[int] | None = None,
    modes: tuple[Sequence[int] | None, Sequence[int] | None] = (None, None),
    patterns: Iterable[CollectiveInfo] | None = None,
) -> Collective:
    """Return the collective of this name on a network.

    Parameters
    ----------
    name
        A pattern's name or alias, followed by a colon and an argument where it takes one:
        ``AAB``, ``all-gather``, ``multicast:1,4-6``. Case, hyphens and underscores do not count.
    network
        Its terminals may take part.
    root
        The root of one-to-all and all-to-one patterns. By default the only
        transmitter or else the only receiver of ``modes``, if there is just one, otherwise the
        first participant.
    transmitters, receivers
        Senders of MNB and MNS, receivers of these and of multicast; by default those of ``modes``.
    participants
        The nodes that take part, as senders and as receivers; all others only forward. By default
        all terminals. The name of the collective then ends in ``among`` and the nodes.
    modes
        Transmitters and receivers of a network file, by default all terminals. They are the
        participants of every pattern.
    patterns
        The known patterns; by default ``PATTERNS``.

    Raises
    ------
    InputError
        An unknown name, an invalid argument, a role that the pattern does not use, a root or other
        node that is no terminal, fewer than two participants, or more pairs than ``MAX_PAIRS``.
    """
    patterns = PATTERNS if patterns is None else tuple(patterns)
    word, colon, argument = name.strip().partition(":")
    by_key = _by_key(patterns)
    info = by_key.get(name_key(word))
    if info is None:
        raise _unknown(word, by_key)
    if colon and ":" not in info.usage:
        raise InputError(f"{info.name} takes no argument", hint=f"write {info.usage}")
    named = {"root": root, "transmitters": transmitters, "receivers": receivers}
    _refuse_unused(info, [role for role, nodes in named.items() if nodes is not None], patterns)
    if argument and receivers is not None and info.usage.endswith("[:NODES]"):
        raise InputError(
            f"{info.name} lists its receivers after the colon", where="receivers", hint="drop one"
        )
    with with_context(f"{info.name} on {network.name}"):
        if participants is None:
            sending = modes[0] if transmitters is None else transmitters
            accepting = modes[1] if receivers is None else receivers
            sends = receivers is not None
            roles = roles_of(network, root, sending, accepting, argument.strip(), sends)
            return _named(info.build(roles), info, argument)
        group = group_of(network, participants, transmitters, receivers)
        roles = roles_of(network, root, group, group, argument.strip())
        found = _named(info.build(roles), info, argument)
        ends = set().union(*senders_and_receivers(found))
        if outside := sorted(ends - {*group}):
            raise InputError(
                f"it uses nodes that take no part: {listed(outside, network)}",
                where="participants",
                hint="add them, or leave participants out",
            )
        if len(group) == len(network.terminals):
            return found
        return replace(found, name=f"{found.name} among {listed(group, network)}")


def _named(found: Collective, info: CollectiveInfo, argument: str) -> Collective:
    """Return the collective by the name that was asked for, whatever a plugin calls it."""
    if found.name.partition(":")[0].lower() == info.name.lower():
        return found
    return replace(found, name=f"{info.name}:{argument}" if argument else info.name)


def _refuse_unused(
    info: CollectiveInfo, named: Sequence[str], patterns: Iterable[CollectiveInfo]
) -> None:
    """Raise an ``InputError`` for a named role without use, with the patterns that use it."""
    for role in named:
        if role not in info.roles:
            fitting = [each for each in patterns if {*named} <= {*each.roles}]
            users = fitting or [each for each in patterns if role in each.roles]
            *others, last = [each.name for each in users] or ["another collective"]
            listed = f"{', '.join(others)} or {last}" if others else last
            raise InputError(
                f"{info.name} has no {role}", where=role, hint=f"leave it out, or use {listed}"
            )


def canonical_name(name: str) -> str:
    """Return a name with its argument as ``PATTERNS`` spells it: ``all-gather`` gives ``AAB``.

    Unknown names are returned unchanged.
    """
    return all_names(name)[0]


def all_names(name: str) -> list[str]:
    """Return a name as ``canonical_name`` does, and its aliases, each with its argument."""
    word, colon, argument = name.partition(":")
    info = _by_key(PATTERNS).get(name_key(word))
    names = (word,) if info is None else (info.name, *info.aliases)
    return [each + colon + argument for each in names]


def _by_key(patterns: Iterable[CollectiveInfo]) -> dict[str, CollectiveInfo]:
    """Return the patterns by the keys of their aliases and, with precedence, of their names."""
    patterns = tuple(patterns)
    found = {name_key(alias): info for info in patterns for alias in info.aliases}
    return found | {name_key(info.name): info for info in patterns}


def name_key(word: str) -> str:
    """Return a name of a collective, or a pattern of names, in the form in which they compare."""
    return re.sub(r"(\[[^][]*\])|[\s_-]", r"\1", word).lower()  # the hyphen of ``[a-z]`` stays


def _unknown(word: str, by_key: dict[str, CollectiveInfo]) -> InputError:
    near = difflib.get_close_matches(name_key(word), by_key, n=2, cutoff=0.6)
    infos = [by_key[match] for match in near]
    guesses = " or ".join(dict.fromkeys(" or ".join((i.usage, *i.aliases)) for i in infos))
    hint = f"did you mean {guesses}? {_SEE_LIST}" if guesses else _SEE_LIST
    return InputError(f"unknown collective {word[:40]!r}", hint=hint)


def _read_pairs(text: str, network: Network | None) -> list[tuple[int, int]]:
    if network is None or network.node_names is None:
        return parse_pairs(text)
    return node_pairs(text, network)


def _others(nodes: Sequence[int], node: int) -> tuple[int, ...]:
    return tuple(other for other in nodes if other != node)


def _check_pairs(sources: int, destinations: int) -> None:
    if sources * destinations > MAX_PAIRS:
        raise InputError(
            f"{sources} sources with {destinations} destinations each are too many",
            hint=f"use a smaller network: at most {MAX_PAIRS} pairs",
        )


def _all(roles: Roles) -> tuple[int, ...]:
    """Return the participants, unless they are too many for a pattern of all pairs."""
    _check_pairs(len(roles.participants), len(roles.participants))
    return roles.participants


def _broadcast(node: int, others: tuple[int, ...]) -> list[Message]:
    """Return one message to all others (sections 3.3.1, 3.4.1 and 3.5, eq. 3.7)."""
    return [Message(node, others)] if others else []


def _scatter(node: int, others: tuple[int, ...]) -> list[Message]:
    """Return a message to each other node (sections 3.3.2, 3.4.2 and 3.5, eq. 3.8 and 6.1)."""
    return [Message(node, (other,)) for other in others]


def _gather(node: int, others: tuple[int, ...]) -> list[Message]:
    """Return a message from each other node (section 3.3.2 and table 3.1)."""
    return [Message(other, (node,)) for other in others]


def _reduction(node: int, others: tuple[int, ...]) -> list[Reduction]:
    """Return the reduction of the parts of all others (section 3.3.1 and table 3.1)."""
    return [Reduction(others, node)]


Form = Callable[[int, tuple[int, ...]], list[Any]]
"""Returns the messages between a node and all others."""


def _between(name: str, form: Form, nodes: Sequence[int], others: Sequence[int]) -> Collective:
    _check_pairs(len(nodes), len(others))
    messages = (each for node in nodes for each in form(node, _others(others, node)))
    return Collective(name, tuple(messages))


def _at_root(name: str, form: Form) -> Callable[[Roles], Collective]:
    return lambda roles: _between(name, form, (roles.root,), roles.participants)


def _at_all(name: str, form: Form) -> Callable[[Roles], Collective]:
    return lambda roles: _between(name, form, roles.participants, roles.participants)


def _at_transmitters(name: str, form: Form) -> Callable[[Roles], Collective]:
    return lambda roles: _between(name, form, roles.transmitters, roles.receivers)


def _multicast(roles: Roles) -> Collective:
    """MC, section 3.3.1: OAB to some nodes; a root that is listed sends nothing to itself."""
    nodes = roles.receivers
    if roles.argument:
        network = roles.network
        nodes = (
            parse_nodes(roles.argument)
            if network is None
            else node_numbers(roles.argument, network)
        )
    check_participants(nodes, roles)
    others = _others(nodes, roles.root)
    if not others:
        raise InputError("the root alone is listed", hint="list the nodes that it sends to")
    name = f"multicast:{listed(nodes, roles.network)}" if roles.argument else "multicast"
    return Collective(name, (Message(roles.root, others),))


def _bits(count: int) -> int:
    bits = count.bit_length() - 1
    if count != 1 << bits:
        raise InputError(
            f"{count} participants are no power of two", hint="use another permutation"
        )
    return bits


def _transpose(count: int) -> list[int]:
    side = round(count**0.5)
    if side * side != count:
        raise InputError(f"{count} participants are no square", hint="use another permutation")
    return [place % side * side + place // side for place in range(count)]


def _bit_reversal(count: int) -> list[int]:
    bits = _bits(count)
    return [int(f"{place:0{bits}b}"[::-1], 2) for place in range(count)]


def _complement(count: int) -> list[int]:
    mask = (1 << _bits(count)) - 1
    return [place ^ mask for place in range(count)]


PERMUTATIONS: dict[str, Callable[[int], list[int]]] = {
    "reverse": lambda count: list(range(count - 1, -1, -1)),
    "shift": lambda count: [(place + count // 2) % count for place in range(count)],
    "transpose": _transpose,
    "bit-reversal": _bit_reversal,
    "complement": _complement,
}
"""By name, the functions from the number of participants to the place that each sends to."""


def _permutation(roles: Roles) -> Collective:
    """Permutation, section 3.2, class 3: every node sends and receives at most one message.

    The named permutations (Dally and Towles 2004, section 3.2) count the participants from 0 in
    ascending order. With P of them, place i sends to place: ``reverse`` P - 1 - i; ``shift``
    i + floor(P / 2) mod P; ``transpose`` (c, r) where i = (r, c) in a square of P places;
    ``bit-reversal`` i with its bits in reverse order; ``complement`` i with its bits inverted
    (for both P is a power of two, and then ``complement`` equals ``reverse``). ``random-SEED`` is
    drawn anew for every seed; ``0>3,3>1`` lists nodes by number. Fixed points send nothing.
    """
    kind = roles.argument.lower()
    nodes = roles.participants
    seed = re.fullmatch(r"random-([0-9]{1,18})", kind)
    if ">" in kind:
        kind = roles.argument
        pairs = _read_pairs(kind, roles.network)
        for side, word in ((0, "sends"), (1, "receives")):
            twice = [node for node, n in Counter(pair[side] for pair in pairs).items() if n > 1]
            if twice:
                name = listed(twice[:1], roles.network)
                raise InputError(f"node {name} {word} twice", hint="use pairs: for that")
    elif seed or kind in PERMUTATIONS:
        if seed:
            order = list(range(len(nodes)))
            random.Random(int(seed[1])).shuffle(order)
        else:
            order = PERMUTATIONS[kind](len(nodes))
        pairs = [(nodes[place], nodes[goal]) for place, goal in enumerate(order)]
    else:
        known = ", ".join(PERMUTATIONS)
        raise InputError(
            f"unknown permutation {kind[:40]!r}" if kind else "no permutation is named",
            hint=f"use {known}, random-SEED, or a list such as 0>3,3>1",
        )
    moving = [(a, b) for a, b in pairs if a != b]
    if not moving:
        raise InputError("every node stays where it is", hint="use another permutation")
    return _from_pairs(f"permutation:{kind}", moving, roles)


def _pairs(roles: Roles) -> Collective:
    """Any list of sources and destinations; a pair listed twice is two messages."""
    if roles.argument.startswith("@"):
        path = Path(roles.argument[1:])
        return _from_pairs(PAIRS_OF_FILE + path.name, read_pairs(path, roles.network), roles)
    pairs = _read_pairs(roles.argument, roles.network)
    shown = ",".join(f"{listed([a], roles.network)}>{listed([b], roles.network)}" for a, b in pairs)
    return _from_pairs(f"pairs:{shown}", pairs, roles)


def _from_pairs(name: str, pairs: Sequence[tuple[int, int]], roles: Roles) -> Collective:
    for a, b in pairs:
        if a == b:
            node = listed([a], roles.network)
            raise InputError(f"node {node} would send to itself", hint=f"drop {node}>{node}")
    check_participants((node for pair in pairs for node in pair), roles)
    return Collective(name, tuple(Message(a, (b,)) for a, b in pairs))


PATTERNS: tuple[CollectiveInfo, ...] = (
    CollectiveInfo("OAB", "OAB", _at_root("OAB", _broadcast), "one-to-all broadcast from the root",
        ("broadcast", "bcast"), roles=("root",)),
    CollectiveInfo("AAB", "AAB", _at_all("AAB", _broadcast), "all-to-all broadcast (gossiping)",
        ("allgather",)),
    CollectiveInfo("OAS", "OAS", _at_root("OAS", _scatter), "one-to-all scatter from the root",
        ("scatter",), roles=("root",)),
    CollectiveInfo("AAS", "AAS", _at_all("AAS", _scatter), "all-to-all scatter (complete exchange)",
        ("alltoall",)),
    CollectiveInfo("AOG", "AOG", _at_root("AOG", _gather), "all-to-one gather to the root",
        ("gather",), roles=("root",)),
    CollectiveInfo("AOR", "AOR", _at_root("AOR", _reduction), "all-to-one reduction to the root",
        ("reduce",), roles=("root",)),
    CollectiveInfo("AAG", "AAG", _at_all("AAG", _gather),
        "all-to-all gather: alltoall read by receivers"),
    CollectiveInfo("AAR", "AAR", _at_all("AAR", _reduction),
        "all-to-all reduction, one to every node", ("reduce-scatter",)),
    CollectiveInfo("allreduce", "allreduce",
        lambda roles: Collective("allreduce", (AllReduction(roles.participants),)),
        "every node gets the sum of all parts; several chunks take several paths"),
    CollectiveInfo("scan", "scan", lambda roles: Collective("scan", (Scan(_all(roles)),)),
        "prefix sums: every node gets the sum of the parts of the nodes up to itself, by number"),
    CollectiveInfo("exscan", "exscan", lambda roles: Collective("exscan", (Exscan(_all(roles)),)),
        "the same without its own part; the first node gets nothing", ("exclusive-scan",)),
    CollectiveInfo("MNB", "MNB", _at_transmitters("MNB", _broadcast),
        "broadcast from each transmitter to all receivers", ("many-to-many-broadcast",),
        roles=("transmitters", "receivers")),
    CollectiveInfo("MNS", "MNS", _at_transmitters("MNS", _scatter),
        "scatter from each transmitter to all receivers",
        ("many-to-many", "many-to-many-scatter"), roles=("transmitters", "receivers")),
    CollectiveInfo("multicast", "multicast[:NODES]", _multicast,
        "broadcast from the root to the listed nodes, such as 1,4-6, or to the receivers",
        roles=("root", "receivers")),
    CollectiveInfo("permutation", "permutation:KIND", _permutation,
        "reverse, shift, transpose, bit-reversal, complement, random-SEED, or 0>3,3>1"),
    CollectiveInfo("pairs", "pairs:A>B,...|@FILE", _pairs,
        "any messages, such as 0>3,2>5, or the lines source,destination of a CSV file"),
)  # fmt: skip
