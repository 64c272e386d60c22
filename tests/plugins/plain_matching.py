"""Plain-Python twin of the kernel ``match`` of the engine ``matching``."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from cchybrid_plugins.matching.one_hop import OneHop

from cchybrid.toolkit.kernels.flat import NO_LIMIT
from tests.toolkit.kernels.plain_random import PlainRandom


class Entry(NamedTuple):
    """An option that does not fit; see ``Chains``."""

    option: int
    taker: int
    place: int
    full: int
    parent: int


class PlainMatching:
    """One schedule; deliveries and options have the numbers of ``OneHop.flat``."""

    def __init__(
        self, one_hop: OneHop, weight: tuple[float, ...], steps: int, random: PlainRandom
    ) -> None:
        flat = one_hop.flat
        self.count = len(flat.required)
        self.start = flat.option_start.tolist()
        self.requires = flat.requires.tolist()
        self.required = flat.required.tolist()
        uses, start = flat.limited.tolist(), flat.limited_start.tolist()
        self.uses = [uses[start[path] : start[path + 1]] for path in flat.path.tolist()]
        self.accept = [int(flat.accept[path]) for path in flat.path.tolist()]
        self.limit = flat.limit.tolist()
        self.option: dict[int, int] = {}
        self.step: dict[int, int] = {}
        copies: Counter[int] = Counter()
        receiver, message = one_hop.receiver.tolist(), one_hop.message.tolist()
        begins = one_hop.group_start.tolist()
        groups = np.split(one_hop.member, begins[1:-1])
        for self.now in range(steps):
            made = len(self.step)
            if not self.missing():
                break
            self.load: Counter[int] = Counter()
            self.closed: set[int] = set()
            behind = self.behind()
            for group in groups:
                self.placed: list[int] = []
                value = {}
                for one in group.tolist():
                    if one in self.step or not self.ready(one):
                        continue
                    if all(self.required):
                        need = len(self.lacking_followers(one))
                    elif not (need := behind[one]):
                        continue
                    lacking = sum(receiver[other] == receiver[one] for other in self.missing())
                    value[one] = (
                        weight[0] * need
                        - weight[1] * copies[message[one]]
                        + weight[2] * lacking
                        + weight[3] * random.uniform()
                    )
                order = sorted(value, key=lambda one: -value[one])
                self.alternatives = {
                    user: [other for other in order if receiver[other] == receiver[user]]
                    if self.limit[receiver[user]] < NO_LIMIT
                    else []
                    for user in order
                }
                for one in order:
                    if one not in self.option and self.insert(one):
                        self.placed.append(one)
                for one in self.placed:
                    self.step[one] = self.now
                    copies[message[one]] += 1
            if len(self.step) == made:
                break

    def missing(self) -> list[int]:
        """Return the required deliveries that are not made."""
        return [one for one in range(self.count) if self.required[one] and one not in self.step]

    def options(self, one: int) -> list[int]:
        """Return the options of a delivery whose sender has the message."""
        return [
            option
            for option in range(self.start[one], self.start[one + 1])
            if self.requires[option] < 0
            or self.step.get(self.requires[option], self.now) < self.now
        ]

    def ready(self, one: int) -> bool:
        """Return whether some sender of a delivery has the message."""
        return bool(self.options(one))

    def lacking_followers(self, one: int) -> set[int]:
        """Return the deliveries not yet made that a delivery enables."""
        return {
            other
            for other in range(self.count)
            if other not in self.step
            and one in self.requires[self.start[other] : self.start[other + 1]]
        }

    def behind(self) -> Counter[int]:
        """Count the missing deliveries whose shortest chains begin with each ready delivery."""
        found: Counter[int] = Counter()
        for goal in self.missing():
            seen, level = {goal}, {goal}
            while level and not (ready := {one for one in level if self.ready(one)}):
                level = {
                    self.requires[option]
                    for one in level
                    for option in range(self.start[one], self.start[one + 1])
                } - seen
                seen |= level
            found.update(ready if level else ())
        return found

    def fits(self, option: int) -> bool:
        """Return whether an option fits beside the loads of the step."""
        times = Counter(self.uses[option])
        return all(self.load[one] + number <= self.limit[one] for one, number in times.items())

    def bottleneck(self, option: int) -> int | None:
        """Return the last full resource, ``None`` if acceptance ports or no resource is full."""
        full = [one for one in self.uses[option] if self.load[one] >= self.limit[one]]
        return None if not full or self.accept[option] in full else full[-1]

    def insert(self, root: int) -> bool:
        """Make a delivery if a chain of changes of options makes room for it."""
        queue: list[Entry] = []
        seen: set[int] = set()
        moved: set[int] = set()

        def queue_options(one: int, place: int, parent: int) -> bool:
            """Take an option that fits, or queue all."""
            for option in self.options(one):
                if option == self.option.get(one):
                    continue
                if parent >= 0 and queue[parent].full in self.uses[option]:
                    continue
                if self.fits(option):
                    self.option[one] = option
                    self.load.update(self.uses[option])
                    return True
                full = self.bottleneck(option)
                if full is not None and full not in seen | self.closed:
                    seen.add(full)
                    queue.append(Entry(option, one, place, full, parent))
            return False

        if queue_options(root, -1, -1):
            return True
        for number, entry in enumerate(queue):
            for place, user in enumerate(self.placed):
                old = self.option[user]
                if user in moved or entry.full not in self.uses[old]:
                    continue
                moved.add(user)
                self.load.subtract(self.uses[old])
                others = [
                    one for one in self.alternatives[user] if one not in self.option and one != root
                ]
                for taker in [user, *others]:
                    if queue_options(taker, place, number):
                        if taker != user:
                            del self.option[user]
                            self.placed[place] = taker
                        return self.change(queue, number)
                self.load.update(self.uses[old])
        self.closed |= seen
        return False

    def change(self, queue: list[Entry], number: int) -> bool:
        """Change options from an entry of the queue to its start."""
        while number >= 0:
            entry = queue[number]
            leaver = self.placed[entry.place] if entry.place >= 0 else None
            if entry.taker != leaver and entry.taker in self.option:
                return False
            before = [] if leaver is None else self.uses[self.option[leaver]]
            self.load.subtract(before)
            if not self.fits(entry.option):
                self.load.update(before)
                return False
            if leaver is not None:
                del self.option[leaver]
                self.placed[entry.place] = entry.taker
            self.load.update(self.uses[entry.option])
            self.option[entry.taker] = entry.option
            number = entry.parent
        return True
