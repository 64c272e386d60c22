"""The parts of a program of ranks with buffers: moves, sums and copies, and transfers of ranks."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cchybrid.model import Schedule

from .buffers import SCRATCH, Buffers, Place


class Move(NamedTuple):
    """A transfer: ``source`` of the sender, plus ``addend`` of the receiver, goes to ``target``.

    The moves of a batch of a step use every connection once at most. ``path`` has the nodes of the
    network, ``at`` is the step of the schedule. A program has a step for each part of a step of the
    schedule, in which messages pass one rank more.
    """

    step: int
    batch: int
    sender: int
    source: Place
    receiver: int
    addend: Place | None
    target: Place
    path: tuple[int, ...]
    at: int


class Local(NamedTuple):
    """The sum of places of a rank goes to a place of it; of one place this is a copy.

    If the target is one of several sources, it is the first one.
    """

    step: int
    rank: int
    sources: tuple[Place, ...]
    target: Place


Action = Move | Local


@dataclass
class Program:
    """The actions of the ranks, step by step: in each step first the moves, then what ranks add up.

    Parameters
    ----------
    name
        The name of the schedule.
    buffers
        The layout of the buffers.
    scratch
        Per rank the chunks of its scratch buffer.
    actions
        In order.
    """

    name: str
    buffers: Buffers
    scratch: list[int] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)


def new_scratch(program: Program, rank: int) -> Place:
    """Return a new place of the scratch buffer of a rank."""
    program.scratch[rank] += 1
    return Place(SCRATCH, program.scratch[rank] - 1)


class Transfer(NamedTuple):
    """A transfer between ranks; ``slot`` is its number in its step of the schedule.

    Those of a batch of a step arrive over different connections.
    """

    step: int
    batch: int
    slot: int
    message: int
    sender: int
    receiver: int
    path: tuple[int, ...]


def transfers(schedule: Schedule, buffers: Buffers) -> Iterator[Transfer]:
    """Yield the transfers of every step, batch by batch."""
    rank_of = {node: rank for rank, node in enumerate(buffers.ranks)}
    for number, step in enumerate(schedule.steps):
        used: Counter[tuple[int, int]] = Counter()
        found = []
        for slot, (message, path) in enumerate(step):
            ranks = [rank_of[node] for node in path if node in rank_of]
            last, ends = (ranks[-2], ranks[-1]), (ranks[0], ranks[-1])
            found.append(Transfer(number, used[last], slot, message, *ends, tuple(path)))
            used[last] += 1
        yield from sorted(found)
