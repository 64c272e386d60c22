"""MSCCL programs executed symbolically: what every chunk of memory holds, and when.

An operation may start when its thread block has finished the one before, when the step that it
waits for (or a later one of the same thread block) has signalled its end and, if it receives, when
its message has been sent. A value is the index of a chunk and the GPUs whose data are added up.
"""

import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cchybrid.plugin.imported import BrokenRule

from .msccl_program import READS, RECEIVES, SENDS, WRITES, Cell, Operation, Program, ThreadBlock
from .placement import Placement

MAX_BUFFERED = 8
"""Messages of a connection that are sent and not received: the slots that NCCL's buffers have."""
MAX_CLOCKS = 40_000_000
"""Operations times thread blocks up to which unordered accesses of memory are searched for."""

Value = tuple[int, int]
"""Index of a chunk, and the GPUs whose parts are added up, as a bit mask."""


@dataclass
class Sent:
    """One chunk on its way: its sender and receiver, the step, the value, and the nodes passed.

    ``origin`` is the transfer that has brought the chunk to the sender, if it is sent unchanged.
    """

    sender: Operation
    receiver: int
    step: int
    value: Value | None
    path: tuple[int, ...]
    origin: "Sent | None" = None


@dataclass
class Execution:
    """The result: transfers by step, memory, and the first broken rules."""

    sent: list[Sent] = field(default_factory=list)
    memory: dict[Cell, Value] = field(default_factory=dict)
    broken: list[BrokenRule] = field(default_factory=list)
    races_searched: bool = True
    steps: int = 0


class StatedSteps:
    """The steps and paths that a file states; ``nodes`` are those of the GPUs.

    ``hold`` tells whether the thread blocks send in the order of the steps, over paths between
    their GPUs. Whether a GPU has what it sends by then is for the referee to say.
    """

    def __init__(self, nodes: Sequence[int]) -> None:
        self.nodes, self.hold = nodes, True

    def put(self, operation: Operation, receiver: int, last: int) -> tuple[int, tuple[int, ...]]:
        """Return step and path of what an operation sends; ``last`` is that of the send before."""
        ends = self.nodes[operation.gpu], self.nodes[receiver]
        path = operation.path or ends
        self.hold = self.hold and operation.at >= last and (path[0], path[-1]) == ends
        return operation.at, path


