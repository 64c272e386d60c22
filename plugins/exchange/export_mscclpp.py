"""JSON execution plans of MSCCL++.

A rank has a thread block for each rank that it exchanges chunks with. In every step a thread block
writes chunks to its peer's buffers (``put``), signals, and waits for the peer's signal; then all
thread blocks of the rank meet at a barrier. Over adapters each chunk has a signal of its own, and
its sender waits until the place may be overwritten (``pwsf``). What a rank receives goes to places
that were never used before, so that a sender may be any number of steps ahead of a receiver.
Additions follow the barrier, and another one follows them.
"""

import json
from collections import defaultdict
from typing import Any

from cchybrid.model import Schedule
from cchybrid.model.errors import InputError

from .buffers import Place
from .program_parts import Local, Move, Program
from .programs import program_of

MAX_OPERATIONS = 64
"""Operations of a thread block in MSCCL++."""
MAX_PUTS = 8
"""Chunks that one operation writes, and that it adds up."""
MEMORY, PORT = "memory", "port"
"""Types of channels: threads write to the memory of the peer; adapters carry what is sent."""

Operation = dict[str, Any]


def export_mscclpp(schedule: Schedule) -> str:
    """Return the schedule as a JSON execution plan of MSCCL++.

    Raises
    ------
    InputError
        MSCCL++ cannot express the schedule, or its executor would refuse the plan.
    """
    program = program_of(schedule, "MSCCL++", one_sided=True)
    buffers = program.buffers
    gpus = [_Gpu(program, rank).to_json() for rank in range(len(buffers.ranks))]
    plan = {
        "name": program.name,
        "collective": buffers.collective,
        "protocol": "Simple",
        "inplace": False,
        "reuse_resources": False,
        "use_double_scratch_buffer": False,
        "buffer_alignment": 16,
        "num_threads_per_block": 1024,
        "min_message_size": 0,
        "max_message_size": (1 << 64) - 1,
        "gpus": gpus,
    }
    for gpu in gpus:
        longest = max(len(block["ops"]) for block in gpu["threadblocks"])
        if longest > MAX_OPERATIONS:
            raise InputError(
                f"{longest} operations of a thread block, and MSCCL++ has room for "
                f"{MAX_OPERATIONS}",
                where=f"{program.name}: rank {gpu['id']}",
                hint="use fewer steps or fewer chunks",
            )
    return json.dumps(plan, indent=1) + "\n"


