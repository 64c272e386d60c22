"""A plain search over the schedules in time slots of a tiny instance, by ``plain_rules`` alone."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from tests.exhaustive.plain_search import Move, Search, Step

Start = tuple[int, Move]
"""A slot, counted from 0, and the transfer that starts in it."""
Choice = Callable[[list[Start], int], list[Start]]
"""The starts to try next, in order, given those that fit and the number chosen before."""


class SlotSearch(Search):
    """All schedules of one instance in time slots.

    Only destinations receive, each once: a schedule is a start for every message and each of its
    destinations, such that the transfers of a message form a tree. Every such choice is tried; what
    comes after a start that already breaks a rule is left out.
    """

    def fewest_steps(self) -> int:
        """Return the shortest period of a feasible instance; a longer one may have no schedule.

        A period may begin with any of its slots, so the first start is in the first one.
        """
        return next(
            slots
            for slots in count(1)
            if any(self._completed(slots, lambda starts, n: [s for s in starts if n or not s[0]]))
        )

    def schedules(self, steps: int) -> Iterator[list[Step]]:
        """Yield every schedule with a period of this many slots."""
        return self._completed(steps, lambda starts, _: starts)

    def draw(self, steps: int, rng: random.Random, tries: int = 1) -> list[Step] | None:
        """Return a random schedule with a period of this many slots; ``None`` if there is none."""
        return next(self._completed(steps, lambda starts, _: rng.sample(starts, len(starts))), None)

    def greedy(self, rng: random.Random, longest: int) -> list[Step] | None:
        """Return a random schedule; ``None`` if no period of at most this many slots is found."""
        for slots in range(rng.choice((1, 1, 2, 4)), longest + 1):
            for _ in range(3):
                for found in self._completed(slots, lambda starts, _: rng.sample(starts, 1)):
                    return found
        return None

    def _completed(self, slots: int, choice: Choice) -> Iterator[list[Step]]:
        """Yield the schedules of all starts that are tried."""
        used, taken = Counter[Any](), list[Start]()
        receipts = [(m, goal) for m, (_, goals) in enumerate(self.rules.messages) for goal in goals]

        def choose() -> Iterator[list[Step]]:
            got = {(move.message, move.path[-1]) for _, move in taken}
            left = [each for each in receipts if each not in got]
            if not left:
                yield [tuple(m for s, m in taken if s == slot) for slot in range(slots)]
                return
            # The one with the fewest starts comes next, so that a dead end is seen early.
            starts = min((self._starts(slots, used, taken, *each) for each in left), key=len)
            for start in choice(starts, len(taken)) if starts else ():
                uses = self._in_slots(slots, start)
                used.update(uses)
                taken.append(start)
                yield from choose()
                taken.pop()
                used.subtract(uses)

        yield from choose()

    def _starts(
        self, slots: int, used: Counter[Any], taken: list[Start], message: int, goal: int
    ) -> list[Start]:
        """Return the starts that bring a message to a destination and break no rule."""
        self._count()
        source, goals = self.rules.messages[message]
        giver = {m.path[-1]: m.path[0] for _, m in taken if m.message == message}

        def comes_from_goal(node: int) -> bool:
            while node in giver:
                node = giver[node]
            return node == goal

        senders = [node for node in (source, *goals) if not comes_from_goal(node)]
        starts = [
            (slot, move)
            for move in self._moves(message, goal, senders, None)
            for slot in range(slots)
        ]
        return [
            start
            for start in starts
            if all(
                used[each] + n <= self.rules.limit(*each[:2])
                for each, n in self._in_slots(slots, start).items()
            )
        ]

    def _in_slots(self, slots: int, start: Start) -> Counter[Any]:
        """Return how often a transfer uses each place in each slot of the period."""
        slot, move = start
        uses = self.rules.uses(move.path)
        return Counter((rule, place, (slot + late) % slots) for rule, place, late in uses)


def search_of(instance: dict[str, Any], limit: int) -> Search:
    """Return the plain search of an instance, which depends on whether it has time slots."""
    slots = instance["model"].get("switching") == "tdm"
    return (SlotSearch if slots else Search)(instance, limit)
