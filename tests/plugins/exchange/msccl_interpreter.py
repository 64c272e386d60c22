"""An executor of MSCCL XML that moves real buffers, written from the rules of MSCCL's own executor.

A thread block performs its steps one after another. It sends over one connection and receives over
one; a connection holds a limited number of chunks, so that a sender waits for a free slot, and a
receiver for a chunk. A step waits until the flags of other thread blocks of its GPU have reached
the steps that it names; a thread block sets its flag only after steps with ``hasdep``. The whole
program is repeated for every piece of a large buffer (``loops``), without any barrier.

Besides performing it, the interpreter sees data races: two steps of a GPU that use the same chunk,
one of them writing, without flags or a thread block that order them.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import defaultdict, deque
from dataclasses import dataclass, field

from tests.plugins.exchange.expected import expected, given
from tests.plugins.exchange.memory import DeadlockError, Memory, require

MAX_STEPS, MAX_COUNT, MAX_BLOCKS, MAX_CHANNELS, MAX_PEERS = 64, 72, 128, 32, 32
ATTRIBUTES = {
    "algo": "name proto nchannels nchunksperloop ngpus coll inplace outofplace minBytes maxBytes",
    "gpu": "id i_chunks o_chunks s_chunks",
    "tb": "id send recv chan",
    "step": "s type srcbuf srcoff dstbuf dstoff cnt depid deps hasdep",
}
COLLECTIVES = {
    "allgather", "allreduce", "alltoall", "broadcast", "gather", "reduce", "reducescatter",
    "scatter",
}  # fmt: skip
SENDS, RECEIVES = {"s", "rcs", "rrs", "rrcs"}, {"r", "rcs", "rrs", "rrc", "rrcs"}
READS_SOURCE = {"s", "rrs", "rrc", "rrcs", "cpy", "re"}
WRITES_TARGET = {"r", "rcs", "rrc", "rrcs", "cpy", "re"}


@dataclass
class Step:
    kind: str
    source: tuple[str, int]
    target: tuple[str, int]
    count: int
    number: int
    waits: list[tuple[int, int]]
    flags: bool


@dataclass
class Block:
    gpu: int
    number: int
    send: int
    receive: int
    channel: int
    steps: list[Step] = field(default_factory=list)
    # while it runs
    place: int = 0
    loop: int = 0
    clock: dict[int, int] = field(default_factory=dict)
    flags: list[tuple[tuple[int, int], dict[int, int]]] = field(default_factory=list)
    finished: int = 0


@dataclass
class Algorithm:
    collective: str
    gpus: int
    chunks: dict[str, list[int]]
    in_place: bool
    out_of_place: bool
    per_loop: int
    blocks: list[list[Block]]

    @property
    def modes(self) -> list[bool]:
        """Return of each mode that the program states whether it is in place."""
        return [False] * self.out_of_place + [True] * self.in_place


def number(node: ET.Element, key: str) -> int:
    value = node.attrib.get(key, "")
    require(re.fullmatch(r"-?\d+", value) is not None, f"{node.tag}: {key} is {value!r}")
    return int(value)


def parse(text: str) -> Algorithm:
    """Load a program by the rules of the executor's parser."""
    require(not text.startswith("<?"), "the executor's parser knows no declaration")
    root = ET.fromstring(text)
    for node in root.iter():
        require(node.tag in ATTRIBUTES, f"element {node.tag}")
        missing = set(ATTRIBUTES[node.tag].split()) - set(node.attrib)
        require(not missing, f"{node.tag} without {missing}")
        require(all(len(value) < 255 for value in node.attrib.values()), "a long value")
        require(len(node.attrib) <= 16, "too many attributes")
    require(root.tag == "algo", "no algo")
    require(root.attrib["proto"] in ("Simple", "LL", "LL128"), "proto")
    require(root.attrib["coll"] in COLLECTIVES, "coll")
    gpus, channels = number(root, "ngpus"), number(root, "nchannels")
    require([number(gpu, "id") for gpu in root] == list(range(gpus)), "ids of gpus")
    require(0 < channels <= MAX_CHANNELS, "nchannels")
    require(0 <= number(root, "minBytes") < number(root, "maxBytes"), "bytes")
    chunks = {b: [number(gpu, f"{b}_chunks") for gpu in root] for b in "ios"}
    modes = [bool(number(root, key)) for key in ("inplace", "outofplace")]
    blocks = [
        [parse_block(node, gpu, chunks, channels) for node in each] for gpu, each in enumerate(root)
    ]
    for gpu in range(gpus):
        check_blocks(gpu, blocks)
    per_loop = number(root, "nchunksperloop")
    return Algorithm(root.attrib["coll"], gpus, chunks, *modes, per_loop, blocks)


