"""MSCCL XML programs: the elements of the file as records, with the rules of the format.

A program has thread blocks per GPU. A thread block has at most one peer that it sends to and one
that it receives from, and executes its steps in order. The k-th send of a thread block to a GPU
over a channel is received by the k-th receive of that GPU from it over the same channel.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from cchybrid.model.errors import InputError
from cchybrid.plugin.imported import BrokenRule

from .lines import OnLine
from .xml_tree import Element, parse_xml

MAX_GPUS = 4096
MAX_OPERATIONS = 200_000
"""Steps of all thread blocks together."""
MAX_CHUNKS = 100_000
"""Chunks of a buffer."""
MAX_MOVED = 2_000_000
"""Chunks that all steps move together."""

SENDS = frozenset({"s", "rcs", "rrs", "rrcs"})
RECEIVES = frozenset({"r", "rcs", "rrs", "rrc", "rrcs"})
LOCAL = frozenset({"cpy", "re", "nop"})
READS = frozenset({"s", "rrs", "rrc", "rrcs", "cpy", "re"})
"""Types that read the source buffer."""
WRITES = frozenset({"r", "rcs", "rrc", "rrcs", "cpy", "re"})
"""Types that write the destination buffer."""
BUFFERS = "ios"

Cell = tuple[int, str, int]
"""GPU, buffer and offset of one chunk of memory."""


@dataclass
class Operation(OnLine):
    """One step of a thread block; cells are those of ``count`` chunks from an offset on.

    ``signals`` tells whether others see that it is finished (``hasdep``). ``at`` and ``path`` are
    the step of the schedule in which it sends, from 1 on, and the nodes of the network between the
    two GPUs, where the file states them, as that of cchybrid does.
    """

    gpu: int
    block: int
    step: int
    kind: str
    source: tuple[str, int]
    target: tuple[str, int]
    count: int
    waits_for: tuple[int, int] | None
    signals: bool
    line: int
    at: int = 0
    path: tuple[int, ...] = ()

    @property
    def place(self) -> str:
        """The place in the file's terms."""
        return f"gpu {self.gpu}, tb {self.block}, step {self.step}"


@dataclass
class ThreadBlock:
    """A thread block: its peers (-1: none), its channel, and its operations in order."""

    gpu: int
    number: int
    send: int
    receive: int
    channel: int
    operations: list[Operation] = field(default_factory=list)

    @property
    def place(self) -> str:
        """The place in the file's terms."""
        return f"gpu {self.gpu}, tb {self.number}"


@dataclass
class Gpu:
    """A GPU: chunks of each buffer, thread blocks by number, its node if the file states it."""

    number: int
    chunks: dict[str, int]
    node: int | None = None
    blocks: dict[int, ThreadBlock] = field(default_factory=dict)


