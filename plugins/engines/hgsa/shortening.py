"""The two heuristics of HGSA that shorten routes (HGSA paper, section 3.3), for any Problem."""

from cchybrid.problem.arrays import IntArray
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.flat import NO_LIMIT, Flat
from cchybrid.toolkit.kernels.rng import State, below

from .kernels import CONFLICTS, Solution, closes_cycle, move, uses

WIDTH = 16
"""Options of a delivery that are examined: a random contiguous range if there are more."""


@compiled
def shortest_chains(flat: Flat, depth: IntArray, tree: IntArray) -> None:
    """Compute the chain of options with the fewest uses from a source to every delivery.

    Parameters
    ----------
    depth
        Shape (deliveries,): overwritten with its uses; ``NO_LIMIT`` if there is no chain.
    tree
        Shape (deliveries,): overwritten with its last option; these options form no cycle.
    """
    depth[:] = NO_LIMIT
    for delivery in range(len(depth)):
        tree[delivery] = flat.option_start[delivery]
    changed = True
    while changed:
        changed = False
        for delivery in range(len(depth)):
            for option in range(flat.option_start[delivery], flat.option_start[delivery + 1]):
                before = flat.requires[option]
                if before >= 0 and depth[before] == NO_LIMIT:
                    continue
                total = uses(flat, option) + (depth[before] if before >= 0 else 0)
                if total < depth[delivery]:
                    depth[delivery], tree[delivery] = total, option
                    changed = True


@internal
def shorten(flat: Flat, depth: IntArray, solution: Solution, state: State) -> None:
    """Replace routes by shorter ones from nearer senders: the first heuristic.

    The paper shortens a route whose goal lies on another route, nearer to the source. Here the
    delivery takes an option with fewer uses, or with as many from a sender nearer to the source,
    that is informed in an earlier step. In the paper this is unconditional; here it must add no
    conflicts, so that a solution at low temperature does not get worse.
    """
    for delivery in range(len(solution.option)):
        if solution.users[delivery] == 0:
            continue
        old, now = solution.option[delivery], solution.step[delivery]
        found, fewest, nearest = old, uses(flat, old), _depth(flat, depth, old)
        first = flat.option_start[delivery]
        size = flat.option_start[delivery + 1] - first
        start = below(state, size)
        for offset in range(min(size, WIDTH)):
            option = first + (start + offset) % size
            before = flat.requires[option]
            if before >= 0 and solution.step[before] >= now:
                continue
            length, near = uses(flat, option), _depth(flat, depth, option)
            if length < fewest or (length == fewest and near < nearest):
                found, fewest, nearest = option, length, near
        if found != old and not closes_cycle(flat, solution, delivery, found):
            conflicts = solution.counts[CONFLICTS]
            move(flat, solution, delivery, found, now)
            if solution.counts[CONFLICTS] > conflicts:
                move(flat, solution, delivery, old, now)


@internal
def shorten_longest(flat: Flat, max_routes: int, solution: Solution, state: State) -> None:
    """Mutate the longest routes, if they are few; keep shorter ones: the second heuristic.

    Parameters
    ----------
    max_routes
        Maximal number of longest routes. Changes that add conflicts are undone.
    """
    longest, number = 0, 0
    for delivery in range(len(solution.option)):
        if solution.users[delivery] > 0:
            length = uses(flat, solution.option[delivery])
            if length > longest:
                longest, number = length, 0
            number += length == longest
    if number > max_routes:
        return
    for delivery in range(len(solution.option)):
        old, then = solution.option[delivery], solution.step[delivery]
        if solution.users[delivery] == 0 or uses(flat, old) < longest:
            continue
        first = flat.option_start[delivery]
        option = first + below(state, flat.option_start[delivery + 1] - first)
        if uses(flat, option) < longest and not closes_cycle(flat, solution, delivery, option):
            conflicts = solution.counts[CONFLICTS]
            move(flat, solution, delivery, option, below(state, len(solution.table)))
            if solution.counts[CONFLICTS] > conflicts:
                move(flat, solution, delivery, old, then)


@internal
def _depth(flat: Flat, depth: IntArray, option: int) -> int:
    """Return the distance of the sender of an option from the source, in uses."""
    before = flat.requires[option]
    return int(depth[before]) if before >= 0 else 0
