"""MSCCL XML, the programs of Microsoft's and AMD's executors for NCCL."""

import re
from collections import Counter
from collections.abc import Mapping
from xml.sax.saxutils import quoteattr

from cchybrid.model import Instance, Schedule
from cchybrid.model.errors import InputError

from .buffers import SCRATCH, Place
from .program_parts import Move, Program
from .programs import program_of
from .thread_blocks import MAX_STEPS, Connection, Operation, ThreadBlock, thread_blocks

MAX_CHANNELS = 32
"""Channels of NCCL."""
MAX_PEERS = 32
"""Ranks that a rank sends to over one channel, and that it receives from."""
MAX_THREAD_BLOCKS = 108
"""Thread blocks that a GPU (an A100) runs at the same time; with more the executor would wait."""
MAX_BYTES = 1 << 40
MAX_NAME = 200
"""Characters of a name; the executor reads up to 255."""


def export_msccl(schedule: Schedule) -> str:
    """Return the schedule as an MSCCL XML program.

    Raises
    ------
    InputError
        MSCCL cannot express the schedule, or its executor would refuse the program.
    """
    program = program_of(schedule, "MSCCL")
    copies = 1
    while True:
        connections = _connections(schedule, program, copies)
        channels = 1 + max((channel for _, _, channel in connections.values()), default=0)
        if channels > MAX_CHANNELS:
            raise InputError(
                f"a thread block would have more than {MAX_STEPS} steps on {MAX_CHANNELS} channels",
                where=schedule.instance.name,
                hint="use fewer chunks",
            )
        ranks = thread_blocks(program, connections)
        if all(each.operations[-1].number < MAX_STEPS for blocks in ranks for each in blocks):
            break
        copies *= 2
    _check_size(schedule, ranks)
    return _text(schedule.instance, program, ranks, channels)


def _connections(schedule: Schedule, program: Program, copies: int) -> dict[int, Connection]:
    """Return the connection of each move: the moves of a step spread over a link's capacity.

    Parameters
    ----------
    copies
        As many times that number of channels are used one after another.
    """
    network, node = schedule.instance.network, program.buffers.ranks
    sizes = {(a, b): min(size, MAX_CHANNELS) for a, b, size in network.channels}
    in_step: Counter[tuple[int, int, int]] = Counter()
    in_all: Counter[tuple[int, int]] = Counter()
    found = {}
    for number, action in enumerate(program.actions):
        if isinstance(action, Move):
            ends = action.sender, action.receiver
            size = sizes.get((node[ends[0]], node[ends[1]]), 1)
            channel = in_step[action.step, *ends] % size + size * (in_all[ends] % copies)
            found[number] = (*ends, channel)
            in_step[action.step, *ends] += 1
            in_all[ends] += 1
    return found


def _check_size(schedule: Schedule, ranks: list[list[ThreadBlock]]) -> None:
    for rank, blocks in enumerate(ranks):
        place = f"{schedule.instance.name}: rank {rank}"
        if len(blocks) > MAX_THREAD_BLOCKS:
            raise InputError(
                f"{len(blocks)} thread blocks, and a GPU runs {MAX_THREAD_BLOCKS} at a time",
                where=place,
                hint="use a network with fewer links",
            )
        for peers in (
            Counter(block.channel for block in blocks if block.send >= 0),
            Counter(block.channel for block in blocks if block.receive >= 0),
        ):
            if max(peers.values(), default=0) > MAX_PEERS:
                raise InputError(
                    f"{max(peers.values())} peers on one channel, and MSCCL allows {MAX_PEERS}",
                    where=place,
                    hint="use a network with fewer links",
                )


