"""Programs of ranks with buffers: which chunk moves from which place to which place.

A program is a schedule whose chunks have places in the input, output and scratch buffers of the
ranks. Its actions are in an order in which they can be performed one after another; MSCCL and
MSCCL++ have several threads perform them, as far as one does not need what another one writes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cchybrid.exchange.buffers import SCRATCH, Buffers, Place, buffers_of, refuse_relays
from cchybrid.model import Schedule


class Move(NamedTuple):
    """A transfer: ``source`` of the sender, plus ``addend`` of the receiver, goes to ``target``.

    The moves of a batch of a step use every link once at most.
    """

    step: int
    batch: int
    sender: int
    source: Place
    receiver: int
    addend: Place | None
    target: Place


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


def program_of(schedule: Schedule, tool: str, *, one_sided: bool = False) -> Program:
    """Return the program of a schedule.

    Parameters
    ----------
    tool
        The format to be written, for messages.
    one_sided
        Whether senders write to the receivers' buffers without asking. Then every move goes to a
        place that was never used before, and receivers do all additions by themselves.

    Raises
    ------
    InputError
        The collective or a path is none of those that the formats of GPU programs know.
    """
    buffers = buffers_of(schedule.instance, tool)
    refuse_relays(schedule, buffers, tool)
    program = Program(schedule.instance.name, buffers, [0] * len(buffers.ranks))
    locals_: list[Local] = []
    if schedule.instance.collective.kind == "deliver":
        moves = _deliver(schedule, program)
    else:
        from cchybrid.exchange.sums import add_up

        moves, locals_ = add_up(schedule, program, one_sided)
    for rank in range(len(buffers.ranks)):
        locals_ += [Local(0, rank, (a,), b) for a, b in buffers.own_copies(rank)]
    by_step: defaultdict[int, list[Action]] = defaultdict(list)
    for move in moves:
        by_step[move.step].append(move)
    for local in locals_:
        by_step[local.step].append(local)
    program.actions = [action for step in sorted(by_step) for action in by_step[step]]
    return program


def new_scratch(program: Program, rank: int) -> Place:
    """Return a new place of the scratch buffer of a rank."""
    program.scratch[rank] += 1
    return Place(SCRATCH, program.scratch[rank] - 1)


class Transfer(NamedTuple):
    """A transfer between ranks; ``slot`` is its number in its step of the schedule."""

    step: int
    batch: int
    slot: int
    message: int
    sender: int
    receiver: int


def transfers(schedule: Schedule, buffers: Buffers) -> Iterator[Transfer]:
    """Yield the transfers of every step, batch by batch."""
    rank_of = {node: rank for rank, node in enumerate(buffers.ranks)}
    for number, step in enumerate(schedule.steps):
        used: Counter[tuple[int, int]] = Counter()
        found = []
        for slot, (message, path) in enumerate(step):
            ends = rank_of[path[0]], rank_of[path[-1]]
            found.append(Transfer(number, used[ends], slot, message, *ends))
            used[ends] += 1
        yield from sorted(found)


def _deliver(schedule: Schedule, program: Program) -> list[Move]:
    held: dict[tuple[int, int], Place] = {}
    moves = []
    for step, batch, _, message, sender, receiver in transfers(schedule, program.buffers):
        source = held.get((message, sender)) or program.buffers.own(message, sender)
        assert source is not None, "the referee has verified that the sender has it"
        goal = program.buffers.result(message, receiver)
        target = held[message, receiver] = goal or new_scratch(program, receiver)
        moves.append(Move(step, batch, sender, source, receiver, None, target))
    return moves
