"""An executor of MSCCL++ plans that moves real buffers, by the rules of MSCCL++'s own executor.

Thread blocks perform their operations one after another. A ``put`` writes to the memory of a peer
at once, whatever the peer does; over a channel of type ``port`` a ``pwsf`` signals each chunk, too.
A ``signal`` counts up at the other end of its channel, a ``wait`` waits until it has been counted
up once more; ``barrier`` lets the thread blocks of a GPU meet. What one thread of a thread block
has seen, all others know after a ``nop`` or a barrier only.

Besides performing the plan, the interpreter sees data races: two operations that use a chunk of a
buffer, one of them writing, which no signal, barrier or order of a thread block separates.
"""

from __future__ import annotations

import json
from collections import defaultdict

from tests.plugins.exchange.expected import expected, given
from tests.plugins.exchange.memory import DeadlockError, Memory, RaceError, require

MAX_OPERATIONS, MAX_CHANNELS, MAX_BUFFERS = 64, 16, 8
OPERATIONS = {
    "put",
    "pwsf",
    "signal",
    "wait",
    "rlxsignal",
    "rlxwait",
    "nop",
    "barrier",
    "copy",
    "re",
}

Clock = dict[tuple[int, int], int]


class Block:
    def __init__(self, gpu: int, record: dict) -> None:
        self.gpu, self.number, self.ops = gpu, record["id"], record["ops"]
        require(len(self.ops) <= MAX_OPERATIONS, "too many operations")
        # Operations have the numbers of channels and buffers among those of their type.
        self.channels = {
            each["channel_type"]: [(each["channel_type"], n) for n in each["channel_ids"]]
            for each in record["channels"]
        }
        require(all(len(some) <= MAX_CHANNELS for some in self.channels.values()), "channels")
        self.buffers = {
            each["access_channel_type"]: each["remote_buffer_ids"]
            for each in record["remote_buffer_refs"]
        }
        self.place = 0
        self.clock: Clock = {}
        self.seen: Clock = {}
        """Events that one thread has seen, and the others have not before a ``nop``."""
        self.performed = self.complete = 0
        """Operations that have begun, and those that all threads have ended."""

    @property
    def key(self) -> tuple[int, int]:
        return self.gpu, self.number


