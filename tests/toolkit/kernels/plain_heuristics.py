"""Plain-Python twins of the thesis' heuristics and operators, on lists, counters and sets.

They draw random numbers where the kernels draw them, so equal states give equal results.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from math import comb

from cchybrid.problem import ACCEPT, CHANNEL, INJECT, LINK, Problem
from tests.toolkit.kernels.plain_random import PlainRandom


class Candidate:
    """A partial schedule; loads are recounted at every use."""

    def __init__(
        self,
        problem: Problem,
        option: Iterable[int],
        step: Iterable[int],
        steps: int,
        counted: set[int],
        random: PlainRandom,
        excess: bool = False,
    ) -> None:
        self.problem, self.steps, self.counted = problem, steps, set(counted)
        self.option, self.step = [int(o) for o in option], [int(s) for s in step]
        self.random, self.excess = random, excess

    def options(self, delivery: int) -> range:
        start = self.problem.option_start
        return range(int(start[delivery]), int(start[delivery + 1]))

    def uses(self, option: int) -> list[int]:
        return [int(resource) for resource in self.problem.resources_of(option)]

    def port(self, option: int, kind: int) -> int | None:
        return next((r for r in self.uses(option) if self.problem.kind[r] == kind), None)

    def before(self, option: int) -> int:
        return int(self.problem.option_requires[option])

    def loads(self, step: int, without: Iterable[int] = ()) -> Counter[int]:
        used: Counter[int] = Counter()
        for delivery in self.counted - set(without):
            if self.step[delivery] == step:
                used.update(self.uses(self.option[delivery]))
        return used

    def weight(self, used: Counter[int]) -> int:
        """The conflicts of one step with such loads."""
        total = 0
        for resource, load in used.items():
            capacity = int(self.problem.capacity[resource])
            if self.problem.implied[resource] or load <= capacity:
                continue
            pairs = comb(load, 2) - comb(capacity, 2) + (capacity == 0)
            total += load - capacity if self.excess else pairs
        return total

    def conflicts(self) -> int:
        late = sum(self.step[delivery] >= self.steps for delivery in self.counted)
        return late + sum(self.weight(self.loads(step)) for step in range(self.steps))

    def in_conflict(self, delivery: int) -> bool:
        if self.step[delivery] >= self.steps:
            return True
        used = self.loads(self.step[delivery])
        return any(
            used[r] > self.problem.capacity[r] and not self.problem.implied[r]
            for r in self.uses(self.option[delivery])
        )

    def offsets(self, number: int) -> list[int]:
        """All numbers from a random one on, round and round."""
        start = self.random.below(number)
        return [*range(start, number), *range(start)]


def best_place(one: Candidate, delivery: int, max_conflicts: int) -> tuple[int, int]:
    until = min(
        [one.steps]
        + [
            one.step[other]
            for other in one.counted
            if one.before(one.option[other]) == delivery
        ]
    )  # fmt: skip
    place, ties = (one.option[delivery], one.step[delivery]), 0
    options = one.options(delivery)
    for offset in one.offsets(len(options))[:64]:
        before = one.before(options[offset])
        if before >= 0 and before not in one.counted:
            continue
        for step in range(one.step[before] + 1 if before >= 0 else 0, until):
            used = one.loads(step, [delivery])
            cost = one.weight(used + Counter(one.uses(options[offset]))) - one.weight(used)
            here = (options[offset], step) == (one.option[delivery], one.step[delivery])
            if cost > max_conflicts or here:
                continue
            ties = 1 if cost < max_conflicts else ties + 1
            max_conflicts = cost
            if one.random.below(ties) == 0:
                place = (options[offset], step)
    return place


def settle(one: Candidate, sweeps: int) -> int:
    order = one.offsets(len(one.option))
    for delivery in order * sweeps:
        total = one.conflicts()
        if total == 0:
            break
        if delivery in one.counted and one.in_conflict(delivery):
            home = one.step[delivery]
            stay = 1
            if home < one.steps:
                stay = one.weight(one.loads(home)) - one.weight(one.loads(home, [delivery]))
            one.option[delivery], one.step[delivery] = best_place(one, delivery, stay)
    return one.conflicts()


def free_ports(one: Candidate, step: int, option: int) -> float:
    used = one.loads(step)
    ports = [one.port(option, kind) for kind in (INJECT, ACCEPT)]
    return min(
        (int(one.problem.capacity[p]) - used[p] for p in ports if p is not None), default=math.inf
    )


def spread_ports(one: Candidate) -> None:
    for delivery in one.offsets(len(one.option)):
        if delivery not in one.counted or one.step[delivery] >= one.steps:
            continue
        if free_ports(one, one.step[delivery], one.option[delivery]) < 0:
            for step in one.offsets(one.steps):
                if free_ports(one, step, one.option[delivery]) > 0:
                    one.step[delivery] = step
                    break


def swap_steps(one: Candidate, delivery: int) -> int:
    node, now, total = one.port(one.option[delivery], INJECT), one.step[delivery], one.conflicts()
    for other in one.offsets(len(one.option)):
        then = one.step[other]
        same = one.port(one.option[other], INJECT) == node
        if other in one.counted and then != now and then < one.steps and same:
            one.step[delivery], one.step[other] = then, now
            if one.conflicts() < total:
                return one.conflicts() - total
            one.step[delivery], one.step[other] = now, then
            return 0
    return 0


def restore(one: Candidate, near: list[int]) -> int:
    """Step by step: informed nodes send; deliveries without an informed sender are postponed."""
    agenda: list[list[int]] = [[] for _ in range(one.steps + 1)]
    for delivery, step in enumerate(one.step):
        agenda[step].append(delivery)
    for now in range(one.steps):
        informed = {d for d in range(len(one.step)) if one.step[d] < now} | {-1}
        ports: Counter[int] = Counter()
        waiting = []

        def count(delivery: int, ports: Counter[int] = ports) -> None:
            if delivery in one.counted:
                both = [one.port(one.option[delivery], kind) for kind in (INJECT, ACCEPT)]
                ports.update(port for port in both if port is not None)

        for delivery in agenda[now][::-1]:
            if one.before(one.option[delivery]) in informed:
                count(delivery)
            else:
                waiting.append(delivery)
        for delivery in waiting[::-1]:
            found = _informed_option(one, near[delivery], delivery, informed, ports)
            if found is None:
                one.step[delivery] = now + 1
                agenda[now + 1].append(delivery)
            else:
                one.option[delivery] = found
                count(delivery)
    return sum(one.step[delivery] >= one.steps for delivery in one.counted)


def _informed_option(
    one: Candidate, near: int, delivery: int, informed: set[int], ports: Counter[int]
) -> int | None:
    best, best_score, compared = None, math.inf, 0
    options = one.options(delivery)
    for offset in one.offsets(len(options)):
        option = options[offset]
        if one.before(option) not in informed:
            continue
        beyond = len(one.uses(option)) - near
        score = 0.0
        for kind in (INJECT, ACCEPT):
            port = one.port(option, kind)
            if port is not None:
                score += ports[port] / max(int(one.problem.capacity[port]), 1)
        score += 4.0 * max(beyond, 0)
        if score < best_score:
            best, best_score = option, score
        compared += beyond <= 0
        if compared == 8:
            break
    return best


def mutate(one: Candidate, ordered: bool) -> None:
    random = one.random
    gene = random.below(len(one.option))
    if random.below(2) == 0:
        genes = [*range(gene, len(one.option)), *range(gene)]
        gene = next((g for g in genes if g in one.counted and one.in_conflict(g)), gene)
    component = random.below(3 if ordered else 2)
    groups: dict[int, list[int]] = {}
    for option in one.options(gene):
        groups.setdefault(one.before(option), []).append(option)
    if component == 0:
        one.option[gene] = _similar(groups[one.before(one.option[gene])], one.option[gene], random)
    elif component == 1:
        counts = gene in one.counted and one.step[gene] < one.steps
        if not counts or swap_steps(one, gene) == 0:
            one.step[gene] = random.below(one.steps)
    else:
        chosen = 0
        for index in range(len(groups)):
            if random.below(index + 1) == 0:
                chosen = index
        group = list(groups.values())[chosen]
        one.option[gene] = group[random.below(len(group))]


def _similar(paths: list[int], path: int, random: PlainRandom) -> int:
    if len(paths) == 1:
        return path
    for _ in range(8):
        other = path + round(math.sqrt(len(paths) / 3.0) * random.normal())
        if other != path and other in paths:
            return other
    return paths[random.below(len(paths))]


def complete(one: Candidate, near: list[int]) -> None:
    for delivery, step in enumerate(one.step):
        if step < 0:
            options = one.options(delivery)
            one.step[delivery] = one.random.below(one.steps)
            for _ in range(5):
                one.option[delivery] = options[one.random.below(len(options))]
                if len(one.uses(one.option[delivery])) <= near[delivery]:
                    break


def fill(one: Candidate, near: list[int], order: list[int]) -> int:
    """Greedy scheduling; ``one`` is empty and counts what it places."""
    for now in range(one.steps):
        for delivery in [d for d in order if one.step[d] < 0]:
            if one.problem.required.all():
                _make(one, near, delivery, now)
            else:
                _approach(one, near, delivery, now)
    return sum(one.step[delivery] < 0 for delivery in order)


def _make(one: Candidate, near: list[int], delivery: int, now: int) -> bool:
    options, fitting = one.options(delivery), []
    possible = [
        options[offset]
        for offset in one.offsets(len(options))
        if (before := one.before(options[offset])) < 0 or 0 <= one.step[before] < now
    ]
    used = one.loads(now)
    for option in possible:
        after = used + Counter(one.uses(option))
        if all(after[r] <= one.problem.capacity[r] for r in one.uses(option)):
            fitting.append(option)
    if fitting:
        short = [option for option in fitting if len(one.uses(option)) <= near[delivery]]
        option = short[0] if short else min(fitting, key=lambda o: len(one.uses(o)))
        one.option[delivery], one.step[delivery] = option, now
        one.counted.add(delivery)
    return bool(possible)


def _approach(one: Candidate, near: list[int], goal: int, now: int) -> None:
    level, seen = [goal], {goal}
    while level:
        behind, possible = [], False
        for delivery in level:
            if one.step[delivery] == now:
                return
            if _make(one, near, delivery, now):
                possible = True
                if one.step[delivery] == now:
                    return
            elif not possible:
                for option in one.options(delivery):
                    if one.before(option) not in seen:
                        seen.add(one.before(option))
                        behind.append(one.before(option))
        if possible:
            return
        level = behind


def restrict(problem: Problem, radius: int) -> set[int]:
    """Return the options that are kept."""
    channel = (CHANNEL, LINK)
    hops = [
        sum(int(problem.kind[r]) in channel for r in problem.resources_of(option))
        for option in range(problem.options)
    ]
    kept = {option for option in range(problem.options) if hops[option] <= radius}
    while True:
        happens = reachable(problem, kept)
        useful = [
            option
            for option in range(problem.options)
            if int(problem.option_delivery[option]) not in happens
            and int(problem.option_requires[option]) in happens | {-1}
        ]
        if not useful:
            break
        kept |= {o for o in useful if hops[o] == min(hops[u] for u in useful)}
    return kept | {
        o for o in range(problem.options) if int(problem.option_delivery[o]) not in happens
    }


def reachable(problem: Problem, options: set[int]) -> set[int]:
    """Return the deliveries that can happen with these options."""
    found: set[int] = set()
    while True:
        more = {
            int(problem.option_delivery[o])
            for o in options
            if int(problem.option_requires[o]) in found | {-1}
        }
        if more <= found:
            return found
        found |= more
