"""Thread blocks of MSCCL: who sends and receives what in which order, and who waits for whom.

A connection leads from one rank to another over one channel; one thread block sends over it and one
receives from it, in the same order. A thread block that receives chunks which another one sends on
directly may do both at once: with a sum in any case, without one if the chunk has the same place at
all three ranks, as in the files of msccl-tools.

No deadlock: all operations have a common order, batch by batch of every step, first what is sent,
then what is received. A fused operation has the place of its receiving side, and nothing of its
thread block lies between its two sides. Within a thread block operations follow this order, and one
waits only for such that precede it. So the first operation in the order that is not finished can
always go on, provided that a connection holds two chunks: of what was sent before over its
connection at most one chunk, of the same batch, has not been received. MSCCL's connections hold two
chunks with the protocol Simple.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise

from .buffers import OUTPUT, SCRATCH, Place
from .program_parts import Local, Move, Program

MAX_STEPS = 64
"""Steps of a thread block in MSCCL's executor."""

Connection = tuple[int, int, int]
"""Sender, receiver, channel."""


@dataclass(eq=False)
class Operation:
    """One step of a thread block.

    Parameters
    ----------
    kind
        MSCCL's type: ``s``, ``r``, ``rcs``, ``rrs``, ``rrc``, ``rrcs``, ``cpy`` or ``re``.
    source, target
        The chunk that is read (of a reduction the addend), and the one that is written; where only
        the other rank reads, or writes, its chunk.
    place
        Its number in its thread block.
    number
        Its step in its thread block, where waiting takes steps, too.
    after
        The operations of other thread blocks of its rank that it waits for.
    awaited
        Whether another one waits for it.
    sent
        The move that it sends.
    """

    kind: str
    source: Place
    target: Place
    block: "ThreadBlock"
    place: int
    number: int = -1
    after: "list[Operation]" = field(default_factory=list)
    awaited: bool = False
    sent: Move | None = None


@dataclass(eq=False)
class ThreadBlock:
    """Operations that are performed one after another.

    Parameters
    ----------
    send, receive
        The ranks to which it sends and from which it receives, -1 for none.
    """

    rank: int
    send: int = -1
    receive: int = -1
    channel: int = 0
    operations: list[Operation] = field(default_factory=list)


def thread_blocks(program: Program, connections: dict[int, Connection]) -> list[list[ThreadBlock]]:
    """Return the thread blocks of every rank.

    Parameters
    ----------
    connections
        Of every move, by its number among the actions, over which connection it goes.
    """
    versions = _Versions(program)
    senders, receivers, followers = _pair(program, connections, versions)
    count = len(program.buffers.ranks)
    ranks = [_RankOrder(program, rank) for rank in range(count)]
    copying = [[ThreadBlock(rank)] for rank in range(count)]
    before = {sent: received for received, sent in followers.items()}
    for _, number, sends in sorted(_order(program)):
        action = program.actions[number]
        if isinstance(action, Local):
            ranks[action.rank].add_local(action, copying[action.rank])
            continue
        connection = connections[number]
        if sends:
            if number not in before:
                ends = action.source, action.target
                ranks[action.sender].add(
                    senders[connection], "s", *ends, (action.source,), (), action
                )
            continue
        follower = followers.get(number)
        sent = None if follower is None else program.actions[follower]
        assert sent is None or isinstance(sent, Move)
        kind, source, target = _receiving(action, sent, versions.vanishes(number))
        adding = program.actions[before[number]] if number in before else None
        if kind == "r" and isinstance(adding, Move) and versions.vanishes(before[number]):
            source = adding.addend or source  # the sum that is sent has no place of its own
        ranks[action.receiver].add(
            receivers[connection],
            kind,
            source,
            target,
            () if action.addend is None else (action.addend,),
            () if kind == "rrs" else (action.target,),
            sent,
        )
    found: list[list[ThreadBlock]] = [[] for _ in range(count)]
    copiers = chain.from_iterable(copying)
    for block in dict.fromkeys((*senders.values(), *receivers.values(), *copiers)):
        if block.operations:
            found[block.rank].append(block)
            _number(block)
    return found