class _Gpu:
    """The plan of one rank."""

    def __init__(self, program: Program, rank: int) -> None:
        self.program, self.rank = program, rank
        moves = [move for move in program.actions if isinstance(move, Move)]
        self.goals = sorted({m.receiver for m in moves if m.sender == rank})
        self.origins = sorted({m.sender for m in moves if m.receiver == rank})
        self.peers = sorted({*self.goals, *self.origins})
        # Inside a server there is one switch between two GPUs at the most.
        ends = [(m.sender, m.receiver) for m in moves if len(m.path) > 3]
        far = {end for pair in ends if rank in pair for end in pair}
        self.types = {peer: PORT if peer in far else MEMORY for peer in self.peers}
        # Of two ranks that send to each other the first channel is for what the lower one sends.
        self.channels = sorted(
            [(peer, rank, True) for peer in self.goals]
            + [(peer, peer, False) for peer in self.origins]
        )
        self.remote = sorted({(m.receiver, m.target.buffer) for m in moves if m.sender == rank})
        self.steps: defaultdict[int, list[Move | Local]] = defaultdict(list)
        for action in program.actions:
            mine = action.rank == rank if isinstance(action, Local) else rank in action[2:5:2]
            if mine:
                self.steps[action.step].append(action)

    def to_json(self) -> Operation:
        blocks: list[list[Operation]] = [self._start(peer) for peer in self.peers] or [[]]
        for step in sorted(self.steps):
            moves = [move for move in self.steps[step] if isinstance(move, Move)]
            for peer, block in zip(self.peers, blocks, strict=False):
                block += self._exchange(peer, moves)
            additions = [each for each in self.steps[step] if isinstance(each, Local)]
            if moves and (additions or step != max(self.steps)):
                self._meet(blocks)
            for number, chain in enumerate(_chains(additions)):
                for addition in chain:
                    blocks[number % len(blocks)] += [*self._add(addition), {"name": "nop"}]
            if additions and step != max(self.steps):
                self._meet(blocks)
        buffers = self.program.buffers
        return {
            "id": self.rank,
            "input_chunks": buffers.inputs,
            "output_chunks": buffers.outputs,
            "scratch_chunks": self.program.scratch[self.rank],
            "threadblocks": [
                {
                    "id": number,
                    "ops": block,
                    "channels": self._channels_of(number),
                    "remote_buffer_refs": self._remote_of(number),
                }
                for number, block in enumerate(blocks)
            ],
            "channels": [
                {
                    "channel_type": kind,
                    "connected_to": [each[0] for each in self.channels if self._type(each) == kind],
                }
                for kind in sorted({*self.types.values()}) or [MEMORY]
            ],
            "remote_buffers": [
                {"rank": peer, "type": buffer, "access_channel_types": [self.types[peer]]}
                for peer, buffer in self.remote
            ],
            "semaphores": [],
        }

    def _channels_of(self, number: int) -> list[Operation]:
        if not self.peers:
            return []
        peer, kind = self.peers[number], self.types[self.peers[number]]
        same = [channel for channel in self.channels if self._type(channel) == kind]
        found = [index for index, channel in enumerate(same) if channel[0] == peer]
        return [{"channel_type": kind, "channel_ids": found}]

    def _type(self, channel: tuple[int, int, bool]) -> str:
        return self.types[channel[0]]

    def _remote_of(self, number: int) -> list[Operation]:
        peer = self.peers[number] if self.peers else -1
        found = [index for index, remote in enumerate(self.remote) if remote[0] == peer]
        kind = self.types.get(peer, MEMORY)
        return [{"access_channel_type": kind, "remote_buffer_ids": found}] if found else []

    def _channel(self, peer: int, sends: bool) -> list[int]:
        """Return the number of a channel among those of its thread block, as a list."""
        of_block = [channel for channel in self.channels if channel[0] == peer]
        return [[channel[2] for channel in of_block].index(sends)]

    def _start(self, peer: int) -> list[Operation]:
        """Tell a peer that sends that this rank has begun, and wait for one that receives."""
        found: list[Operation] = []
        if peer in self.origins:
            found.append(self._sync("rlxsignal", peer, False))
        if peer in self.goals:
            found.append(self._sync("rlxwait", peer, True))
        return [*found, {"name": "nop"}]

    def _exchange(self, peer: int, moves: list[Move]) -> list[Operation]:
        """Return what a thread block sends to its peer in a step, and receives from it."""
        found: list[Operation] = []
        by_source: defaultdict[str, list[Move]] = defaultdict(list)
        for move in moves:
            if move.receiver == peer:
                by_source[move.source.buffer].append(move)
        remote = [buffer for rank, buffer in self.remote if rank == peer]
        is_port = self.types[peer] == PORT
        for sent in by_source.values():
            for start in range(0, len(sent), MAX_PUTS):
                several = sent[start : start + MAX_PUTS]
                found.append(
                    {
                        "name": "pwsf" if is_port else "put",
                        # Over a network a thread sends each chunk, over a channel of its own list.
                        "channel_ids": self._channel(peer, True) * (len(several) if is_port else 1),
                        "channel_type": self.types[peer],
                        "src_buff": [_local(move.source) for move in several],
                        "dst_buff": [
                            {
                                "buffer_id": remote.index(move.target.buffer),
                                "index": move.target.chunk,
                                "size": 1,
                            }
                            for move in several
                        ],
                    }
                )
        if found:
            signal = [] if is_port else [self._sync("signal", peer, True)]
            found += [{"name": "nop"}, *signal]
        if received := sum(move.sender == peer for move in moves):
            waits = received if is_port else 1
            found += [self._sync("wait", peer, False)] * waits + [{"name": "nop"}]
        return found

    def _sync(self, name: str, peer: int, sends: bool) -> Operation:
        ids = self._channel(peer, sends)
        return {"name": name, "channel_ids": ids, "channel_type": self.types[peer]}

    def _meet(self, blocks: list[list[Operation]]) -> None:
        for block in blocks:
            if len(blocks) == 1:
                block.append({"name": "nop"})
            else:
                block.append({"name": "barrier", "barrier_id": 0, "num_threadblocks": len(blocks)})

    def _add(self, addition: Local) -> list[Operation]:
        first, *others = addition.sources
        if not others:
            return [
                {"name": "copy", "src_buff": [_local(first)], "dst_buff": [_local(addition.target)]}
            ]
        found: list[Operation] = []
        for start in range(0, len(others), MAX_PUTS):
            several = others[start : start + MAX_PUTS]
            base = first if start == 0 else addition.target
            if found:
                found.append({"name": "nop"})
            found.append(
                {
                    "name": "re",
                    "src_buff": [_local(place) for place in (base, *several)],
                    "dst_buff": [_local(addition.target)],
                }
            )
        return found


def _chains(additions: list[Local]) -> list[list[Local]]:
    """Return the additions in lists; those that have a place in common are in one, in order."""
    chains: list[tuple[set[Place], list[Local]]] = []
    for addition in additions:
        places, chain = {*addition.sources, addition.target}, [addition]
        for each in [each for each in chains if each[0] & places]:
            chains.remove(each)
            places, chain = places | each[0], [*each[1], *chain]
        chains.append((places, chain))
    return [chain for _, chain in chains]


def _local(place: Place) -> Operation:
    return {"type": place.buffer, "index": place.chunk, "size": 1}