def _text(
    instance: Instance, program: Program, ranks: list[list[ThreadBlock]], channels: int
) -> str:
    buffers = program.buffers
    states_nodes = buffers.ranks != instance.network.terminals
    rounds = " ".join(map(str, instance.model.rounds))
    spread = buffers.collective in ("allgather", "alltoall", "reducescatter")
    reduces = buffers.collective in ("allreduce", "reduce", "reducescatter")
    head = {
        "name": re.sub(r"[^\w ,.+-]", "_", program.name)[:MAX_NAME],
        "proto": "Simple",
        "nchannels": channels,
        "nchunksperloop": buffers.chunks * (len(ranks) if spread else 1),
        "ngpus": len(ranks),
        "coll": buffers.collective,
        "inplace": int(buffers.works_in_place),
        "outofplace": 1,
        "minBytes": 0,
        "maxBytes": MAX_BYTES,
        "redop": "sum" if reduces else "nop",
    }
    if buffers.root >= 0:
        head["root"] = buffers.root  # executors ignore attributes that they do not know
    if 0 < len(rounds) <= MAX_NAME:
        head["rounds"] = rounds
    lines = [f"<algo {_attributes(head)}>"]
    scratches = [_used_scratch(blocks) for blocks in ranks]
    for rank, (blocks, scratch) in enumerate(zip(ranks, scratches, strict=True)):
        sizes = {
            "id": rank,
            "i_chunks": buffers.inputs,
            "o_chunks": buffers.outputs,
            "s_chunks": len(scratch),
            **({"node": buffers.ranks[rank]} if states_nodes else {}),
        }
        lines.append(f"  <gpu {_attributes(sizes)}>")
        for number, block in enumerate(blocks):
            ends = {"id": number, "send": block.send, "recv": block.receive, "chan": block.channel}
            lines.append(f"    <tb {_attributes(ends)}>")
            for operation in block.operations:
                lines += _steps(operation, blocks, scratches)
            lines.append("    </tb>")
        lines.append("  </gpu>")
    return "\n".join([*lines, "</algo>"]) + "\n"


def _used_scratch(blocks: list[ThreadBlock]) -> dict[Place, Place]:
    """Return new places, without gaps, for those of the scratch buffer that a rank uses."""
    used = {
        place
        for block in blocks
        for each in block.operations
        for place, unused in ((each.source, ("r", "rcs")), (each.target, ("s", "rrs")))
        if place.buffer == SCRATCH and each.kind not in unused
    }
    return {place: Place(SCRATCH, number) for number, place in enumerate(sorted(used))}


def _steps(
    operation: Operation, blocks: list[ThreadBlock], scratches: list[dict[Place, Place]]
) -> list[str]:
    """Return the lines of an operation: one for each that it waits for, itself in the last one.

    What is sent has the receiver's place, what is received the sender's, as in the files of
    msccl-tools; executors ignore both.
    """
    block, kind = operation.block, operation.kind
    at_source = scratches[block.receive if kind == "r" else block.rank]
    at_target = scratches[block.send if kind in ("s", "rrs") else block.rank]
    source = at_source.get(operation.source, operation.source)
    target = at_target.get(operation.target, operation.target)
    stated: dict[str, object] = {}
    if operation.sent is not None:
        stated["at"] = operation.sent.at + 1
        path = " ".join(map(str, operation.sent.path))
        if len(operation.sent.path) > 2 and len(path) <= MAX_NAME:
            stated["path"] = path
    waits = [(blocks.index(each.block), each.number) for each in operation.after] or [(-1, -1)]
    lines = []
    for number, (waited, step) in enumerate(waits, operation.number - len(waits) + 1):
        last = number == operation.number
        values = {
            "s": number,
            "type": kind if last else "nop",
            "srcbuf": source.buffer,
            "srcoff": source.chunk if last else -1,
            "dstbuf": target.buffer,
            "dstoff": target.chunk if last else -1,
            "cnt": 1 if last else 0,
            "depid": waited,
            "deps": step,
            "hasdep": int(last and operation.awaited),
            **(stated if last else {}),
        }
        lines.append(f"      <step {_attributes(values)}/>")
    return lines


def _attributes(values: Mapping[str, object]) -> str:
    return " ".join(f"{key}={quoteattr(str(value))}" for key, value in values.items())
