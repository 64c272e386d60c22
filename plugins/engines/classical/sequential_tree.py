"""Sequential trees (separate addressing): a construction for all instances but large ones.

The source sends to every destination itself, over a fixed tree of shortest paths. Under
store-and-forward switching messages go down the same tree hop by hop.

References
----------
P. K. McKinley, Y.-J. Tsai, D. F. Robinson, "Collective communication in wormhole-routed massively
parallel computers", Computer 28, 1995. doi:10.1109/2.476198
"""

from collections import Counter, deque
from collections.abc import Iterator
from itertools import pairwise

from cchybrid.model import Message, Transfer

from .context import Context, DoesNotApplyError, Draft, Path, branch
from .residual_capacity import Timetable

MAX_DELIVERIES = 100_000
"""Deliveries of an instance; with more, this takes many seconds."""

Job = tuple[int, int, int, Path]
"""The depth in the tree, the length (less than 0), the message and the path of a transfer."""


def sequential_tree(context: Context) -> Draft:
    """Return a schedule over one tree of shortest paths per node, longest paths first."""
    if context.deliveries > MAX_DELIVERIES:
        raise DoesNotApplyError(f"more than {MAX_DELIVERIES:,} deliveries")
    trees: dict[int, list[int]] = {}
    jobs: list[Job] = []
    branches = _hop_by_hop if context.structure.hop_by_hop else _addressed
    for index, message in enumerate(context.messages):
        context.check()
        for depth, path in branches(context, message, trees):
            jobs.append((depth, -len(path), index, path))
    context.require_useful(_busiest(context, jobs))
    jobs.sort(key=lambda job: job[:2])
    timetable = Timetable(context.capacity)
    informed: dict[tuple[int, int], int] = {}
    draft: Draft = []
    for _, _, index, path in _checked(context, jobs):
        earliest = informed.get((index, path[0]), -1) + 1
        step = timetable.place(context.uses(path), earliest)
        informed[index, path[-1]] = step
        draft.extend([] for _ in range(step + 1 - len(draft)))
        draft[step].append(Transfer(index, path))
    return draft


def _busiest(context: Context, jobs: list[Job]) -> int:
    """Return the steps that the most loaded resource needs."""
    used: Counter[int] = Counter()
    for _, _, _, path in _checked(context, jobs):
        used.update(context.uses(path))
    return max(
        (-(-n // context.capacity[r]) for r, n in used.items() if context.capacity[r]), default=0
    )


def _checked(context: Context, jobs: list[Job]) -> Iterator[Job]:
    for count, job in enumerate(jobs):
        if count % 1000 == 0:
            context.check()
        yield job


def _addressed(
    context: Context, message: Message, trees: dict[int, list[int]]
) -> list[tuple[int, Path]]:
    """Return the paths from the source to all destinations.

    Destinations that it cannot reach (behind an endpoint) are served by informed destinations.
    """
    found = []
    left = set(message.destinations)
    senders = [(0, message.source)]
    for depth, sender in senders:
        if not left:
            break
        if context.capacity[context.inject[sender]] == 0:
            continue
        if sender not in trees:
            trees[sender] = _tree(context, sender, relay=False)
        for node in sorted(left):
            if trees[sender][node] >= 0:
                found.append((depth, branch(trees[sender], node)))
                senders.append((depth + 1, node))
                left.discard(node)
    return found


def _hop_by_hop(
    context: Context, message: Message, trees: dict[int, list[int]]
) -> list[tuple[int, Path]]:
    """Return the hops of the tree that lead to destinations, each with its depth."""
    if message.source not in trees:
        trees[message.source] = _tree(context, message.source, relay=True)
    hops: dict[Path, int] = {}
    for node in message.destinations:
        path = branch(trees[message.source], node)
        hops.update({hop: depth for depth, hop in enumerate(pairwise(path))})
    return [(depth, hop) for hop, depth in hops.items()]


def _tree(context: Context, root: int, *, relay: bool) -> list[int]:
    """Return every node's parent on a shortest path from the root, -1 for unreachable nodes.

    With ``relay`` nodes store and forward, so their ports count, and endpoints may forward, too.
    """
    parent = [-1] * context.nodes
    parent[root] = root
    capacity = context.capacity
    queue = deque([root])
    while queue:
        node = queue.popleft()
        if relay and capacity[context.inject[node]] == 0:
            continue
        for other in context.network.successors[node]:
            if parent[other] >= 0 or (relay and capacity[context.accept[other]] == 0):
                continue
            parent[other] = node
            if relay or other not in context.endpoints:
                queue.append(other)
    return parent