def parse_block(node: ET.Element, gpu: int, chunks: dict[str, list[int]], channels: int) -> Block:
    block = Block(gpu, *(number(node, key) for key in ATTRIBUTES["tb"].split()))
    require(gpu not in (block.send, block.receive), "a thread block sends to its own GPU")
    require(0 <= block.channel < channels, "chan")
    require(0 < len(node) <= MAX_STEPS, f"{len(node)} steps")
    waits: list[tuple[int, int]] = []
    for place, item in enumerate(node):
        require(number(item, "s") == place, "numbers of steps")
        wait = number(item, "depid"), number(item, "deps")
        waits += [wait] if wait[0] >= 0 else []
        kind, count = item.attrib["type"], number(item, "cnt")
        require(number(item, "hasdep") in (0, 1), "hasdep")
        if kind == "nop":
            require(wait[0] >= 0, "a nop that waits for nothing")
            continue
        require(kind in SENDS | RECEIVES | {"cpy", "re"}, f"type {kind}")
        require(kind not in SENDS or block.send >= 0, "a send without a peer")
        require(kind not in RECEIVES or block.receive >= 0, "a receipt without a peer")
        require(0 < count < MAX_COUNT, "cnt")
        ends = []
        for end, used in (("src", READS_SOURCE), ("dst", WRITES_TARGET)):
            buffer, offset = item.attrib[f"{end}buf"], number(item, f"{end}off")
            require(buffer in chunks, "buffer")
            fits = 0 <= offset <= chunks[buffer][gpu] - count
            require(fits or kind not in used, f"{end}off of {kind}")
            ends.append((buffer, offset))
        require(not waits or wait[0] >= 0, "the last of several waits is not at the step itself")
        block.steps.append(
            Step(kind, ends[0], ends[1], count, place, waits, item.attrib["hasdep"] == "1")
        )
        waits = []
    require(not waits, "waits without a step")
    return block


def check_blocks(gpu: int, everywhere: list[list[Block]]) -> None:
    blocks = everywhere[gpu]
    require([block.number for block in blocks] == list(range(len(blocks))), "ids of thread blocks")
    require(len(blocks) <= MAX_BLOCKS, "too many thread blocks")
    for end, other in (("send", "receive"), ("receive", "send")):
        used = [(getattr(b, end), b.channel) for b in blocks if getattr(b, end) >= 0]
        require(len(set(used)) == len(used), f"GPU {gpu}: two thread blocks {end} over one")
        for channel in range(MAX_CHANNELS):
            require(sum(c == channel for _, c in used) <= MAX_PEERS, "too many peers")
        for peer, channel in used:
            require(0 <= peer < len(everywhere), "peer")
            ends = [(getattr(b, other), b.channel) for b in everywhere[peer]]
            require((gpu, channel) in ends, f"no thread block at GPU {peer} is for GPU {gpu}")
    for block in blocks:
        for step in block.steps:
            for other_block, other_step in step.waits:
                require(0 <= other_block < len(blocks), "depid")
                require(other_block != block.number, "a thread block waits for itself")
                steps = {s.number for s in blocks[other_block].steps}
                require(other_step in steps, f"deps: no step {other_step}")


