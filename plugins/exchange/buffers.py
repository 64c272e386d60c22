"""The buffers of standard collectives: which chunk of a message lies where at which rank."""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from cchybrid.library.collectives import canonical_name
from cchybrid.library.patterns import pattern_of
from cchybrid.model import Instance, Schedule
from cchybrid.model.collective import AnyMessage, one_and_many
from cchybrid.model.errors import InputError

INPUT, OUTPUT, SCRATCH = "i", "o", "s"
"""The buffers of a rank: what the user gives, what the user gets, and room for what is between."""


SCATTERED = ("AAS", "OAS", "AOG")
"""Collectives whose messages are for one node each."""
NAMES = {
    "AAB": "allgather", "AAS": "alltoall", "OAB": "broadcast", "OAS": "scatter", "AOG": "gather",
    "AOR": "reduce", "AAR": "reducescatter", "allreduce": "allreduce",
}  # fmt: skip
"""The names of MPI and NCCL for patterns of messages."""


class Place(NamedTuple):
    """A chunk of a buffer of a rank."""

    buffer: str
    chunk: int


@dataclass(frozen=True)
class Buffers:
    """The layout of a collective of all ranks, as MPI and NCCL have it; ranks are its members.

    Parameters
    ----------
    collective
        ``allgather``, ``alltoall``, ``broadcast``, ``scatter``, ``gather``, ``reduce``,
        ``reducescatter`` or ``allreduce``.
    ranks
        The node of each rank, ascending.
    chunks
        Chunks of what a rank sends to, or gets from, one other rank.
    inputs, outputs
        Chunks of the input and the output buffer of every rank.
    root
        The rank that sends or gets everything, or -1.
    slots
        Per message its two ends and its number among the messages of the same ends: the rank of
        its source (of a reduction -1), of its destination (of several -1), and the number.
    """

    collective: str
    ranks: tuple[int, ...]
    chunks: int
    inputs: int
    outputs: int
    root: int
    slots: tuple[tuple[int, int, int], ...]

    def own(self, message: int, rank: int) -> Place | None:
        """Return where a rank has its part of a message from the start, or ``None``."""
        source, goal, number = self.slots[message]
        if source not in (-1, rank):
            return None
        spread = self.collective in ("alltoall", "scatter", "reducescatter")
        return Place(INPUT, goal * self.chunks + number if spread else number)

    def result(self, message: int, rank: int) -> Place | None:
        """Return where a rank needs a message in the end, or ``None``; its source needs none."""
        source, goal, number = self.slots[message]
        if goal not in (-1, rank) or source == rank:
            return None
        spread = self.collective in ("allgather", "alltoall", "gather")
        return Place(OUTPUT, source * self.chunks + number if spread else number)

    def own_copies(self, rank: int) -> list[tuple[Place, Place]]:
        """Return the chunks of its own input that a rank has in its output, too: from and to."""
        shift = rank * self.chunks
        if self.collective in ("broadcast", "gather", "scatter") and rank != self.root:
            return []
        if self.collective not in ("allgather", "alltoall", "broadcast", "gather", "scatter"):
            return []
        given = shift if self.collective in ("alltoall", "scatter") else 0
        got = shift if self.collective in ("allgather", "alltoall", "gather") else 0
        return [(Place(INPUT, given + c), Place(OUTPUT, got + c)) for c in range(self.chunks)]

    @property
    def works_in_place(self) -> bool:
        """Whether a rank's input may be a part of its output, or the other way round."""
        return self.collective != "alltoall"

    def shared(self, place: Place, rank: int) -> Place:
        """Return the place of the input that a place of the output is when working in place.

        These are NCCL's conventions; any other place is returned as it is.
        """
        if place.buffer != OUTPUT or not self.works_in_place:
            return place
        shift = rank * self.chunks
        if self.collective in ("reducescatter", "scatter"):
            is_shared = self.collective == "reducescatter" or rank == self.root
            return Place(INPUT, shift + place.chunk) if is_shared else place
        if self.collective == "allgather" or (self.collective == "gather" and rank == self.root):
            index = place.chunk - shift
            return Place(INPUT, index) if 0 <= index < self.chunks else place
        return place if self.collective == "gather" else Place(INPUT, place.chunk)