class Run:
    """One execution of a plan, with the thread blocks served in a given order."""

    def __init__(self, text: str, reverse: bool = False) -> None:
        self.plan = json.loads(text)
        for key in ("name", "collective", "protocol", "inplace", "num_threads_per_block", "gpus"):
            require(key in self.plan, f"no {key}")
        require(self.plan["protocol"] == "Simple", "protocol")
        self.gpus = self.plan["gpus"]
        require([gpu["id"] for gpu in self.gpus] == list(range(len(self.gpus))), "ids")
        self.memory = Memory(self.precedes)
        for number, gpu in enumerate(self.gpus):
            require(gpu["input_chunks"] > 0 and gpu["output_chunks"] > 0, "an empty buffer")
            for key in ("input_chunks", "output_chunks", "scratch_chunks"):
                for index in range(gpu[key]):
                    value = given(0, number, index) if key[0] == "i" else None
                    self.memory[number, key[0], index] = value
        self.blocks = [
            Block(n, record) for n, gpu in enumerate(self.gpus) for record in gpu["threadblocks"]
        ]
        for number in range(len(self.gpus)):
            ids = [block.number for block in self.blocks if block.gpu == number]
            require(ids == list(range(len(ids))), "ids of thread blocks")
        self.peers = [
            {each["channel_type"]: each["connected_to"] for each in gpu["channels"]}
            for gpu in self.gpus
        ]
        if reverse:
            self.blocks.reverse()
        self.signals: defaultdict[tuple, list[Clock]] = defaultdict(list)
        self.waited: defaultdict[tuple, int] = defaultdict(int)

    def other_end(self, gpu: int, channel: tuple[str, int]) -> tuple[int, tuple[str, int]]:
        """Return GPU and channel of the other end: the k-th ones of two GPUs belong together."""
        kind, number = channel
        peer = self.peers[gpu][kind][number]
        nth = self.peers[gpu][kind][:number].count(peer)
        found = [index for index, each in enumerate(self.peers[peer].get(kind, [])) if each == gpu]
        require(nth < len(found), f"channel {channel} of GPU {gpu} has no other end")
        return peer, (kind, found[nth])

    def perform(self) -> Run:
        while any(block.place < len(block.ops) for block in self.blocks):
            if not sum(self.advance(block) for block in self.blocks):
                raise DeadlockError
        if any(len(found) != self.waited[end] for end, found in self.signals.items()):
            raise RaceError("none waits for a signal, so the plan may end before the data arrive")
        return self

    def advance(self, block: Block) -> bool:
        moved = False
        while block.place < len(block.ops) and self.step(block, block.ops[block.place]):
            block.place += 1
            moved = True
        return moved

    def step(self, block: Block, op: dict) -> bool:
        """Perform an operation, if it can be; return whether it was."""
        name = op["name"]
        require(name in OPERATIONS, name)
        channels = [block.channels[op["channel_type"]][n] for n in op.get("channel_ids", [])]
        if name in ("wait", "rlxwait"):
            ends = [(block.gpu, channel) for channel in channels]
            if any(self.waited[end] >= len(self.signals[end]) for end in ends):
                return False
            for end in ends:
                join(block.seen, self.signals[end][self.waited[end]])
                self.waited[end] += 1
        elif name in ("signal", "rlxsignal"):
            require(name == "rlxsignal" or block.complete == block.performed, "an early signal")
            for channel in channels:
                clock = dict(block.clock) if name == "signal" else {}
                self.signals[self.other_end(block.gpu, channel)].append(clock)
        elif name == "nop":
            join(block.clock, block.seen)
            block.complete = block.performed
        elif name == "barrier":
            return self.barrier(block, op)
        else:
            self.move(block, op, name)
            if name == "pwsf":
                require(len(channels) == len(op["src_buff"]), "a channel for each chunk")
                for channel in channels:
                    self.signals[self.other_end(block.gpu, channel)].append(dict(block.clock))
        return True

    def barrier(self, block: Block, op: dict) -> bool:
        everyone = [
            b for b in self.blocks if b.gpu == block.gpu and b.number < op["num_threadblocks"]
        ]
        require(len(everyone) == op["num_threadblocks"], "num_threadblocks")
        if not all(b.place < len(b.ops) and b.ops[b.place] == op for b in everyone):
            return False
        clock: Clock = {}
        for each in everyone:
            join(clock, each.clock)
            join(clock, each.seen)
        for each in everyone:
            each.clock, each.complete = dict(clock), each.performed
            each.place += each is not block
        return True

    def move(self, block: Block, op: dict, name: str) -> None:
        block.performed += 1
        event = block.key, block.performed
        sources = [(block.gpu, each["type"], each["index"]) for each in op["src_buff"]]
        targets = []
        for each in op["dst_buff"]:
            require(each["size"] == 1, "size")
            end = {"rank": block.gpu, **each}
            if name in ("put", "pwsf"):
                kind = op["channel_type"]
                require(kind == ("memory" if name == "put" else "port"), "type of channel")
                number = block.buffers[kind][each["buffer_id"]]
                end = self.gpus[block.gpu]["remote_buffers"][number]
                require(kind in end["access_channel_types"], "access")
                for channel in op["channel_ids"]:
                    peer = self.peers[block.gpu][kind][block.channels[kind][channel][1]]
                    require(peer == end["rank"], "peer")
            targets.append((end["rank"], end["type"], each["index"]))
        require(self.memory.keys() >= {*sources, *targets}, "a chunk that does not exist")
        if name in ("put", "pwsf"):
            require(len(sources) == len(targets) <= MAX_BUFFERS, "put")
            require(len({buffer for _, buffer, _ in sources}) == 1, "put from several buffers")
            for source, target in zip(sources, targets, strict=True):
                self.memory.write(block, target, self.memory.read(block, source, event), event)
        else:
            require(len(targets) == 1, name)
            require(name == "re" or len(sources) == 1, name)
            require(len(sources) <= MAX_BUFFERS + 1, name)
            total = sum(self.memory.read(block, source, event) for source in sources)
            self.memory.write(block, targets[0], total, event)
        block.clock[block.key] = block.performed

    def precedes(self, event, block: Block) -> bool:
        key, performed = event
        if key == block.key:
            return performed in range(block.complete + 1) or performed == block.performed
        return block.clock.get(key, 0) >= performed


def join(clock: Clock, other: Clock) -> None:
    for key, value in other.items():
        clock[key] = max(clock.get(key, 0), value)


def check(text: str, root: int = 0) -> dict:
    """Perform a plan in two orders and compare every output chunk; return the plan."""
    for reverse in (False, True):
        run = Run(text, reverse).perform()
        plan = run.plan
        sizes = len(run.gpus), run.gpus[0]["input_chunks"], run.gpus[0]["output_chunks"]
        for (gpu, index), value in expected(plan["collective"], *sizes, root).items():
            found = run.memory[gpu, "o", index]
            assert found == value, f"GPU {gpu}, chunk {index}: {found}, not {value}"
    return plan
