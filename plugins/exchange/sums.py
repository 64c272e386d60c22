"""Reductions in buffers: where each rank keeps the partial sums that it has and adds them up.

At every rank a message has *values*: its own part, and each sum that it receives. What a rank sends
is a sum of some of them, and so is the result; these are the *uses*. Values that all further uses
have in common are added up at once, where possible while receiving.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from cchybrid.model import Schedule

from .buffers import INPUT, Buffers, Place
from .program_parts import Local, Move, Program, new_scratch, transfers

FINAL = 1 << 40
"""The step of the use of a result, after all others."""


@dataclass(eq=False)
class _Value:
    """Parts that a rank has as one sum.

    Parameters
    ----------
    parts
        The ranks whose parts it adds up, as a bit mask.
    since
        The step after which the rank has it; -1 from the start.
    uses
        Steps and numbers of the uses.
    place
        Where it is; known when it is there.
    """

    parts: int
    since: int
    uses: set[tuple[int, int]] = field(default_factory=set)
    place: Place | None = None

    def uses_after(self, step: int) -> frozenset[tuple[int, int]]:
        return frozenset(use for use in self.uses if use[0] > step)


def add_up(schedule: Schedule, program: Program, one_sided: bool) -> tuple[list[Move], list[Local]]:
    """Return the moves of a reduction or an allreduce, and the additions after each step."""
    events: defaultdict[tuple[int, int], list[_Event]] = defaultdict(list)
    moves: list[_Event] = []
    full = (1 << len(program.buffers.ranks)) - 1
    held: defaultdict[tuple[int, int], int] = defaultdict(int)
    for step, batch, slot, message, sender, receiver, path in transfers(schedule, program.buffers):
        if schedule.sums:
            parts = _mask(schedule, program.buffers, step, slot)
        else:  # a reduction: a rank sends all that it has, once, after it has received all
            parts = held[message, sender] | 1 << sender
            held[message, receiver] |= parts
        event = _Event(len(moves), step, batch, parts, sender, receiver, path)
        moves.append(event)
        events[message, sender].append(event)
        events[message, receiver].append(event)
    additions: list[Local] = []
    for message in range(len(schedule.instance.collective.messages)):
        for rank in range(len(program.buffers.ranks)):
            _Rank(program, message, rank, full, one_sided).run(events[message, rank], additions)
    made = []
    for event in moves:
        assert event.source is not None
        assert event.target is not None
        ends = event.sender, event.source, event.receiver, event.addend, event.target
        made.append(Move(event.step, event.batch, *ends, event.path, event.step))
    return made, additions


@dataclass(eq=False)
class _Event:
    """A transfer, whose places are found at its two ends."""

    number: int
    step: int
    batch: int
    parts: int
    sender: int
    receiver: int
    path: tuple[int, ...]
    source: Place | None = None
    addend: Place | None = None
    target: Place | None = None


class _Rank:
    """The values of one message at one rank."""

    def __init__(
        self, program: Program, message: int, rank: int, full: int, one_sided: bool
    ) -> None:
        self.program, self.rank, self.full, self.one_sided = program, rank, full, one_sided
        self.result = program.buffers.result(message, rank)
        own = program.buffers.own(message, rank)
        self.own = _Value(1 << rank, -1, place=own)
        self.values = [self.own]

    def run(self, events: list[_Event], additions: list[Local]) -> None:
        """Find the places of all transfers of this rank, and what it adds up after which step."""
        received = {
            event.number: _Value(event.parts, event.step)
            for event in events
            if event.receiver == self.rank
        }
        sends = [event for event in events if event.sender == self.rank]
        everything = [self.own, *received.values()]
        for event in sends:
            _use(everything, event.parts, (event.step, event.number))
        if self.result is not None:
            _use(everything, self.full, (FINAL, -1))
        for step in sorted({event.step for event in events}):
            for event in sends:
                if event.step == step:
                    event.source = self._sum(step, event.number, additions)
            for event in events:
                if event.step == step and event.receiver == self.rank:
                    self._receive(event, received[event.number])
            self._merge(step, additions)
        if self.result is not None:
            last = max((event.step for event in events), default=0)
            places = self._places(FINAL, -1)
            if places != (self.result,):
                additions.append(Local(last, self.rank, places, self.result))

    def _places(self, step: int, number: int) -> tuple[Place, ...]:
        found = [v.place for v in self.values if (step, number) in v.uses]
        return tuple(place for place in found if place is not None)

    def _sum(self, step: int, number: int, additions: list[Local]) -> Place:
        """Return where a transfer finds what it sends, added up before the step if necessary."""
        places = self._places(step, number)
        if len(places) == 1:
            return places[0]
        target = new_scratch(self.program, self.rank)
        additions.append(Local(step - 1, self.rank, places, target))
        return target

    def _receive(self, event: _Event, value: _Value) -> None:
        """Give a received value its place; add it up on the way in where that is possible."""
        after = value.uses_after(event.step)
        if not self.one_sided:
            for other in self.values:
                same = after and other.uses_after(event.step) == after
                if same and len(after) == len([u for u in other.uses if u[0] >= event.step]):
                    event.addend = other.place
                    event.target = other.place = self._accumulator(other, event.step)
                    other.parts |= value.parts
                    return
        self.values.append(value)
        is_result = (FINAL, -1) in after and not any(
            (FINAL, -1) in other.uses for other in self.values if other is not value
        )
        if is_result and self._is_free(event.step, value):
            event.target = self.result
        else:
            event.target = new_scratch(self.program, self.rank)
        value.place = event.target

    def _merge(self, step: int, additions: list[Local]) -> None:
        """Add up the values that all further uses have in common."""
        groups: defaultdict[frozenset[tuple[int, int]], list[_Value]] = defaultdict(list)
        for value in self.values:
            if after := value.uses_after(step):
                groups[after].append(value)
        for members in groups.values():
            if len(members) == 1:
                continue
            first = members[0]
            places = tuple(value.place for value in members if value.place is not None)
            first.place = self._accumulator(first, step)
            additions.append(Local(step, self.rank, places, first.place))
            for value in members[1:]:
                first.parts |= value.parts
                self.values.remove(value)

    def _accumulator(self, value: _Value, step: int) -> Place:
        """Return where the sum of a value and others goes: never to the input buffer."""
        assert value.place is not None
        if value.place.buffer != INPUT:
            return value.place
        keeps = (FINAL, -1) in value.uses or (self.result is not None and not self.one_sided)
        if keeps and self.result is not None and self._is_free(step, value):
            return self.result
        return new_scratch(self.program, self.rank)

    def _is_free(self, step: int, value: _Value) -> bool:
        """Return whether the place of the result has no other value that is used from now on.

        It may be that of the rank's own part, when working in place.
        """
        assert self.result is not None
        shared = self.program.buffers.shared(self.result, self.rank)
        if self.one_sided:  # written at any time after the start, so by one writer only
            others = [v for v in self.values if v is not value and v.place == self.result]
            return not others
        return not any(
            other.place in (shared, self.result) and any(use[0] >= step for use in other.uses)
            for other in self.values
            if other is not value
        )


def _use(values: list[_Value], parts: int, use: tuple[int, int]) -> None:
    """Mark the values that a use adds up: the largest ones that the rank has by then."""
    inside = [v for v in values if v.since < use[0] and v.parts | parts == parts]
    for value in inside:
        larger = any(v.parts != value.parts and v.parts | value.parts == v.parts for v in inside)
        if not larger:
            value.uses.add(use)


def _mask(schedule: Schedule, buffers: Buffers, step: int, slot: int) -> int:
    return sum(1 << buffers.ranks.index(node) for node in schedule.sums[step][slot])
