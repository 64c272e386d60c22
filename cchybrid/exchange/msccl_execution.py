"""MSCCL programs executed symbolically: what every chunk of memory holds, and when.

An operation may start when its thread block has finished the one before, when the step that it
waits for is finished and, if it receives, when its message has been sent. Messages are buffered
without limit. A value is the index of a chunk and the GPUs whose data are added up in it.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cchybrid.exchange.msccl_program import (
    READS,
    RECEIVES,
    SENDS,
    WRITES,
    Cell,
    Operation,
    Program,
    ThreadBlock,
)
from cchybrid.plugin.imported import BrokenRule

MAX_CLOCKS = 40_000_000
"""Operations times thread blocks up to which unordered accesses of memory are searched for."""

Value = tuple[int, int]
"""Index of a chunk, and the GPUs whose parts are added up, as a bit mask."""


@dataclass
class Sent:
    """One chunk on its way: the operations at both ends, the step, and the value."""

    sender: Operation
    receiver: int
    step: int
    value: Value | None


@dataclass
class Execution:
    """The result: transfers by step, memory, and the first broken rules."""

    sent: list[Sent] = field(default_factory=list)
    memory: dict[Cell, Value] = field(default_factory=dict)
    broken: list[BrokenRule] = field(default_factory=list)
    races_searched: bool = True
    steps: int = 0


class _Message:
    """A message of a connection: the values, and the step at whose end it has arrived."""

    def __init__(self, sender: Operation, values: list[Value | None], arrival: int) -> None:
        self.sender, self.values, self.arrival = sender, values, arrival


class Machine:
    """One execution of a program.

    Parameters
    ----------
    program
        The program, without broken rules of its structure.
    cell
        Maps a GPU, buffer and offset to the cell of memory, so that buffers can be one.
    initial
        What the memory holds at the start.
    capacity
        Messages per step from one GPU to another; ``None``: a thread block sends one message per
        step, whatever its size, and all of them may do so at once.
    order
        Rank of operations (by identity) in which those that are ready compete for capacity.
    """

    def __init__(
        self,
        program: Program,
        cell: Callable[[int, str, int], Cell],
        initial: Mapping[Cell, Value],
        capacity: Callable[[int, int], int] | None = None,
        order: Mapping[int, int] | None = None,
    ) -> None:
        self.program, self.cell, self.capacity = program, cell, capacity
        self.result = Execution(memory=dict(initial))
        self._order = order or {}
        self._blocks = program.blocks
        self._index = {(b.gpu, b.number): i for i, b in enumerate(self._blocks)}
        self._next = [0] * len(self._blocks)
        self._ready = [0] * len(self._blocks)  # steps that are over when the block may go on
        self._link = [0] * len(self._blocks)  # the last step in which the block has sent
        self._done: dict[tuple[int, int, int], int] = {}
        self._queues: defaultdict[tuple[int, int, int], deque[_Message]] = defaultdict(deque)
        self._load: defaultdict[tuple[int, int, int], int] = defaultdict(int)
        self._waiting: defaultdict[object, list[int]] = defaultdict(list)
        self.finished: list[Operation] = []
        self.times: dict[int, int] = {}
        self._predecessors: dict[int, list[int]] = {}
        self._last_operation: dict[tuple[int, int, int], int] = {}

    def run(self) -> Execution:
        """Execute the program to its end, or until nothing can go on."""
        heap: list[tuple[int, int]] = []

        def push(block: int) -> None:
            if self._next[block] < len(self._blocks[block].operations):
                operation = self._blocks[block].operations[self._next[block]]
                heapq.heappush(heap, (self._order.get(id(operation), 0), block))

        for block in range(len(self._blocks)):
            push(block)
        while heap:
            block = heapq.heappop(heap)[1]
            operation = self._blocks[block].operations[self._next[block]]
            blocker = self._blocker(block, operation)
            if blocker is not None:
                self._waiting[blocker].append(block)
                continue
            woken = self._execute(block, operation)
            self._next[block] += 1
            push(block)
            for event in woken:
                for other in self._waiting.pop(event, ()):
                    push(other)
        self._check_end()
        if not self.result.broken and self.capacity is None:
            self._find_races()
        return self.result

    def _blocker(self, block: int, operation: Operation) -> object | None:
        """Return the event that the operation has to wait for, if it has not happened."""
        if operation.waits_for is not None:
            event = (operation.gpu, *operation.waits_for)
            if event not in self._done:
                return event
        if operation.kind in RECEIVES:
            connection = self._connection_in(self._blocks[block])
            if not self._queues[connection]:
                return connection, "message"
        return None

    @staticmethod
    def _connection_in(block: ThreadBlock) -> tuple[int, int, int]:
        return block.receive, block.gpu, block.channel

    def _execute(self, index: int, operation: Operation) -> list[object]:
        block = self._blocks[index]
        ready, before = self._ready[index], []
        if self._next[index]:
            before.append(id(block.operations[self._next[index] - 1]))
        if operation.waits_for is not None:
            event = (operation.gpu, *operation.waits_for)
            ready = max(ready, self._done[event])
            before.append(self._last_operation[event])
        values: list[Value | None] = []
        if operation.kind in RECEIVES:
            message = self._queues[self._connection_in(block)].popleft()
            if len(message.values) != operation.count:
                text = (
                    f"it receives {operation.count} chunks of the {len(message.values)} that "
                    f"{message.sender.place} sends"
                )
                self._broken("count-mismatch", operation, text)
            ready = max(ready, message.arrival)
            values = (message.values + [None] * operation.count)[: operation.count]
            before.append(id(message.sender))
        values = self._compute(operation, values)
        woken: list[object] = [(operation.gpu, operation.block, operation.step)]
        time = ready
        if operation.kind in SENDS:
            arrival = self._send(index, operation, values, ready)
            connection = (operation.gpu, block.send, block.channel)
            self._queues[connection].append(_Message(operation, values, arrival))
            woken.append((connection, "message"))
            # The memory that is sent has been read before the step in which it travels.
            ready, time = max(ready, arrival - 1), arrival
        self._ready[index] = ready
        self._done[operation.gpu, operation.block, operation.step] = ready
        self._last_operation[operation.gpu, operation.block, operation.step] = id(operation)
        self.finished.append(operation)
        self.times[id(operation)] = time
        self._predecessors[id(operation)] = before
        return woken

    def _send(
        self, index: int, operation: Operation, values: list[Value | None], ready: int
    ) -> int:
        """Put the chunks into the first steps with room; return the last of these steps."""
        block = self._blocks[index]
        a, b = operation.gpu, block.send
        limit = None if self.capacity is None else self.capacity(a, b)
        step = max(ready + 1, self._link[index] + (1 if limit is None else 0))
        for value in values:
            while limit is not None and self._load[a, b, step] >= limit:
                step += 1
            self._load[a, b, step] += 1
            self.result.sent.append(Sent(operation, b, step, value))
        self._link[index] = step
        self.result.steps = max(self.result.steps, step)
        return step

    def _cells(self, operation: Operation, side: tuple[str, int]) -> list[Cell]:
        buffer, offset = side
        return [self.cell(operation.gpu, buffer, offset + k) for k in range(operation.count)]

    def _compute(self, operation: Operation, values: list[Value | None]) -> list[Value | None]:
        """Read and write the memory; return the values that result, one per chunk."""
        memory = self.result.memory
        kind = operation.kind
        if kind == "nop":
            return []
        sources = self._cells(operation, operation.source) if kind in READS else []
        targets = self._cells(operation, operation.target) if kind in WRITES else []
        read = [memory.get(each) for each in sources]
        for cell, value in zip(sources, read, strict=True):
            if value is None:
                text = f"it reads {_cell_text(cell)}, which holds nothing yet"
                self._broken("reads-nothing", operation, text)
        if kind in ("s", "cpy"):
            values = read
        elif kind in ("rrs", "rrc", "rrcs"):
            values = [self._add(operation, a, b) for a, b in zip(values, read, strict=True)]
        elif kind == "re":
            values = [
                self._add(operation, memory.get(cell), b)
                for cell, b in zip(targets, read, strict=True)
            ]
        for cell, value in zip(targets, values, strict=False):
            if value is not None:
                memory[cell] = value
        return values

    def _add(self, operation: Operation, a: Value | None, b: Value | None) -> Value | None:
        if a is None or b is None:
            if a is None and operation.kind == "re":
                self._broken("reads-nothing", operation, "it adds to a chunk that holds nothing")
            return a or b
        if a[0] != b[0]:
            self._broken("wrong-sum", operation, f"it adds up chunks {a[0]} and {b[0]}")
            return a
        if a[1] & b[1]:
            part = (a[1] & b[1]).bit_length() - 1
            self._broken("counted-twice", operation, f"it adds the part of gpu {part} again")
        return a[0], a[1] | b[1]

    def _broken(self, rule: str, operation: Operation, text: str) -> None:
        self.result.broken.append(BrokenRule(rule, operation.place, text))

    def _check_end(self) -> None:
        """Report the first operation that could not go on, or a message that nothing received."""
        for index, block in enumerate(self._blocks):
            if self._next[index] == len(block.operations):
                continue
            operation = block.operations[self._next[index]]
            blocker = self._blocker(index, operation)
            if isinstance(blocker, tuple) and blocker[-1] == "message":
                text = f"it waits for a message of gpu {block.receive}"
                text += f" over channel {block.channel} that is never sent"
            else:
                wait = operation.waits_for
                assert wait is not None
                text = f"it waits for tb {wait[0]}, step {wait[1]}, which is never finished"
            self._broken("deadlock", operation, text)
            return
        for (a, b, channel), queue in self._queues.items():
            if queue:
                text = f"gpu {b} never receives what it sends from gpu {a} over channel {channel}"
                self._broken("never-received", queue[0].sender, text)
                return

    def _find_races(self) -> None:
        """Report two accesses of a chunk of memory, one of them a write, in no fixed order."""
        count, blocks = len(self.finished), len(self._blocks)
        if count * blocks > MAX_CLOCKS:
            self.result.races_searched = False
            return
        # clocks[k, b]: how many operations of thread block b come before operation k, or are it.
        clocks: NDArray[np.int32] = np.zeros((count, blocks), dtype=np.int32)
        row = {id(operation): k for k, operation in enumerate(self.finished)}
        position = [0] * count
        owner = [0] * count
        seen = [0] * blocks
        accesses: defaultdict[Cell, list[tuple[int, bool]]] = defaultdict(list)
        for k, operation in enumerate(self.finished):
            for before in self._predecessors[id(operation)]:
                np.maximum(clocks[k], clocks[row[before]], out=clocks[k])
            block = self._index[operation.gpu, operation.block]
            seen[block] += 1
            position[k], owner[k] = seen[block], block
            clocks[k, block] = seen[block]
            reads = self._cells(operation, operation.source) if operation.kind in READS else []
            writes = self._cells(operation, operation.target) if operation.kind in WRITES else []
            if operation.kind == "cpy":  # a copy of a chunk to itself changes nothing
                kept = [(a, b) for a, b in zip(reads, writes, strict=True) if a != b]
                reads, writes = [a for a, _ in kept], [b for _, b in kept]
            for cell in reads:
                accesses[cell].append((k, False))
            for cell in writes:
                accesses[cell].append((k, True))
        for cell, each in accesses.items():
            for place, (k, write) in enumerate(each):
                for j, other in each[:place]:
                    if (write or other) and clocks[k, owner[j]] < position[j]:
                        first, second = self.finished[j], self.finished[k]
                        verbs = ["writes" if x else "reads" for x in (other, write)]
                        text = f"it {verbs[1]} {_cell_text(cell)}, which {first.place} {verbs[0]}"
                        text += ", and nothing orders the two"
                        self._broken("race", second, text)
                        return


def _cell_text(cell: Cell) -> str:
    names = {"i": "input", "o": "output", "s": "scratch"}
    return f"{names.get(cell[1], cell[1])} chunk {cell[2]}"