class Run:
    """One execution of a program.

    Parameters
    ----------
    slots
        Chunks that a connection holds.
    """

    def __init__(self, algorithm: Algorithm, inputs, *, slots: int, loops: int, in_place: bool):
        self.algorithm, self.slots, self.loops, self.in_place = algorithm, slots, loops, in_place
        self.memory = Memory(self.precedes)
        self.queues: defaultdict[tuple[int, int, int], deque[int | None]] = defaultdict(deque)
        for loop in range(loops):
            for gpu in range(algorithm.gpus):
                for buffer in "os":
                    for index in range(algorithm.chunks[buffer][gpu]):
                        self.memory[loop, *self.cell(gpu, buffer, index)] = None
                for index in range(algorithm.chunks["i"][gpu]):
                    self.memory[loop, *self.cell(gpu, "i", index)] = inputs(loop, gpu, index)
        self.blocks = [block for blocks in algorithm.blocks for block in blocks]
        for block in self.blocks:
            block.place = block.loop = block.finished = 0
            block.clock, block.flags = {}, []

    def cell(self, gpu: int, buffer: str, index: int) -> tuple[int, str, int]:
        """Return the memory of a chunk; working in place, output and input overlap."""
        if not self.in_place:
            return gpu, buffer, index
        gpus, chunks = self.algorithm.gpus, self.algorithm.chunks
        name = self.algorithm.collective
        if name in ("allgather", "gather") and buffer == "i":
            return gpu, "o", index + gpu * (chunks["o"][gpu] // gpus)
        if name in ("reducescatter", "scatter") and buffer == "o":
            return gpu, "i", index + gpu * (chunks["i"][gpu] // gpus)
        shared = buffer == "o" and name not in ("allgather", "gather")
        return gpu, "i" if shared else buffer, index

    def output(self, gpu: int, index: int, loop: int = 0) -> int | None:
        return self.memory[loop, *self.cell(gpu, "o", index)]

    def perform(self) -> Run:
        """Perform everything, or raise ``DeadlockError`` or ``RaceError``."""
        while any(block.loop < self.loops for block in self.blocks):
            if not sum(self.advance(block) for block in self.blocks):
                stuck = [each for each in self.blocks if each.loop < self.loops]
                raise DeadlockError(", ".join(f"{b.gpu}.{b.number}@{b.place}" for b in stuck))
        assert not any(self.queues.values()), "chunks that are never received"
        return self

    def advance(self, block: Block) -> bool:
        """Perform as many steps of a thread block as possible; return whether there was any."""
        moved = False
        while block.loop < self.loops and self.is_ready(block, block.steps[block.place]):
            self.step(block, block.steps[block.place])
            block.place += 1
            if block.place == len(block.steps):
                block.place, block.loop = 0, block.loop + 1
            moved = True
        return moved

    def is_ready(self, block: Block, step: Step) -> bool:
        for other, goal in step.waits:
            flags = self.algorithm.blocks[block.gpu][other].flags
            if not flags or flags[-1][0] < (block.loop, goal):
                return False
        if step.kind in SENDS:
            queue = self.queues[block.gpu, block.send, block.channel]
            if len(queue) + step.count > max(self.slots, step.count):
                return False
        if step.kind in RECEIVES:
            return len(self.queues[block.receive, block.gpu, block.channel]) >= step.count
        return True

    def step(self, block: Block, step: Step) -> None:
        for other, goal in step.waits:
            flags = self.algorithm.blocks[block.gpu][other].flags
            first = next(clock for flag, clock in flags if flag >= (block.loop, goal))
            for key, value in first.items():
                block.clock[key] = max(block.clock.get(key, 0), value)
        block.finished += 1
        for offset in range(step.count):
            self.move(block, step, offset)
        block.clock[block.number] = block.finished
        if step.flags:
            block.flags.append(((block.loop, step.number), dict(block.clock)))

    def move(self, block: Block, step: Step, offset: int) -> None:
        source = (block.loop, *self.cell(block.gpu, step.source[0], step.source[1] + offset))
        target = (block.loop, *self.cell(block.gpu, step.target[0], step.target[1] + offset))
        if step.kind == "cpy" and source == target:
            return  # nothing changes
        value, event = 0, (block.number, block.finished)
        if step.kind in RECEIVES:
            value = self.queues[block.receive, block.gpu, block.channel].popleft()
        if step.kind in READS_SOURCE:
            value += self.memory.read(block, source, event)
        if step.kind == "re":
            value += self.memory.read(block, target, event)
        if step.kind in WRITES_TARGET:
            self.memory.write(block, target, value, event)
        if step.kind in SENDS:
            self.queues[block.gpu, block.send, block.channel].append(value)

    def precedes(self, event: tuple[int, int], block: Block) -> bool:
        number, finished = event
        return number == block.number or block.clock.get(number, 0) >= finished


def check(text: str, root: int = 0, *, slots=(2, 3, 8), loops: int = 2) -> Algorithm:
    """Perform a program in all modes that it states, and compare every output chunk."""
    algorithm = parse(text)
    require(bool(algorithm.modes), "neither in place nor out of place")
    for mode in algorithm.modes:
        for each in slots:
            run = Run(algorithm, given, slots=each, loops=loops, in_place=mode).perform()
            compare(run, root)
    return algorithm


def compare(run: Run, root: int) -> None:
    """Raise an ``AssertionError`` unless the outputs are those of the collective."""
    algorithm = run.algorithm
    name, gpus = algorithm.collective, algorithm.gpus
    inputs, outputs = algorithm.chunks["i"][0], algorithm.chunks["o"][0]
    spread = name in ("allgather", "alltoall", "reducescatter")
    assert algorithm.per_loop == (max if spread else min)(inputs, outputs)
    for loop in range(run.loops):
        for (gpu, index), value in expected(name, gpus, inputs, outputs, root, loop).items():
            found = run.output(gpu, index, loop)
            assert found == value, f"GPU {gpu}, chunk {index}: {found}, not {value}"