def _order(program: Program) -> Iterator[tuple[tuple[int, ...], int, bool]]:
    """Yield what orders the operations, the number of their action, and whether they send."""
    for number, action in enumerate(program.actions):
        if isinstance(action, Local):
            yield (action.step, 1, 0, 0), number, False
        else:
            yield (action.step, 0, action.batch, 0), number, True
            yield (action.step, 0, action.batch, 1), number, False


class _Versions:
    """The action that has written what an action reads."""

    def __init__(self, program: Program) -> None:
        written: dict[tuple[int, Place], int] = {}
        self.sent: dict[int, int | None] = {}
        """Per move the action that has written what it sends, ``None`` for the input."""
        self.readers: Counter[int] = Counter()
        """Per action how many read what it has written."""
        shared = program.buffers.shared
        for number, action in enumerate(program.actions):
            if isinstance(action, Local):
                rank, target, reads = action.rank, action.target, action.sources
            else:
                rank, target = action.receiver, action.target
                reads = () if action.addend is None else (action.addend,)
                source = action.sender, shared(action.source, action.sender)
                self.sent[number] = written.get(source)
                self.readers.update([written[source]] if source in written else [])
            places = [(rank, shared(place, rank)) for place in reads]
            self.readers.update(written[place] for place in places if place in written)
            written[rank, shared(target, rank)] = number
        self.final = {
            number for number in written.values() if program.actions[number].target.buffer == OUTPUT
        }

    def vanishes(self, number: int) -> bool:
        """Return whether one other action needs what an action has written, and no user does."""
        return self.readers[number] == 1 and number not in self.final


def _pair(
    program: Program, connections: dict[int, Connection], versions: _Versions
) -> tuple[dict[Connection, ThreadBlock], dict[Connection, ThreadBlock], dict[int, int]]:
    """Return the thread blocks of the two ends of each connection, and the fused moves.

    Of two connections of a rank and channel, one in and one out, one thread block takes care where
    it can receive and send at once for half of the operations of one of them; otherwise two do, so
    that they need not wait for each other. Pairs with many such operations are chosen first.

    Returns
    -------
    senders, receivers, followers
        ``followers`` has, for a move that is received, the one that is sent at once.
    """
    sending: defaultdict[Connection, list[tuple[int, int]]] = defaultdict(list)
    receiving: defaultdict[Connection, list[tuple[int, int]]] = defaultdict(list)
    for place, (_, number, sends) in enumerate(sorted(_order(program))):
        if number in connections:
            (sending if sends else receiving)[connections[number]].append((place, number))
    candidates: set[tuple[Connection, Connection]] = set()
    for number, writer in versions.sent.items():
        if writer in connections and connections[writer][2] == connections[number][2]:
            candidates.add((connections[writer], connections[number]))
    senders: dict[Connection, ThreadBlock] = {}
    receivers: dict[Connection, ThreadBlock] = {}
    followers: dict[int, int] = {}
    weighted = []
    for inward, outward in candidates:
        merged = [number for _, number in sorted((*receiving[inward], *sending[outward]))]
        fused = {
            first: second
            for first, second in pairwise(merged)
            if versions.sent[second] == first and connections[first] == inward
            if _can_fuse(program, first, second)
        }
        if 2 * len(fused) >= min(len(receiving[inward]), len(sending[outward])):
            weighted.append((-len(fused), inward, outward, fused))
    for _, inward, outward, fused in sorted(weighted, key=lambda each: each[:3]):
        if inward not in receivers and outward not in senders:
            block = ThreadBlock(inward[1], outward[1], inward[0], inward[2])
            receivers[inward] = senders[outward] = block
            followers |= fused
    for connection in sorted(sending):
        sender, receiver, channel = connection
        senders.setdefault(connection, ThreadBlock(sender, send=receiver, channel=channel))
        receivers.setdefault(connection, ThreadBlock(receiver, receive=sender, channel=channel))
    return senders, receivers, followers


