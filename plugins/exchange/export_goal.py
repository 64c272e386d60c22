"""GOAL, the programs that LogGOPSim and ATLAHS simulate."""

from __future__ import annotations

from collections import defaultdict

from cchybrid.model import Schedule
from cchybrid.model.errors import InputError

BYTES = 65536
"""Bytes of a message where the user names no other size."""
MAX_NICS = 256
"""Network interfaces of a rank, as GOAL stores their number in a byte."""


def export_goal(schedule: Schedule, size: int = BYTES) -> str:
    """Return the schedule as a GOAL program: what every node sends and receives, and what waits.

    Rank n is node n of the network, switches included. A send waits for the receipts of what it
    sends, and for nothing else. With all ports every channel of a node has a network interface of
    its own; with limited ports a node has one.

    Parameters
    ----------
    size
        Bytes of a message, before it is cut into chunks.
    """
    instance = schedule.instance
    if size < 1:
        raise InputError(f"{size} bytes", where="size", hint="use at least 1")
    chunk = -(-size // instance.collective.chunks)
    outward, inward = _interfaces(schedule)
    lines: defaultdict[int, list[str]] = defaultdict(list)
    waits: defaultdict[int, list[str]] = defaultdict(list)
    held: defaultdict[tuple[int, int], list[tuple[str, set[int]]]] = defaultdict(list)
    number = 0
    for step, transfers in enumerate(schedule.steps):
        received = []
        for slot, (message, path) in enumerate(transfers):
            first, last = path[0], path[-1]
            out, into = outward.get(path[:2], ""), inward.get(path[-2:], "")
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


def _interfaces(
    schedule: Schedule,
) -> tuple[dict[tuple[int, ...], str], dict[tuple[int, ...], str]]:
    """Return the words for the network interface of the sender and of the receiver, by channel."""
    outward: dict[tuple[int, ...], str] = {}
    inward: dict[tuple[int, ...], str] = {}
    if schedule.instance.model.inject is not None:
        return outward, inward
    network = schedule.instance.network
    for number_of, channels in (
        (outward, [(c.source, (c.source, c.target)) for c in network.channels]),
        (inward, [(c.target, (c.source, c.target)) for c in network.channels]),
    ):
        used: defaultdict[int, int] = defaultdict(int)
        for node, ends in sorted(channels):
            number_of[ends] = f" nic {used[node]}"
            used[node] += 1
        if max(used.values(), default=0) > MAX_NICS:
            raise InputError(
                f"a node has {max(used.values())} channels, and GOAL {MAX_NICS} interfaces",
                where=schedule.instance.name,
                hint="solve with limited ports, such as --ports 1: then a node has one interface",
            )
    return outward, inward
