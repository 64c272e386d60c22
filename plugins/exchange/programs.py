"""Programs of ranks with buffers: which chunk moves from which place to which place.

A program is a schedule whose chunks have places in the input, output and scratch buffers of the
ranks. Its actions are in an order in which they can be performed one after another; MSCCL and
MSCCL++ have several threads perform them, as far as one does not need what another one writes.
"""

from __future__ import annotations

from collections import defaultdict

from cchybrid.model import Schedule

from .buffers import Place, buffers_of, refuse_relays
from .program_parts import Action, Local, Move, Program, new_scratch, transfers
from .sums import add_up


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
    program = Program(schedule.instance.full_name, buffers, [0] * len(buffers.ranks))
    locals_: list[Local] = []
    if schedule.instance.collective.kind == "deliver":
        moves = _deliver(schedule, program)
    else:
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