def buffers_of(instance: Instance, tool: str) -> Buffers:
    """Return the layout of the collective of an instance.

    Parameters
    ----------
    tool
        The format to be written, for messages.

    Raises
    ------
    InputError
        The messages are none of the standard collectives of the nodes that take part.
    """
    messages: tuple[AnyMessage, ...] = instance.collective.messages
    nodes = {node for one, many in map(one_and_many, messages) for node in (one, *many)}
    if not nodes <= {*instance.network.terminals}:
        _refuse(instance, tool, "has nodes that are switches")
    ranks = tuple(sorted(nodes))
    rank_of = {node: rank for rank, node in enumerate(ranks)}
    count = len(ranks)
    copies = Counter(messages)
    chunks = max(copies.values())
    if min(copies.values()) != chunks:
        _refuse(instance, tool, "has different numbers of messages for different ranks")
    pattern = pattern_of(copies, ranks)
    if count == 2 and pattern in ("AAB", "OAB"):
        # Between two processors each message is for all others and for one of them.
        named = canonical_name(instance.collective.name)
        if named not in (("AAB", "AAS") if pattern == "AAB" else ("OAB", "OAS", "AOG")):
            _refuse(instance, tool, "may be several of them on two processors, by its name none")
        pattern = named
    if pattern not in NAMES:
        _refuse(instance, tool, "is none of them")
    name, (one, many) = NAMES[pattern], one_and_many(messages[0])
    wide = count * chunks
    inputs = wide if name in ("alltoall", "scatter", "reducescatter") else chunks
    outputs = wide if name in ("allgather", "alltoall", "gather") else chunks
    root = -1
    if name in ("broadcast", "scatter", "gather", "reduce"):
        root = rank_of[many[0] if name == "gather" else one]
    seen: Counter[tuple[int, int]] = Counter()
    slots = []
    for one, many in map(one_and_many, messages):
        goal = rank_of[many[0]] if pattern in SCATTERED else -1
        ends = (rank_of[one], goal) if instance.collective.kind == "deliver" else (-1, rank_of[one])
        ends = (-1, -1) if name == "allreduce" else ends
        slots.append((*ends, seen[ends]))
        seen[ends] += 1
    return Buffers(name, ranks, chunks, inputs, outputs, root, tuple(slots))


def _refuse(instance: Instance, tool: str, reason: str) -> None:
    raise InputError(
        f"{tool} has standard collectives of all members only, and this one {reason}",
        where=instance.name,
        hint="export an allgather, alltoall, broadcast, scatter, gather, reduce, reduce-scatter or "
        "allreduce, or use --to jsonl",
    )


def refuse_other_relays(schedule: Schedule, buffers: Buffers, tool: str) -> None:
    """Raise an ``InputError`` if a switch keeps a message, or a processor that is no member has it.

    Switches are passed within a step; processors that are no members are not even passed.
    """
    ranks, network = set(buffers.ranks), schedule.instance.network
    others = {*network.terminals} - ranks
    for number, step in enumerate(schedule.steps, 1):
        for message, path in step:
            place = f"{schedule.instance.name}: step {number}, message {message}"
            strangers = others.intersection(path)
            if strangers:
                raise InputError(
                    f"processor {network.node_name(min(strangers))} forwards it and takes no part "
                    f"in the collective, and {tool} has programs of members only",
                    where=place,
                    hint="let all processors take part, or name members whose paths pass no others",
                )
            if not {path[0], path[-1]} <= ranks:
                switch = path[0] if path[0] not in ranks else path[-1]
                raise InputError(
                    f"switch {network.node_name(switch)} keeps it between steps, and {tool} has "
                    "programs of processors only",
                    where=place,
                    hint="solve with --switching wormhole, which passes switches within a step",
                )
