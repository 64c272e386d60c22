"""Programs of ranks with buffers: which chunk moves from which place to which place.

A program is a schedule whose chunks have places in the input, output and scratch buffers of the
ranks. Its actions are in an order in which they can be performed one after another; MSCCL and
MSCCL++ have several threads perform them, as far as one does not need what another one writes.
"""

from collections import Counter, defaultdict
from itertools import accumulate, pairwise

from cchybrid.model import Schedule

from .buffers import Place, buffers_of, refuse_other_relays
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
    refuse_other_relays(schedule, buffers, tool)
    program = Program(schedule.instance.full_name, buffers, [0] * len(buffers.ranks))
    locals_: list[Local] = []
    if schedule.instance.collective.kind == "deliver":
        moves = _deliver(schedule, program)
    else:
        moves, locals_ = add_up(schedule, program, one_sided)
    for rank in range(len(buffers.ranks)):
        locals_ += [Local(0, rank, (a,), b) for a, b in buffers.own_copies(rank)]
    by_step: defaultdict[int, list[Action]] = defaultdict(list)
    for action in _split_at_ranks(program, moves, locals_):
        by_step[action.step].append(action)
    program.actions = [action for step in sorted(by_step) for action in by_step[step]]
    return program


def _deliver(schedule: Schedule, program: Program) -> list[Move]:
    held: dict[tuple[int, int], Place] = {}
    moves = []
    for step, batch, _, message, sender, receiver, path in transfers(schedule, program.buffers):
        source = held.get((message, sender)) or program.buffers.own(message, sender)
        assert source is not None, "the referee has verified that the sender has it"
        goal = program.buffers.result(message, receiver)
        target = held[message, receiver] = goal or new_scratch(program, receiver)
        moves.append(Move(step, batch, sender, source, receiver, None, target, path, step))
    return moves


def _split_at_ranks(program: Program, moves: list[Move], locals_: list[Local]) -> list[Action]:
    """Return the actions, with a move to every rank that a path passes, which sends it on.

    A chunk waits in a new place of the scratch buffer there. All paths end in the last part of a
    step, so that sums keep their order. Moves come first in every step.
    """
    rank_of = {node: rank for rank, node in enumerate(program.buffers.ranks)}
    stops = [[n for n, node in enumerate(move.path) if node in rank_of] for move in moves]
    parts: Counter[int] = Counter()
    for move, places in zip(moves, stops, strict=True):
        parts[move.step] = max(parts[move.step], len(places) - 1)
    first = [0, *accumulate(parts[step] for step in range(1 + max(parts, default=-1)))]
    used: Counter[tuple[int, int, int]] = Counter()
    found: list[Action] = []
    for move, places in zip(moves, stops, strict=True):
        source = move.source
        for part, (a, b) in enumerate(pairwise(places)):
            sender, receiver, last = rank_of[move.path[a]], rank_of[move.path[b]], b == places[-1]
            target = move.target if last else new_scratch(program, receiver)
            connection = first[move.step + 1] - len(places) + 1 + part, sender, receiver
            found.append(
                Move(
                    connection[0], used[connection], sender, source, receiver,
                    move.addend if last else None, target, move.path[a : b + 1], move.step,
                )
            )  # fmt: skip
            used[connection] += 1
            source = target
    # What is added up after a step of the schedule follows its last part.
    return found + [local._replace(step=first[local.step + 1] - 1) for local in locals_]
