"""GOAL, the programs that LogGOPSim and ATLAHS simulate."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from cchybrid.model import Schedule
from cchybrid.model.errors import InputError

BYTES = 65536
"""Bytes of a message where the user names no other size."""
MAX_NICS = 256
"""Network interfaces of a rank, as GOAL stores their number in a byte."""


def export_goal(schedule: Schedule, size: int = BYTES) -> str:
    """Return the schedule as a GOAL program: what every node sends and receives, and what waits.

    Rank n is node n of the network, switches included. A send waits for the receipts of what it
    sends, and for nothing else. With all ports every channel of a node has network interfaces of
    its own, as many as it carries messages in a round; with limited ports a node has one per port.
    What a step sends in further rounds waits for its interface.

    Parameters
    ----------
    size
        Bytes of a message, before it is cut into chunks.
    """
    instance = schedule.instance
    if size < 1:
        raise InputError(f"{size} bytes", where="size", hint="use at least 1")
    chunk = -(-size // instance.collective.chunks)
    interfaces = _interfaces(schedule)
    lines: defaultdict[int, list[str]] = defaultdict(list)
    waits: defaultdict[int, list[str]] = defaultdict(list)
    held: defaultdict[tuple[int, int], list[tuple[str, set[int]]]] = defaultdict(list)
    number = 0
    for step, transfers in enumerate(schedule.steps):
        received = []
        for slot, (message, path) in enumerate(transfers):
            first, last = path[0], path[-1]
            out, into = next(interfaces)
            lines[first].append(f"s{number}: send {chunk}b to {last} tag {number}{out}")
            lines[last].append(f"r{number}: recv {chunk}b from {first} tag {number}{into}")
            parts = set(schedule.parts(step, slot))
            for label, _ in _needed(held[message, first], parts):
                waits[first].append(f"s{number} requires {label}")
            received.append(((message, last), (f"r{number}", parts)))
            number += 1
        for key, receipt in received:
            held[key].append(receipt)
    text = [f"num_ranks {instance.network.nodes}", ""]
    for node in range(instance.network.nodes):
        text += [f"rank {node} {{", *lines[node], *waits[node], "}", ""]
    return "\n".join(text)


def _needed(held: list[tuple[str, set[int]]], parts: set[int]) -> list[tuple[str, set[int]]]:
    """Return the receipts that a transfer waits for: of an allreduce those of which it is a sum."""
    if not parts:
        return held
    inside = [each for each in held if each[1] <= parts]
    return [each for each in inside if not any(each[1] < other[1] for other in inside)]


def _interfaces(schedule: Schedule) -> Iterator[tuple[str, str]]:
    """Yield the words for the network interface of the sender and of the receiver by transfer."""
    outward, inward = _first_interfaces(schedule, 0), _first_interfaces(schedule, 1)
    limited = schedule.instance.model.inject is not None
    for step in schedule.steps:
        used: Counter[tuple[int, ...]] = Counter()
        for _, path in step:
            words = []
            for side, ends, first in ((0, path[:2], outward), (1, path[-2:], inward)):
                start, size = first[ends]
                key = (side, ends[side]) if limited else (side, *ends)
                words.append("" if limited and size == 1 else f" nic {start + used[key] % size}")
                used[key] += 1
            yield words[0], words[1]


def _first_interfaces(schedule: Schedule, side: int) -> dict[tuple[int, ...], tuple[int, int]]:
    """Return by channel its first interface at its sender (0) or receiver (1), and their number."""
    network, model = schedule.instance.network, schedule.instance.model
    limit = (model.inject_limit, model.accept_limit)[side]
    widest: Counter[tuple[int, ...]] = Counter()
    for step in schedule.steps:
        widest |= Counter(path[-2:] if side else path[:2] for _, path in step)
    found: dict[tuple[int, ...], tuple[int, int]] = {}
    used: Counter[int] = Counter()
    for node, ends, capacity in sorted((c[side], c[:2], c.capacity) for c in network.channels):
        ports = limit(node)
        if ports is not None:
            found[ends] = 0, max(1, min(ports, MAX_NICS))
        else:
            # Of a channel that is wider than it is used, the used interfaces are enough.
            size = min(capacity, max(1, widest[ends]))
            found[ends] = used[node], size
            used[node] += size
    if max(used.values(), default=0) > MAX_NICS:
        raise InputError(
            f"a node has {max(used.values())} channels, capacities counted, and GOAL {MAX_NICS} "
            "interfaces",
            where=schedule.instance.name,
            hint="solve with limited ports, such as --ports 1: then a node has one interface",
        )
    return found
