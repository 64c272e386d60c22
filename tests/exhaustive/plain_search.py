"""A plain search over the schedules of a tiny instance, by the rules of ``plain_rules`` alone.

A state says, for every message, which nodes have it; of an allreduce or a scan, which values every
node holds. A step is a set of moves ``(message, path, sum)``. The search tries every step from
every state that it meets, with one exception, which ``Search.steps_from`` justifies.
In time slots, which have no order, ``plain_slots`` searches.
"""

import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from tests.exhaustive.plain_rules import Parts, Path, Rules, can_send, receipt_violation

State = tuple[Any, ...]
"""Per message the nodes that have it; of sums, per message and node its values."""


class Move(NamedTuple):
    """One transfer, in the direction of reading; ``parts`` only of a sum."""

    message: int
    path: Path
    parts: Parts | None


Step = tuple[Move, ...]


class TooLargeError(Exception):
    """The search would take more work than its limit."""


class Search:
    """All schedules of one instance.

    Parameters
    ----------
    limit
        Sets of moves that are looked at before ``TooLargeError`` is raised; ``left`` is what is
        left of it, and may be set anew.
    """

    def __init__(self, instance: dict[str, Any], limit: int) -> None:
        self.rules = Rules(instance)
        self.left = limit
        nodes = self.rules.nodes
        self._paths = {(a, b): self.rules.paths(a, b) for a in nodes for b in nodes if a != b}
        self._uses = {
            path: Counter(_resources(self.rules, path))
            for each in self._paths.values()
            for path in each
        }
        self._known: dict[tuple[State, int, int], bool] = {}
        if self.rules.members:
            start = (
                frozenset([frozenset([node])]) if node in members else frozenset()
                for members in self.rules.members
                for node in nodes
            )
            self.start: State = tuple(zip(*[start] * len(nodes), strict=True))
        else:
            self.start = tuple(frozenset([source]) for source, _ in self.rules.messages)

    def is_feasible(self) -> bool:
        """Return whether there is a schedule of any number of steps.

        Moves made one by one, each in a step of its own, reach everything that any schedule
        reaches; the parts of an allreduce or a scan may be sent one by one, too, each as a message.
        """
        rules = self.rules
        sent: list[tuple[int, int, frozenset[int], Parts | None]] = [
            (source, message, goals, None) for message, (source, goals) in enumerate(rules.messages)
        ]
        sent += [
            (node, message, frozenset(n for n in members if node in needs[n]), frozenset([node]))
            for message, (members, needs) in enumerate(zip(rules.members, rules.needs, strict=True))
            for node in members
        ]
        for source, message, goals, parts in sent:
            holders = {source}
            for _ in rules.nodes:
                holders |= {
                    b
                    for (a, b), paths in self._paths.items()
                    if a in holders and paths and rules.may_receive(message, b, parts)
                    if rules.inject[a] > 0 and rules.accept[b] > 0
                }
            if not goals - {source} <= holders:
                return False
        return True

    def fewest_steps(self) -> int:
        """Return the optimum of a feasible instance."""
        steps = 0
        while not self.can_finish(self.start, 0, steps):
            steps += 1
        return steps

    def can_finish(self, state: State, done: int, left: int) -> bool:
        """Return whether at most ``left`` further steps complete a state after ``done`` steps."""
        if self.is_complete(state):
            return True
        if left == 0:
            return False
        key = self._without_names(state), min(done, len(self.rules.rounds)), left
        if key not in self._known:
            self._known[key] = any(
                self.can_finish(self.after(state, step), done + 1, left - 1)
                for step in self.steps_from(state, done, only_full=not self.rules.members)
            )
        return self._known[key]

    def schedules(self, steps: int) -> Iterator[list[Step]]:
        """Yield every schedule of exactly this many steps."""
        yield from self._continued(self.start, 0, steps)

    def _continued(self, state: State, done: int, steps: int) -> Iterator[list[Step]]:
        if done == steps:
            if self.is_complete(state):
                yield []
        elif self.can_finish(state, done, steps - done):
            for step in self.steps_from(state, done):
                if step or self.rules.may_be_empty:
                    for rest in self._continued(self.after(state, step), done + 1, steps):
                        yield [step, *rest]

    def draw(self, steps: int, rng: random.Random, tries: int = 60) -> list[Step] | None:
        """Return a random schedule of exactly this many steps; ``None`` if no try succeeds."""
        for _ in range(tries):
            state, found = self.start, list[Step]()
            for done in range(steps):
                step = self._random_step(state, done, rng)
                if not step and not self.rules.may_be_empty:
                    break
                state = self.after(state, step)
                found.append(step)
                if not self.can_finish(state, done + 1, steps - done - 1):
                    break
            else:
                return found
        return None

    def greedy(self, rng: random.Random, longest: int) -> list[Step] | None:
        """Return a random schedule of no particular length; ``None`` if it comes to a dead end."""
        state, found = self.start, list[Step]()
        while not self.is_complete(state):
            step = self._random_step(state, len(found), rng)
            if len(found) == longest or not self._receipts(state):
                return None
            if step or self.rules.may_be_empty:
                state = self.after(state, step)
                found.append(step)
        return found

    def in_ticks(self, rng: random.Random, longest: int) -> list[Step] | None:
        """Return a random schedule in ticks: transfers one by one, as early as they fit, or later.

        ``None`` if it comes to a dead end, or takes more ticks.
        """
        rules, used, since = self.rules, Counter[Any](), dict[tuple[int, int], int]()
        starts: list[tuple[int, Move]] = []
        state, waits = self.start, rng.choice((0, 1, 3))
        while not self.is_complete(state):
            receipts = self._receipts(state)
            if not receipts:
                return None
            move = rng.choice(rng.choice(receipts))
            uses = Counter(rules.uses(move.path))
            if any(rules.limit(rule, place) == 0 for rule, place, _ in uses):
                self._count()
                continue
            start = since.get((move.message, move.path[0]), 0) + rng.randint(0, waits)
            while any(
                used[rule, place, start + tick] + n > rules.limit(rule, place)
                for (rule, place, tick), n in uses.items()
            ):
                start += 1
            used.update((rule, place, start + tick) for rule, place, tick in uses.elements())
            since[move.message, move.path[-1]] = start + rules.duration(move.path)
            starts.append((start, move))
            state = self.after(state, (move,))
        ticks = max(start + rules.duration(move.path) for start, move in starts)
        if ticks > longest:
            return None
        return [tuple(m for s, m in starts if s == tick) for tick in range(ticks)]

    def is_complete(self, state: State) -> bool:
        """Return whether every destination has its message, every member the whole sum."""
        if self.rules.members:
            return all(
                self.rules.has_its_sum(message, node, values[node])
                for message, (values, members) in enumerate(
                    zip(state, self.rules.members, strict=True)
                )
                for node in members
            )
        return all(goals <= has for has, (_, goals) in zip(state, self.rules.messages, strict=True))

    def after(self, state: State, step: Step) -> State:
        """Return the state after a step."""
        if not self.rules.members:
            got = [{move.path[-1] for move in step if move.message == m} for m in range(len(state))]
            return tuple(has | new for has, new in zip(state, got, strict=True))
        return tuple(
            tuple(
                held | {v.parts for v in step if v.message == m and v.path[-1] == node}
                for node, held in enumerate(values)
            )
            for m, values in enumerate(state)
        )

    def steps_from(self, state: State, done: int, only_full: bool = False) -> Iterator[Step]:
        """Yield every set of moves that may be made together, the empty one included.

        Parameters
        ----------
        only_full
            Leave out sets to which a further receiver could be added. This loses no optimum of
            messages that are copied: a schedule that goes on from fewer holders goes on from more
            of them, without the moves to those that have the message already. (Where steps have
            equally many rounds, a step that becomes empty is left out, too.)
        """
        receipts = self._receipts(state)
        taken: list[Move] = []
        room = self._room(done)

        def choose(index: int, skipped: list[int]) -> Iterator[Step]:
            self._count()
            if index == len(receipts):
                addable = (move for i in skipped for move in receipts[i])
                if not only_full or not any(self._fits(room, move) for move in addable):
                    yield tuple(taken)
                return
            for move in receipts[index]:
                if self._fits(room, move) and self._may_arrive(state, taken, move):
                    taken.append(move)
                    room.subtract(self._uses[move.path])
                    yield from choose(index + 1, skipped)
                    room.update(self._uses[move.path])
                    taken.pop()
            yield from choose(index + 1, [*skipped, index])

        yield from choose(0, [])

    def _random_step(self, state: State, done: int, rng: random.Random) -> Step:
        receipts, taken, room = self._receipts(state), list[Move](), self._room(done)
        rng.shuffle(receipts)
        passed_over = rng.choice((0, 0, 0.3, 0.7))
        for moves in receipts:
            self._count()
            fitting = [move for move in moves if self._fits(room, move)]
            fitting = [move for move in fitting if self._may_arrive(state, taken, move)]
            if fitting and rng.random() >= passed_over:
                taken.append(rng.choice(fitting))
                room.subtract(self._uses[taken[-1].path])
        return tuple(taken)

    def _receipts(self, state: State) -> list[list[Move]]:
        """Return, for all that some node could receive by itself, the moves that bring it."""
        found = []
        for message, has in enumerate(state):
            for node in self.rules.nodes:
                if not self.rules.members:
                    if node not in has and self.rules.may_receive(message, node):
                        found.append(self._moves(message, node, has, None))
                    continue
                sums = {parts for held in has for parts in _sums_of(held)}
                for parts in sorted(sums, key=sorted):
                    fits = self.rules.may_receive(message, node, parts)
                    if fits and receipt_violation(has[node], parts) is None:
                        senders = [u for u in self.rules.nodes if can_send(has[u], parts)]
                        found.append(self._moves(message, node, senders, parts))
        return [moves for moves in found if moves]

    def _moves(self, message: int, node: int, senders: Any, parts: Parts | None) -> list[Move]:
        return [
            Move(message, path, parts)
            for sender in sorted(senders)
            if sender != node
            for path in self._paths[sender, node]
        ]

    def _room(self, done: int) -> Counter[Any]:
        """Return how often everything that has a limit may be used in a step."""
        rules, times = self.rules, self.rules.rounds_in(done)
        limits: dict[Any, float] = {("channel", hop): c for hop, c in rules.capacity.items()}
        limits |= {("inject", node): rules.inject[node] for node in rules.nodes}
        limits |= {("accept", node): rules.accept[node] for node in rules.nodes}
        return Counter({what: limit * times for what, limit in limits.items()})

    def _fits(self, room: Counter[Any], move: Move) -> bool:
        return all(room[what] >= n for what, n in self._uses[move.path].items())

    def _may_arrive(self, state: State, taken: list[Move], move: Move) -> bool:
        """Return whether a sum may arrive together with others of the step."""
        if move.parts is None:
            return True
        end = move.message, move.path[-1]
        arrived = [other for other in taken if (other.message, other.path[-1]) == end]
        sums = [other.parts for other in (*arrived, move) if other.parts is not None]
        held = set(state[move.message][move.path[-1]])
        for parts in sorted(sums, key=len, reverse=True):
            if receipt_violation(held, parts) is not None:
                return False
            held.add(parts)
        return True

    def _without_names(self, state: State) -> State:
        """Return the state with equal messages, as chunks are, in a fixed order."""
        equal: dict[Any, list[Any]] = {}
        needs = [frozenset(needed.items()) for needed in self.rules.needs]
        for message, has in zip(needs or self.rules.messages, state, strict=True):
            equal.setdefault(message, []).append(has)
        return tuple(tuple(sorted(each, key=_in_order)) for each in equal.values())

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooLargeError


