"""JSON algorithms of SCCL and msccl-tools: chunks with addresses, steps with rounds, a topology."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from cchybrid.model import (
    AllReduction,
    Channel,
    Instance,
    Message,
    Network,
    Reduction,
    Schedule,
    Transfer,
)
from cchybrid.model.collective import AnyMessage
from cchybrid.model.errors import InputError
from cchybrid.model.json_fields import expect, parse_json, read_integer, take, take_list
from cchybrid.plugin.imported import BrokenRule, Imported, ImportRequest, Place

from .message_table import MAX_MESSAGES, at_nodes, collective_for
from .msccl_import import HOP_BY_HOP
from .placement import nodes_by_number

TYPE_KEYS = ("msccl_type", "sccl_type")
MAX_NODES = 4096

Part = tuple[tuple[int, ...], tuple[int, ...]]
"""The nodes that have a chunk at the start, and those that need it in the end."""


def recognises_sccl_json(text: str) -> bool:
    """Return whether a text may be a JSON algorithm of SCCL or msccl-tools."""
    return text.lstrip().startswith("{") and any(f'"{key}"' in text for key in TYPE_KEYS)


def read_sccl_json(text: str, request: ImportRequest) -> Imported:
    """Return a JSON algorithm as an instance and a schedule.

    Raises
    ------
    InputError
        It is none, or uses what the model cannot mean: pipelining, or a collective that is
        neither a set of broadcasts nor a reduction nor an allreduce.
    """
    record = expect(parse_json(text), dict, "the file")
    _check_type(record, "algorithm", "the file")
    if take(take(record, "instance", dict, "", {}), "pipeline", object, "instance", None):
        raise InputError("a pipelined algorithm", where="instance", hint="steps would overlap")
    topology = take(record, "topology", dict, "")
    network = _read_network(topology)
    parts = _read_parts(take(record, "collective", dict, ""), network.nodes)
    index = nodes_by_number(range(network.nodes), request.network)
    messages = {
        address: at_nodes(_message(address, parts[address]), index) for address in sorted(parts)
    }
    collective, numbers = collective_for(request, messages, (request.network or network).terminals)
    steps, rounds, broken = _read_steps(record, parts, network.nodes, collective.kind)
    stated = (("instance", "steps", len(steps)), ("collective", "nodes", network.nodes))
    for part, key, count in stated:
        if take(take(record, part, dict, "", {}), key, int, part, count) != count:
            raise InputError(
                f"it says {record[part][key]}, and the file has {count}",
                where=f"{part}.{key}", hint="correct it, or leave it out",
            )  # fmt: skip
    groups = _groups(topology)
    if request.network is None:
        broken += _overloaded_groups(steps, rounds, groups)
    checked = "checked, and not in the bound"
    checked = checked if request.network is None else "not checked on another network"
    words = f"capacities shared by groups of links ({len(groups)}) are {checked}"
    limits = (words,) if groups else ()
    places: dict[Place, str] = {}
    transfers: list[list[Transfer]] = []
    sums: list[tuple[tuple[int, ...], ...]] = []
    for number, step in enumerate(steps):
        transfers.append([])
        for slot, (address, source, target, _) in enumerate(step):
            places[number, slot] = f"step {number}, send {slot} (address {address})"
            transfers[-1].append(Transfer(numbers[address], (index[source], index[target])))
        sums.append(tuple(tuple(sorted(index[n] for n in mask)) for *_, mask in step))
    reads_backwards = collective.kind == "combine"
    model = HOP_BY_HOP
    if set(rounds) != {1} and rounds:
        ordered = rounds[::-1] if reads_backwards else rounds
        model = type(model)("store-and-forward", rounds=tuple(ordered))
    instance = Instance(request.network or network, collective, model)
    schedule = Schedule(
        instance,
        tuple(map(tuple, transfers)),
        sums=tuple(sums) if collective.kind == "allreduce" else (),
    )
    fact = f"{network.nodes} nodes, {len(steps)} steps, {sum(rounds)} rounds"
    return Imported(instance, schedule, tuple(broken), places, limits=limits, facts=(fact,))


def _check_type(record: dict[str, Any], expected: str, where: str) -> None:
    found = next((record[key] for key in TYPE_KEYS if key in record), None)
    if found != expected:
        raise InputError(
            f"it is of type {str(found)[:40]!r}", where=where, hint=f"give one of type {expected}"
        )


def _read_network(topology: dict[str, Any]) -> Network:
    _check_type(topology, "topology", "topology")
    rows = take(topology, "links", list, "topology")
    if not 1 < len(rows) <= MAX_NODES:
        raise InputError(f"{len(rows)} nodes", where="topology.links", hint=f"2 to {MAX_NODES}")
    channels: list[Channel] = []
    for target, row in enumerate(rows):
        where = f"topology.links[{target}]"
        if len(expect(row, list, where)) != len(rows):
            raise InputError(f"{len(row)} numbers", where=where, hint=f"give {len(rows)}")
        for source, size in enumerate(row):
            if expect(size, int, f"{where}[{source}]") > 0 and source != target:
                channels.append(Channel(source, target, size))
    name = take(topology, "name", str, "topology", "topology")
    return Network(name[:200], len(rows), tuple(sorted(channels)))


def _read_parts(collective: dict[str, Any], nodes: int) -> dict[int, list[Part]]:
    """Return the parts of each address: its chunks, of which only a reduction has several."""
    _check_type(collective, "collective", "collective")
    if take(collective, "triggers", dict, "collective", {}):
        raise InputError("triggers", where="collective.triggers", hint="steps say what waits")
    parts: defaultdict[int, list[Part]] = defaultdict(list)
    chunks = take(collective, "chunks", list, "collective")
    if len(chunks) > MAX_MESSAGES:
        raise InputError(f"more than {MAX_MESSAGES:,} chunks", hint="audit a smaller file")
    for index, chunk in enumerate(chunks):
        where = f"collective.chunks[{index}]"
        record = expect(chunk, dict, where)
        _check_type(record, "chunk", where)
        sides = []
        for key in ("pre", "post"):
            listed = tuple(sorted(set(take_list(record, key, read_integer, where))))
            if any(not 0 <= node < nodes for node in listed):
                raise InputError("no such node", where=f"{where}.{key}", hint=f"0 to {nodes - 1}")
            sides.append(listed)
        if sides[1] and not sides[0]:
            raise InputError(
                "a chunk that is needed and that no node has",
                where=where,
                hint="name the nodes that have it in pre",
            )
        address = take(record, "addr", int, where, index)
        if sides[0] and sides[1]:
            parts[address].append((sides[0], sides[1]))
    # What only nodes need that have it from the start is no message.
    return {
        address: listed
        for address, listed in parts.items()
        if len(listed) > 1 or not {*listed[0][1]} <= {*listed[0][0]}
    }


def _message(address: int, parts: list[Part]) -> AnyMessage:
    where = f"collective, address {address}"
    if len(parts) == 1:
        (pre, post) = parts[0]
        needed = tuple(node for node in post if node not in pre)
        if len(pre) != 1 or not needed:
            raise InputError(
                f"a chunk that {len(pre)} nodes have at the start and {len(needed)} need",
                where=where, hint="one node has it, others need it",
            )  # fmt: skip
        return Message(pre[0], needed)
    owners = [pre[0] for pre, _ in parts if len(pre) == 1]
    posts = {post for _, post in parts}
    if len(owners) != len(parts) or len(set(owners)) != len(parts) or len(posts) != 1:
        raise InputError(
            "parts that are no reduction", where=where, hint="one node has each, all go together"
        )
    members, post = tuple(sorted(owners)), posts.pop()
    if len(post) == 1:
        sources = tuple(node for node in members if node != post[0])
        if len(sources) == len(members) - 1:
            return Reduction(sources, post[0])
    if post == members:
        return AllReduction(members)
    raise InputError(
        "a reduction to some of its nodes", where=where, hint="reduce to one node, or to all"
    )


Sends = list[list[tuple[int, int, int, tuple[int, ...]]]]
"""Per step: address, source, destination, and the nodes whose parts are sent."""


def _read_steps(
    record: dict[str, Any], parts: dict[int, list[Part]], nodes: int, kind: str
) -> tuple[Sends, list[int], list[BrokenRule]]:
    steps: Sends = []
    rounds: list[int] = []
    broken: list[BrokenRule] = []
    held: defaultdict[tuple[int, int], int] = defaultdict(int)
    for address, listed in parts.items():
        for pre, _ in listed:
            for node in pre:
                held[address, node] |= 1 << (pre[0] if kind != "deliver" else node)
    total = 0
    for number, each in enumerate(take(record, "steps", list, "")):
        where = f"steps[{number}]"
        step = expect(each, dict, where)
        _check_type(step, "step", where)
        rounds.append(take(step, "rounds", int, where))
        before = dict(held)
        steps.append([])
        sends = take(step, "sends", list, where)
        total += len(sends)
        if total > MAX_MESSAGES:
            raise InputError(f"more than {MAX_MESSAGES:,} sends", hint="audit a smaller file")
        for slot, send in enumerate(sends):
            place = f"{where}.sends[{slot}]"
            numbers = [expect(n, int, place) for n in expect(send, list, place)]
            if len(numbers) != 3:
                raise InputError(
                    f"{len(numbers)} numbers", where=place, hint="[address, source, destination]"
                )
            address, source, target = numbers
            if address not in parts or not {source, target} <= set(range(nodes)):
                raise InputError("no such address or node", where=place, hint="correct it")
            mask = before.get((address, source), 0)
            if not mask:
                text = f"node {source} sends address {address}, of which it holds nothing"
                shown = f"step {number}, send {slot} (address {address})"
                broken.append(BrokenRule("not-informed", shown, text))
            held[address, target] |= mask
            members = tuple(n for n in range(nodes) if mask >> n & 1) or (source,)
            steps[-1].append((address, source, target, members))
    return steps, rounds, broken


Group = tuple[set[int], set[int], int, str]


def _groups(topology: dict[str, Any]) -> list[Group]:
    """Return the capacities that groups of links share."""
    groups: list[Group] = []
    for index, each in enumerate(take(topology, "switches", list, "topology", [])):
        where = f"topology.switches[{index}]"
        fields = expect(each, list, where)
        if len(fields) != 4:
            raise InputError(
                f"{len(fields)} values", where=where, hint="[sources, destinations, size, name]"
            )
        sources, targets = (
            {expect(n, int, where) for n in expect(side, list, where)} for side in fields[:2]
        )
        groups.append((sources, targets, expect(fields[2], int, where), str(fields[3])[:80]))
    return groups


def _overloaded_groups(
    steps: Sends, rounds: list[int], groups: Iterable[Group]
) -> list[BrokenRule]:
    for number, step in enumerate(steps):
        for sources, targets, size, name in groups:
            count = sum(source in sources and target in targets for _, source, target, _ in step)
            if count > size * rounds[number]:
                text = f"{name} carries {count} chunks, {size * rounds[number]} at most"
                return [BrokenRule("group-overload", f"step {number}", text)]
    return []