class _Message:
    """A message of a connection: the chunks, and the step at whose end it has arrived."""

    def __init__(self, sender: Operation, sent: list[Sent], arrival: int) -> None:
        self.sender, self.sent, self.arrival = sender, sent, arrival


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
    placement
        The network with the room that steps have left, or the steps that the file states; ``None``:
        a thread block sends one message per step, whatever its size, and all of them may do so at
        once.
    order
        Rank of operations (by identity) in which those that are ready compete for capacity.
    """

    def __init__(
        self,
        program: Program,
        cell: Callable[[int, str, int], Cell],
        initial: Mapping[Cell, Value],
        placement: Placement | StatedSteps | None = None,
        order: Mapping[int, int] | None = None,
    ) -> None:
        self.program, self.cell, self.placement = program, cell, placement
        self.result = Execution(memory=dict(initial))
        self._order = order or {}
        self._blocks = program.blocks
        self._index = {(b.gpu, b.number): i for i, b in enumerate(self._blocks)}
        self._next = [0] * len(self._blocks)
        self._ready = [0] * len(self._blocks)  # steps that are over when the block may go on
        self._link = [0] * len(self._blocks)  # the last step in which the block has sent
        self._done: dict[tuple[int, int, int], int] = {}
        self._queues: defaultdict[tuple[int, int, int], deque[_Message]] = defaultdict(deque)
        self._signals = _signals(self._blocks)
        self._waiting: defaultdict[object, list[int]] = defaultdict(list)
        self.finished: list[Operation] = []
        self.times: dict[int, int] = {}
        self._predecessors: dict[int, list[int]] = {}
        self._last_operation: dict[tuple[int, int, int], int] = {}
        self._brought_by: dict[Cell, Sent | None] = {}

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
        if not self.result.broken and self.placement is None:
            self._find_races()
        return self.result

    def _blocker(self, block: int, operation: Operation) -> object | None:
        """Return the event that the operation has to wait for, if it has not happened."""
        event = self._event(operation)
        if event is not None and event not in self._done:
            return event
        if operation.kind in RECEIVES:
            connection = self._connection_in(self._blocks[block])
            if not self._queues[connection]:
                return connection, "message"
        if operation.kind in SENDS:
            connection = self._connection_out(self._blocks[block])
            if len(self._queues[connection]) >= MAX_BUFFERED:
                return connection, "room"
        return None

    def _event(self, operation: Operation) -> tuple[int, int, int] | None:
        """Return the step whose signal the operation waits for; one that none has comes never."""
        if operation.waits_for is None:
            return None
        block, step = operation.waits_for
        return operation.gpu, block, self._signals.get((operation.gpu, block, step), -1)

    @staticmethod
    def _connection_in(block: ThreadBlock) -> tuple[int, int, int]:
        return block.receive, block.gpu, block.channel

    @staticmethod
    def _connection_out(block: ThreadBlock) -> tuple[int, int, int]:
        return block.gpu, block.send, block.channel

    def _execute(self, index: int, operation: Operation) -> list[object]:
        block = self._blocks[index]
        ready, before = self._ready[index], []
        if self._next[index]:
            before.append(id(block.operations[self._next[index] - 1]))
        event = self._event(operation)
        if event is not None:
            ready = max(ready, self._done[event])
            before.append(self._last_operation[event])
        values: list[Value | None] = []
        origins: dict[int, Sent | None] = {}
        woken: list[object] = [(operation.gpu, operation.block, operation.step)]
        if operation.kind in RECEIVES:
            message = self._queues[self._connection_in(block)].popleft()
            woken.append((self._connection_in(block), "room"))
            if len(message.sent) != operation.count:
                text = (
                    f"it receives {operation.count} chunks of the {len(message.sent)} that "
                    f"{message.sender.place} sends"
                )
                self._broken("count-mismatch", operation, text)
            ready = max(ready, message.arrival)
            values = [each.value for each in message.sent]
            values = (values + [None] * operation.count)[: operation.count]
            before.append(id(message.sender))
            if operation.kind in ("r", "rcs"):
                origins = dict(enumerate(message.sent))
        values = self._compute(operation, values)
        if operation.kind == "s":
            cells = enumerate(self._cells(operation, operation.source))
            origins = {k: self._brought_by.get(cell) for k, cell in cells}
        elif operation.kind in WRITES:
            for k, cell in enumerate(self._cells(operation, operation.target)):
                self._brought_by[cell] = origins.get(k)
        time = ready
        if operation.kind in SENDS:
            sent = self._send(index, operation, values, ready, origins)
            arrival = self._link[index]
            connection = self._connection_out(block)
            self._queues[connection].append(_Message(operation, sent, arrival))
            woken.append((connection, "message"))
            # The memory that is sent has been read before the step in which it travels.
            ready, time = max(ready, arrival - 1), arrival
        self._ready[index] = ready
        if operation.signals:
            self._done[operation.gpu, operation.block, operation.step] = ready
        self._last_operation[operation.gpu, operation.block, operation.step] = id(operation)
        self.finished.append(operation)
        self.times[id(operation)] = time
        self._predecessors[id(operation)] = before
        return woken

    def _send(
        self,
        index: int,
        operation: Operation,
        values: list[Value | None],
        ready: int,
        origins: Mapping[int, Sent | None],
    ) -> list[Sent]:
        """Put the chunks into the first steps with room; ``_link`` has the last of these steps."""
        block = self._blocks[index]
        a, b = operation.gpu, block.send
        step = max(ready + 1, self._link[index] + (self.placement is None))
        sent = []
        for k, value in enumerate(values):
            path: tuple[int, ...] = (a, b)
            if isinstance(self.placement, StatedSteps):
                step, path = self.placement.put(operation, b, self._link[index])
            elif self.placement is not None:
                step, path = self.placement.put(a, b, step)
            sent.append(Sent(operation, b, step, value, path, origins.get(k)))
        self.result.sent += sent
        self._link[index] = step
        self.result.steps = max(self.result.steps, step)
        return sent

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
            elif isinstance(blocker, tuple) and blocker[-1] == "room":
                text = f"gpu {block.send} never receives one of the {MAX_BUFFERED} messages before"
            else:
                wait = operation.waits_for
                assert wait is not None
                text = f"it waits for tb {wait[0]}, step {wait[1]}, which is never finished"
                if blocker == (block.gpu, wait[0], -1):
                    text = f"it waits for tb {wait[0]}, step {wait[1]}, and neither it nor a later"
                    text += " step signals its end (hasdep)"
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
            moved = [(a, b) for a, b in zip(reads, writes, strict=False) if a != b]
            overlap = {a for a, _ in moved} & {b for _, b in moved}
            if overlap:
                text = f"it reads and writes {_cell_text(min(overlap))} for different chunks"
                self._broken("race", operation, f"{text}, and nothing orders the two")
                return
            if operation.kind == "cpy":  # a copy of a chunk to itself changes nothing
                reads, writes = [a for a, _ in moved], [b for _, b in moved]
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


def _signals(blocks: list[ThreadBlock]) -> dict[tuple[int, int, int], int]:
    """Return, per GPU, thread block and step, the first step from it on that signals its end."""
    found: dict[tuple[int, int, int], int] = {}
    for block in blocks:
        signal = None
        for operation in reversed(block.operations):
            signal = operation.step if operation.signals else signal
            if signal is not None:
                found[block.gpu, block.number, operation.step] = signal
    return found


def _cell_text(cell: Cell) -> str:
    names = {"i": "input", "o": "output", "s": "scratch"}
    return f"{names.get(cell[1], cell[1])} chunk {cell[2]}"