def _resources(rules: Rules, path: Path) -> list[tuple[str, Any]]:
    """Return everything of limited use that a path uses, a group for each of its channels."""
    # The two channels of a half-duplex pair have one capacity: that of the smaller name.
    hops = [
        (min(h), max(h)) if frozenset(h) in rules.half_duplex else rules.group.get(h, h)
        for h in pairwise(path)
    ]
    return [("inject", path[0]), ("accept", path[-1]), *(("channel", hop) for hop in hops)]


def _sums_of(held: frozenset[Parts]) -> set[Parts]:
    """Return every sum of disjoint values."""
    sums: set[Parts] = set()
    for value in held:
        sums |= {value} | {value | other for other in sums if not value & other}
    return sums


def _in_order(has: Any) -> Any:
    """Return nested sets as nested sorted lists."""
    if isinstance(has, frozenset):
        return sorted(map(_in_order, has))
    return list(map(_in_order, has)) if isinstance(has, tuple) else has


def steps_of_file(rules: Rules, schedule: list[Step]) -> list[list[dict[str, Any]]]:
    """Return the steps of a schedule as the schedule format has them."""
    steps = []
    for step in reversed(schedule) if rules.backwards else schedule:
        steps.append([])
        for message, path, parts in step:
            nodes = list(path[::-1] if rules.backwards else path)
            move: dict[str, Any] = {"message": message, "path": nodes}
            steps[-1].append(move if parts is None else {**move, "sum": sorted(parts)})
    return steps