def _can_fuse(program: Program, first: int, second: int) -> bool:
    """Return whether one operation can receive a move and send another one."""
    inward, outward = program.actions[first], program.actions[second]
    assert isinstance(inward, Move)
    same = inward.source == inward.target == outward.target
    return inward.addend is not None or (same and inward.target.buffer != SCRATCH)


def _receiving(move: Move, sent: Move | None, vanishes: bool) -> tuple[str, Place, Place]:
    """Return type, source and target of the operation that receives a move, and sends another."""
    if move.addend is None:
        return ("r" if sent is None else "rcs"), move.source, move.target
    if sent is None:
        return "rrc", move.addend, move.target
    return ("rrs", move.addend, sent.target) if vanishes else ("rrcs", move.addend, move.target)


class _RankOrder:
    """Adds operations to the thread blocks of a rank, and finds out what each has to wait for.

    Every operation has a clock: per thread block how many operations have ended before it begins.
    So it waits for no operation that has ended anyway.
    """

    def __init__(self, program: Program, rank: int) -> None:
        self._rank, self._shared = rank, program.buffers.shared
        self._writer: dict[Place, Operation] = {}
        self._readers: defaultdict[Place, list[Operation]] = defaultdict(list)
        self._clocks: dict[Operation, dict[ThreadBlock, int]] = {}
        self._order: dict[Operation, int] = {}

    def add(
        self,
        block: ThreadBlock,
        kind: str,
        source: Place,
        target: Place,
        reads: tuple[Place, ...],
        writes: tuple[Place, ...],
        sent: Move | None = None,
    ) -> None:
        """Add an operation at the end of a thread block."""
        operation = Operation(kind, source, target, block, len(block.operations), sent=sent)
        clock: dict[ThreadBlock, int] = {}
        if block.operations:
            clock |= self._clocks[block.operations[-1]]
        read = [self._shared(place, self._rank) for place in reads]
        written = [self._shared(place, self._rank) for place in writes]
        before = {self._writer[place] for place in (*read, *written) if place in self._writer}
        before.update(each for place in written for each in self._readers[place])
        for other in sorted(before, key=self._order.__getitem__, reverse=True):
            if other.block is not block and clock.get(other.block, 0) <= other.place:
                operation.after.append(other)
                other.awaited = True
                for key, ended in self._clocks[other].items():
                    clock[key] = max(clock.get(key, 0), ended)
        clock[block] = operation.place + 1
        self._clocks[operation], self._order[operation] = clock, len(self._order)
        block.operations.append(operation)
        for place in read:
            self._readers[place].append(operation)
        for place in written:
            self._writer[place], self._readers[place] = operation, []

    def add_local(self, action: Local, copying: list[ThreadBlock]) -> None:
        """Add a copy or an addition, to the thread block that has received the last source."""
        if len(copying[-1].operations) == MAX_STEPS:
            copying.append(ThreadBlock(self._rank))
        first, *others = action.sources
        if not others and self._shared(first, self._rank) == self._shared(
            action.target, self._rank
        ):  # of the input to the output: nothing to do in place, and no other uses it
            self.add(copying[-1], "cpy", first, action.target, (), ())
            return
        writers = [self._writer.get(self._shared(each, self._rank)) for each in action.sources]
        last = max((w for w in writers if w), key=self._order.__getitem__, default=None)
        block = copying[-1] if last is None else last.block
        if first != action.target:
            self.add(block, "cpy", first, action.target, (first,), (action.target,))
        for place in others:
            both = place, action.target
            self.add(block, "re", place, action.target, both, (action.target,))


def _number(block: ThreadBlock) -> None:
    """Number the operations of a thread block; all but one of those waited for cost a step more."""
    number = -1
    for operation in block.operations:
        number += max(1, len(operation.after))
        operation.number = number