@dataclass
class Program:
    """A program; ``broken`` has what is wrong with it before it is executed.

    ``modes`` are what it is made for: in place (true), or with buffers of their own for input
    and output; ``per_loop`` is the number of chunks into which executors cut the larger buffer;
    ``rounds`` are those of the steps that a file of cchybrid states.
    """

    name: str
    collective: str
    modes: tuple[bool, ...]
    gpus: list[Gpu]
    root: int | None = None
    per_loop: int | None = None
    rounds: tuple[int, ...] = ()
    broken: list[BrokenRule] = field(default_factory=list)

    @cached_property
    def blocks(self) -> list[ThreadBlock]:
        """All thread blocks."""
        return [block for gpu in self.gpus for block in gpu.blocks.values()]

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes of the GPUs, if the file states all of them."""
        nodes = tuple(gpu.node for gpu in self.gpus if gpu.node is not None)
        return nodes if len(nodes) == len(self.gpus) else ()

    @property
    def states_steps(self) -> bool:
        """Whether the file states the step in which each chunk is sent."""
        sends = [each for b in self.blocks for each in b.operations if each.kind in SENDS]
        return bool(sends) and all(each.at > 0 and each.count == 1 for each in sends)


def read_program(text: str) -> Program:
    """Return the program of an MSCCL XML text.

    Raises
    ------
    InputError
        It is none, or exceeds a limit; a line of the file is named.
    """
    root = parse_xml(text)
    if root.name != "algo":
        raise root.error(f"<{root.name}> is no <algo>", "give one")
    gpus = sorted((_read_gpu(each) for each in root.named("gpu")), key=lambda gpu: gpu.number)
    stated = root.number("ngpus", len(gpus))
    numbers = [gpu.number for gpu in gpus]
    if not gpus or len(gpus) > MAX_GPUS:
        raise InputError(f"{len(gpus)} GPUs", where="algo", hint=f"use 1 to {MAX_GPUS}")
    if numbers != list(range(len(gpus))) or stated != len(gpus):
        raise InputError(
            f"ngpus={stated}, and GPUs {', '.join(map(str, numbers[:8]))}{', ...' * (stated > 8)}",
            where="algo",
            hint="number them from 0, each once",
        )
    if sum(len(block.operations) for gpu in gpus for block in gpu.blocks.values()) > MAX_OPERATIONS:
        raise InputError(f"more than {MAX_OPERATIONS:,} steps", hint="audit a smaller program")
    name = root.attributes.get("name", "program")[:200]
    kind = root.attributes.get("coll", "").lower().replace("-", "").replace("_", "")
    program = Program(name, kind, _modes(root), gpus, root.number("root", -1))
    program.root = None if program.root == -1 else program.root
    if "nchunksperloop" in root.attributes:
        program.per_loop = root.number("nchunksperloop")
    program.rounds = root.numbers("rounds")
    _check_structure(program)
    return program


def _modes(root: Element) -> tuple[bool, ...]:
    """Return the modes of a program; files without ``outofplace`` have one mode only."""
    in_place = root.number("inplace", 0)
    flags = (root.number("outofplace", 1 - in_place), in_place)
    if flags not in ((0, 1), (1, 0), (1, 1)):
        raise InputError(
            f"outofplace={flags[0]} and inplace={flags[1]}", where="algo",
            hint="use 0 and 1, and 1 for one of them at least",
        )  # fmt: skip
    return tuple(bool(mode) for mode, used in enumerate(flags) if used)


def _read_gpu(element: Element) -> Gpu:
    chunks = {buffer: element.number(f"{buffer}_chunks", 0) for buffer in BUFFERS}
    wrong = [each for each in chunks.values() if not 0 <= each <= MAX_CHUNKS]
    if wrong:
        raise element.error(f"{wrong[0]} chunks", f"use 0 to {MAX_CHUNKS:,}")
    node = element.number("node") if "node" in element.attributes else None
    gpu = Gpu(element.number("id"), chunks, node)
    for each in element.named("tb"):
        block = ThreadBlock(
            gpu.number,
            each.number("id"),
            each.number("send", -1),
            each.number("recv", -1),
            each.number("chan", 0),
        )
        if block.number in gpu.blocks:
            raise each.error(f"{block.place} is listed twice", "number them")
        block.operations = [_read_operation(step, block) for step in each.named("step")]
        numbers = [operation.step for operation in block.operations]
        if numbers != list(range(len(numbers))):
            raise each.error(
                f"the steps of {block.place} are numbered {', '.join(map(str, numbers[:8]))}",
                "write them in their order, and number them from 0",
            )
        _refuse_joined_sums(block)
        gpu.blocks[block.number] = block
    return gpu


def _refuse_joined_sums(block: ThreadBlock) -> None:
    """Raise an ``InputError`` for sums that executors join, of different numbers of chunks.

    They join an ``re`` to the one before it if it has the same target and nothing to wait for.
    """
    for one, two in pairwise(block.operations):
        joined = one.kind == two.kind == "re" and one.target == two.target
        if joined and one.count != two.count and two.waits_for is None and not one.signals:
            raise two.error(
                f"{two.place}: a sum of {two.count} chunks into the place of one of {one.count}",
                "executors join the two; let one wait",
            )


def _read_operation(element: Element, block: ThreadBlock) -> Operation:
    kind = element.attributes.get("type", "")
    if kind not in SENDS | RECEIVES | LOCAL:
        raise element.error(
            f"type={kind[:20]!r} is no type of step of MSCCL",
            f"use {', '.join(sorted(SENDS | RECEIVES | LOCAL))}",
        )
    wait = element.number("depid", -1), element.number("deps", -1)
    return Operation(
        block.gpu,
        block.number,
        element.number("s"),
        kind,
        (element.attributes.get("srcbuf", "i"), element.number("srcoff", -1)),
        (element.attributes.get("dstbuf", "o"), element.number("dstoff", -1)),
        0 if kind == "nop" else element.number("cnt", 1),
        None if wait[0] < 0 else wait,
        kind != "nop" and _flag(element, "hasdep"),  # executors drop a nop, and its flag
        element.line,
        element.number("at", 0),
        element.numbers("path"),
    )


def _flag(element: Element, key: str) -> bool:
    value = element.number(key)
    if value not in (0, 1):
        raise element.error(f"{key}={value}", "use 0 or 1")
    return value == 1


def _check_structure(program: Program) -> None:
    """Add the rules of the format that the program breaks before any step is executed."""
    moved = 0
    sends = {(block.gpu, block.send, block.channel) for block in program.blocks}
    receives = {(block.receive, block.gpu, block.channel) for block in program.blocks}
    for block in program.blocks:
        for peer, connection, others in (
            (block.send, (block.gpu, block.send, block.channel), receives),
            (block.receive, (block.receive, block.gpu, block.channel), sends),
        ):
            if not -1 <= peer < len(program.gpus) or peer == block.gpu:
                _broken(program, "no-such-peer", block.place, f"its peer is gpu {peer}")
            elif peer >= 0 and connection not in others:
                text = f"gpu {peer} has no thread block for it on channel {block.channel}"
                _broken(program, "no-such-peer", block.place, text)
        for operation in block.operations:
            moved += operation.count
            _check_operation(program, block, operation)
    if moved > MAX_MOVED:
        raise InputError(f"more than {MAX_MOVED:,} chunks are moved", hint="audit a smaller one")
    for side, kinds, words in (("send", SENDS, "send to"), ("receive", RECEIVES, "receive from")):
        used = Counter(
            (block.gpu, getattr(block, side), block.channel)
            for block in program.blocks
            if any(each.kind in kinds for each in block.operations)
        )
        for (gpu, peer, channel), count in used.items():
            if count > 1:
                text = f"{count} thread blocks {words} gpu {peer} over channel {channel}"
                _broken(program, "shared-connection", f"gpu {gpu}", text)


def _check_operation(program: Program, block: ThreadBlock, operation: Operation) -> None:
    gpu = program.gpus[block.gpu]
    for peer, kinds, words in (
        (block.send, SENDS, "sends to"), (block.receive, RECEIVES, "receives from"),
    ):  # fmt: skip
        if peer == -1 and operation.kind in kinds:
            text = f"{operation.kind} {words} no peer: the thread block has none"
            _broken(program, "no-such-peer", operation.place, text)
    if operation.waits_for is not None:
        other, step = operation.waits_for
        known = gpu.blocks.get(other)
        if known is None or step not in {each.step for each in known.operations}:
            text = f"it waits for tb {other}, step {step}, which gpu {gpu.number} does not have"
            _broken(program, "no-such-step", operation.place, text)
    if operation.count < (0 if operation.kind == "nop" else 1):
        _broken(program, "outside-buffer", operation.place, f"it moves {operation.count} chunks")
    for used, (buffer, offset) in ((READS, operation.source), (WRITES, operation.target)):
        if operation.kind not in used:
            continue
        size = gpu.chunks.get(buffer, 0)
        if buffer not in BUFFERS or offset < 0 or offset + operation.count > size:
            chunks = f"{offset} to {offset + operation.count - 1}"
            text = f"chunks {chunks} of buffer {buffer[:8]!r}, which has {size}"
            _broken(program, "outside-buffer", operation.place, text)


def _broken(program: Program, rule: str, place: str, text: str) -> None:
    program.broken.append(BrokenRule(rule, place, text))
