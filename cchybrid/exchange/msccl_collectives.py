"""The meaning of the collectives of MSCCL programs: memory before and after, and messages.

Values are those of ``msccl_execution``: the index of a chunk in the input buffer of its GPU, and
the GPUs whose parts are added up.
"""

from __future__ import annotations

from collections.abc import Iterator

from cchybrid.exchange.msccl_execution import Value
from cchybrid.exchange.msccl_program import Cell, Gpu, Program
from cchybrid.model import AllReduction, Message, Reduction
from cchybrid.model.collective import AnyMessage
from cchybrid.model.errors import InputError

NAMES = ("allgather", "allreduce", "alltoall", "broadcast", "reduce", "reducescatter")
"""Collectives that can be meant, without hyphens and underscores."""


class Meaning:
    """The collective of a program.

    Raises
    ------
    InputError
        It is unknown, or the chunks of its buffers do not fit it.
    """

    def __init__(self, program: Program) -> None:
        self.program, self.kind = program, program.collective
        self.gpus = len(program.gpus)
        self.everyone = (1 << self.gpus) - 1
        if self.kind not in NAMES:
            raise InputError(
                f"coll={self.kind[:40]!r} has no meaning here",
                where="algo",
                hint=f"use {', '.join(NAMES)}",
            )
        if self.gpus < 2:
            raise InputError("one GPU has nothing to send", where="algo", hint="use at least 2")
        self.root = self._root() if self.kind in ("broadcast", "reduce") else 0
        self.chunks = self._chunks()

    def _root(self) -> int:
        """Return the root, which the file names, or the only GPU with an input (or output)."""
        key = "i" if self.kind == "broadcast" else "o"
        having = [gpu.number for gpu in self.program.gpus if gpu.chunks[key]]
        root = self.program.root if self.program.root is not None else 0
        if self.program.root is None and len(having) == 1:
            root = having[0]
        if not 0 <= root < self.gpus:
            raise InputError(f"no gpu {root}, which is the root", where="algo", hint="correct it")
        return root

    def _chunks(self) -> int:
        """Return the chunks of a message."""
        inputs = {gpu.chunks["i"] for gpu in self.program.gpus}
        if self.kind == "broadcast":
            inputs = {self.program.gpus[self.root].chunks["i"]}
        if len(inputs) != 1 or not max(inputs):
            sizes = ", ".join(map(str, sorted(inputs)))
            raise InputError(
                f"i_chunks is {sizes}", where="gpu", hint="give every GPU the same input, not empty"
            )
        number = inputs.pop()
        if self.kind in ("alltoall", "reducescatter"):
            if number % self.gpus:
                raise InputError(
                    f"{number} chunks for {self.gpus} GPUs", where="gpu", hint="use a multiple"
                )
            return number // self.gpus
        return number

    def cell(self, gpu: int, buffer: str, offset: int) -> Cell:
        """Return the cell of memory; in place, input and output are one buffer."""
        if not self.program.in_place or buffer == "s":
            return gpu, buffer, offset
        size = self.chunks
        if self.kind == "allgather" and buffer == "i" and offset < size:
            return gpu, "o", gpu * size + offset
        if self.kind == "reducescatter" and buffer == "o" and offset < size:
            return gpu, "i", gpu * size + offset
        return gpu, ("i" if self.kind == "reducescatter" else "o"), offset

    def initial(self) -> dict[Cell, Value]:
        """Return the memory at the start, with the copies that the program names."""
        memory: dict[Cell, Value] = {}
        for gpu in self.program.gpus:
            own = gpu.chunks["i"]
            if self.kind == "broadcast" and gpu.number != self.root:
                own = 0
            for k in range(own):
                memory[self.cell(gpu.number, "i", k)] = (k, 1 << gpu.number)
        for gpu in self.program.gpus:
            for k, target in self._copies(gpu):
                memory[self.cell(gpu.number, "o", target)] = (k, 1 << gpu.number)
        return memory

    def _copies(self, gpu: Gpu) -> Iterator[tuple[int, int]]:
        for source, target in gpu.copies:
            if not 0 <= source < gpu.chunks["i"] or not 0 <= target < gpu.chunks["o"]:
                raise InputError(
                    f"a copy from input chunk {source} to output chunk {target}",
                    where=f"gpu {gpu.number}",
                    hint="keep to the buffers",
                )
            yield source, target

    def expected(self) -> Iterator[tuple[int, int, Value]]:
        """Yield a GPU, an offset in its output, and the value that must be there in the end."""
        size = self.chunks
        for gpu in range(self.gpus):
            match self.kind:
                case "allreduce":
                    yield from ((gpu, k, (k, self.everyone)) for k in range(size))
                case "allgather":
                    for source in range(self.gpus):
                        for k in range(size):
                            yield gpu, source * size + k, (k, 1 << source)
                case "alltoall":
                    for source in range(self.gpus):
                        for k in range(size):
                            yield gpu, source * size + k, (gpu * size + k, 1 << source)
                case "reducescatter":
                    yield from ((gpu, k, (gpu * size + k, self.everyone)) for k in range(size))
                case "broadcast":
                    yield from ((gpu, k, (k, 1 << self.root)) for k in range(size))
                case _ if gpu == self.root:
                    yield from ((gpu, k, (k, self.everyone)) for k in range(size))

    def key(self, value: Value) -> tuple[int, int]:
        """Return the key of the message of which a value is a chunk."""
        index, mask = value
        if self.kind in ("allgather", "alltoall"):
            return mask.bit_length() - 1, index
        return 0, index

    def messages(self) -> Iterator[tuple[tuple[int, int], AnyMessage]]:
        """Yield the key and the message of every chunk."""
        nodes = range(self.gpus)
        size = self.chunks
        for node in nodes:
            others = tuple(other for other in nodes if other != node)
            match self.kind:
                case "allgather":
                    yield from (((node, k), Message(node, others)) for k in range(size))
                case "alltoall":
                    for other in others:
                        for k in range(other * size, (other + 1) * size):
                            yield (node, k), Message(node, (other,))
                case "reducescatter":
                    first = node * size
                    for k in range(first, first + size):
                        yield (0, k), Reduction(others, node)
                case "broadcast" if node == self.root:
                    yield from (((0, k), Message(node, others)) for k in range(size))
                case "reduce" if node == self.root:
                    yield from (((0, k), Reduction(others, node)) for k in range(size))
                case "allreduce" if node == 0:
                    members = AllReduction(tuple(nodes))
                    yield from (((0, k), members) for k in range(size))

    def shown(self, value: Value | None) -> str:
        """Return a value as text."""
        if value is None:
            return "nothing"
        index, mask = value
        nodes = [str(node) for node in range(self.gpus) if mask >> node & 1]
        many = f"{len(nodes)} GPUs" if len(nodes) > 4 else "gpu " + " + gpu ".join(nodes)
        return f"chunk {index} of {many}"
