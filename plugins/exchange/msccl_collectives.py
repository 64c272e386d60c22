"""The meaning of the collectives of MSCCL programs: memory before and after, and messages.

Values are those of ``msccl_execution``: the index of a chunk in the input buffer of its GPU, and
the GPUs whose parts are added up.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from cchybrid.model import AllReduction, Message, Reduction
from cchybrid.model.collective import AnyMessage
from cchybrid.model.errors import InputError
from cchybrid.plugin.imported import BrokenRule

from .buffers import NAMES
from .msccl_execution import Value
from .msccl_program import MAX_CHUNKS, READS, WRITES, Cell, Program

KINDS = sorted(NAMES.values())
"""Collectives that can be meant, without hyphens and underscores."""
ROOTED = ("broadcast", "gather", "reduce", "scatter")
"""Collectives with a root."""
OF_EVERY_GPU = ("allgather", "alltoall", "gather")
"""Collectives whose outputs have chunks of every GPU."""
FOR_EVERY_GPU = ("alltoall", "reducescatter", "scatter")
"""Collectives whose inputs have chunks for every GPU."""


class Meaning:
    """The collective of a program.

    Parameters
    ----------
    program
        The program.
    in_place
        Whether input and output are one buffer.
    root
        The root; ``None`` if it is unknown or there is none. Of a broadcast or scatter, every GPU
        then has an input of its own.

    Raises
    ------
    InputError
        It is unknown, or the chunks of its buffers do not fit it.
    """

    def __init__(self, program: Program, in_place: bool, root: int | None = None) -> None:
        self.program, self.in_place, self.kind = program, in_place, program.collective
        self.gpus = len(program.gpus)
        self.everyone = (1 << self.gpus) - 1
        if self.kind not in KINDS:
            raise InputError(
                f"coll={self.kind[:40]!r} has no meaning here",
                where="algo",
                hint=f"use {', '.join(KINDS)}",
            )
        if self.gpus < 2:
            raise InputError("one GPU has nothing to send", where="algo", hint="use at least 2")
        self.root = root if self.kind in ROOTED else None
        if self.root is not None and not 0 <= self.root < self.gpus:
            raise InputError(
                f"no gpu {self.root}, which is the root", where="algo", hint="correct it"
            )
        self.chunks = self._chunks()

    def _chunks(self) -> int:
        """Return the chunks of a message."""
        inputs = {gpu.chunks["i"] for gpu in self.program.gpus}
        if self.kind in ("broadcast", "scatter"):
            inputs = {max(inputs)}
            if self.root is not None:
                inputs = {self.program.gpus[self.root].chunks["i"]}
        if len(inputs) != 1 or not max(inputs):
            sizes = ", ".join(map(str, sorted(inputs)))
            raise InputError(
                f"i_chunks is {sizes}", where="gpu", hint="give every GPU the same input, not empty"
            )
        number = inputs.pop()
        if self.kind in FOR_EVERY_GPU:
            if number % self.gpus:
                raise InputError(
                    f"{number} chunks for {self.gpus} GPUs", where="gpu", hint="use a multiple"
                )
            return number // self.gpus
        return number

    def wrong_sizes(self) -> Iterator[BrokenRule]:
        """Yield what is wrong with sizes: of the loop, and the first step outside a user's buffer.

        Executors compute the size of a chunk from ``nchunksperloop``, and know no ``o_chunks``.
        """
        whole = self.gpus * self.chunks
        sizes = {
            "i": whole if self.kind in FOR_EVERY_GPU else self.chunks,
            "o": whole if self.kind in OF_EVERY_GPU else self.chunks,
        }
        spread = self.kind in ("allgather", "alltoall", "reducescatter")
        per_loop = whole if spread else self.chunks
        if self.program.per_loop not in (None, per_loop):
            text = f"nchunksperloop is {self.program.per_loop}, and buffers have {per_loop} chunks"
            yield BrokenRule("wrong-size", "algo", text)
        for operation in (each for block in self.program.blocks for each in block.operations):
            for used, (buffer, offset) in (
                (READS, operation.source), (WRITES, operation.target),
            ):  # fmt: skip
                size = sizes.get(buffer, MAX_CHUNKS)
                if operation.kind in used and offset + operation.count > size:
                    chunks = f"chunks {offset} to {offset + operation.count - 1}"
                    text = f"{chunks} of buffer {buffer!r}, which has {size} ({self.kind})"
                    yield BrokenRule("outside-buffer", operation.place, text)
                    return

    def cell(self, gpu: int, buffer: str, offset: int) -> Cell:
        """Return the cell of memory; in place, input and output are one buffer."""
        if not self.in_place or buffer == "s":
            return gpu, buffer, offset
        size = self.chunks
        if self.kind in ("allgather", "gather") and buffer == "i" and offset < size:
            return gpu, "o", gpu * size + offset
        parts = self.kind in ("reducescatter", "scatter")
        if parts and buffer == "o" and offset < size:
            return gpu, "i", gpu * size + offset
        return gpu, ("i" if parts else "o"), offset

    def initial(self) -> dict[Cell, Value]:
        """Return the memory at the start."""
        memory: dict[Cell, Value] = {}
        for gpu in self.program.gpus:
            own = gpu.chunks["i"]
            if self.kind in ("broadcast", "scatter") and self.root not in (None, gpu.number):
                own = 0
            for k in range(own):
                memory[self.cell(gpu.number, "i", k)] = (k, 1 << gpu.number)
        return memory

    def expected(self) -> Iterator[tuple[int, int, Value]]:
        """Yield a GPU, an offset in its output, and the value that must be there in the end."""
        origins = [self.everyone]
        if self.kind in OF_EVERY_GPU:
            origins = [1 << gpu for gpu in range(self.gpus)]
        elif self.kind in ("broadcast", "scatter"):
            origins = [1 << (self.root or 0)]
        for gpu in range(self.gpus):
            if self.kind in ("gather", "reduce") and self.root not in (None, gpu):
                continue
            first = gpu * self.chunks if self.kind in FOR_EVERY_GPU else 0
            for place, origin in enumerate(origins):
                for k in range(self.chunks):
                    yield gpu, place * self.chunks + k, (first + k, origin)

    def root_of(self, memory: Mapping[Cell, Value]) -> int:
        """Return the root that most outputs agree with, from the memory at the end.

        The memory is that of an execution without a root: the part of every GPU is seen.
        """
        votes: Counter[int] = Counter()
        for gpu, offset, value in self.expected():
            found = memory.get(self.cell(gpu, "o", offset))
            if found is not None and self.kind in ("gather", "reduce"):
                votes[gpu] += found == value
            elif found is not None and found[0] == value[0]:
                votes[found[1].bit_length() - 1] += 1
        return max(range(self.gpus), key=lambda gpu: (votes[gpu], -gpu))

    def key(self, value: Value) -> tuple[int, int]:
        """Return the key of the message of which a value is a chunk."""
        index, mask = value
        return (mask.bit_length() - 1 if self.kind in OF_EVERY_GPU else 0), index

    def messages(self) -> Iterator[tuple[tuple[int, int], AnyMessage]]:
        """Yield the key and the message of every chunk."""
        goals: defaultdict[Value, list[int]] = defaultdict(list)
        for gpu, _, value in self.expected():
            goals[value].append(gpu)
        for value, gpus in goals.items():
            source = value[1].bit_length() - 1
            if value[1] != self.everyone:
                if others := tuple(gpu for gpu in gpus if gpu != source):
                    yield self.key(value), Message(source, others)
            elif self.kind == "allreduce":
                yield self.key(value), AllReduction(tuple(gpus))
            else:
                others = tuple(gpu for gpu in range(self.gpus) if gpu != gpus[0])
                yield self.key(value), Reduction(others, gpus[0])

    def shown(self, value: Value | None) -> str:
        """Return a value as text."""
        if value is None:
            return "nothing"
        index, mask = value
        nodes = [str(node) for node in range(self.gpus) if mask >> node & 1]
        many = f"{len(nodes)} GPUs" if len(nodes) > 4 else "gpu " + " + gpu ".join(nodes)
        return f"chunk {index} of {many}"
