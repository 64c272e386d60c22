"""Random walk among the networks of a task whose bound of the steps is small.

The networks of a task that meet the bound of the steps are many, and count bounds do not tell which
of them has the best schedule. The walk exchanges the ends of two links at a time (2-opt) or moves
one to an empty port, keeps to networks whose bound is at most the number of steps that is searched
for, and yields each of them once, up to isomorphism.
"""

import random
from collections.abc import Callable, Iterator
from itertools import combinations

from .canonical import canonical_form
from .ports import Links, ports_of
from .steps import ROOTED, steps_of_network
from .task import DesignTask


def walk(
    task: DesignTask,
    links: Links,
    steps: int,
    seed: int,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Links]:
    """Yield networks whose bound of the steps is at most ``steps``, each once up to isomorphism.

    Parameters
    ----------
    links
        The network to start from; links are added where two ports are empty. While its bound is
        larger than ``steps``, only exchanges that do not increase the bound are kept.
    steps
        The number of steps that is searched for.
    seed
        The seed of the exchanges.
    """
    rng = random.Random(seed)
    now = _filled(task, links)
    bound = steps_of_network(task, ports_of(task.nodes, task.degree, now))
    seen: set[bytes] = set()
    while not should_stop():
        if bound <= steps and (form := form_of(task, tuple(now))) not in seen:
            seen.add(form)
            yield tuple(sorted(now))
        after = _exchanged(task, now, rng)
        if after is None:
            continue
        found = steps_of_network(task, ports_of(task.nodes, task.degree, after))
        if found <= max(bound, steps):
            now, bound = after, found


def form_of(task: DesignTask, links: Links) -> bytes:
    """Return a form that is equal for networks that are the same task up to isomorphism.

    The root of a rooted collective, node 0, is marked.
    """
    rooted = task.collective in ROOTED
    marks = [rooted and node == 0 for node in range(task.nodes)]
    return canonical_form(ports_of(task.nodes, task.degree, links), marks)


def rooted(task: DesignTask, links: Links) -> Iterator[Links]:
    """Yield a network once for every root that differs from those before, as node 0.

    A collective without a root yields the network alone.
    """
    if task.collective not in ROOTED:
        yield links
        return
    seen: set[bytes] = set()
    for root in range(task.nodes):
        label = {root: 0, 0: root}
        moved = [(label.get(a, a), label.get(b, b)) for a, b in links]
        listed = tuple(sorted((min(link), max(link)) for link in moved))
        if (form := form_of(task, listed)) not in seen:
            seen.add(form)
            yield listed


def _filled(task: DesignTask, links: Links) -> list[tuple[int, int]]:
    """Return the links and others between nodes with empty ports, while the task allows any."""
    filled = [(min(link), max(link)) for link in links]
    used = [sum(node in link for link in filled) for node in range(task.nodes)]
    for a, b in combinations(range(task.nodes), 2):
        if max(used[a], used[b]) < task.degree and (a, b) not in filled and task.allowed[a, b]:
            filled.append((a, b))
            used[a] += 1
            used[b] += 1
    return filled


def _exchanged(
    task: DesignTask, links: list[tuple[int, int]], rng: random.Random
) -> list[tuple[int, int]] | None:
    """Return the links after a random exchange, or ``None`` if the task does not allow it.

    The ends of two links are exchanged; or one end of a link is moved to an empty port.
    """
    one, two = rng.sample(range(len(links) + 1), 2)
    if len(links) in (one, two):
        one, two = min(one, two), min(one, two)
        a, b = rng.sample(links[one], 2)
        used = [sum(node in link for link in links) for node in range(task.nodes)]
        free = [node for node in range(task.nodes) if used[node] < task.degree and node != b]
        if not free:
            return None
        pairs = [(a, rng.choice(free))]
    else:
        (a, b), (c, d) = links[one], rng.sample(links[two], 2)
        pairs = [(a, d), (c, b)]
    kept = [link for place, link in enumerate(links) if place not in (one, two)]
    for x, y in pairs:
        link = min(x, y), max(x, y)
        if x == y or not task.allowed[x, y] or (link in kept and not task.redundant_links):
            return None
        kept.append(link)
    return kept
