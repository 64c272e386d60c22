"""All-to-all scatter on meshes of even sides in as few steps as the middle channels allow.

A mesh of 2p rows and 2q columns, p <= q, needs 2 p q^2 steps, because every channel between its
left and its right half has to carry as many messages; for squares of side n these are n^3 / 4
(compare D. S. Scott, "Efficient all-to-all communication patterns in hypercube and mesh
topologies", Sixth Distributed Memory Computing Conference, 1991, pages 398-403). The schedule
reaches that.

A place in a quadrant is (u, w): the distances of its column and of its row from the middle of the
mesh, from 0. All quadrants do the same, mirrored. For k < q let C(w) = (k - w) mod q. In step
(k, s, t), with k, s < q and t < p:

1. First half, to the neighbouring quadrants: row w carries the message of its node s to column
   C(w) of the next quadrant, where it goes to row t; column u = C(w) carries the message of its
   node t to row w, where it goes to node s. No channel is used twice, as C pairs rows and columns.
2. Second half, to the opposite quadrant: row w carries the message of its node s to column C(w),
   which carries it through the middle to row t.
3. Messages within a quadrant go into what these steps leave free: those nearest to the middle
   first, into steps in which the next channels towards the middle are busy, so that those with
   free ones are left to others. This is greedy, with random ties; up to sides of 22, the first
   attempts fail only for some of 20 and more.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, permutations, product

from cchybrid.model import Transfer

from .context import Context, DoesNotApplyError, Draft
from .grids import Grid, grid_of

MAX_SIDE = 20
"""Larger side of the mesh; with a larger one there are more than a hundred thousand messages."""

FAR = 1 << 30
"""Above all distances."""

MAX_ATTEMPTS = 50
"""Attempts at the messages within a quadrant; one takes a second at most."""

Place = tuple[int, int]
"""The distances (u, w) of a column and of a row from the middle."""
QUADRANTS: tuple[Place, ...] = ((0, 0), (0, 1), (1, 0), (1, 1))
"""Whether the quadrant is the right or lower one, as ``Legs`` say it."""

Channel = tuple[Place, Place]
"""A channel within a quadrant."""
Leg = list[Place]
"""The places of a path within one quadrant."""
Legs = tuple[tuple[Place, Leg], ...]
"""A path: per quadrant, whether it lies across the middle (of the columns, of the rows) from the
source, and the places there."""


def quadrant_exchange(context: Context) -> Draft:
    """Return the schedule of 2 p q^2 steps."""
    pairs = context.message_of_pair()
    context.require_wormhole(full_duplex=True)
    grid = grid_of(context.network)
    if len(grid.sides) != 2 or any(side % 2 for side in grid.sides) or any(grid.closed):
        raise DoesNotApplyError("no mesh with even sides")
    if max(grid.sides) > MAX_SIDE:
        raise DoesNotApplyError(f"a side of more than {MAX_SIDE}")
    p, q = sorted(side // 2 for side in grid.sides)
    context.require_useful(2 * p * q * q)
    node = _nodes(grid)
    steps = [*_steps(p, q, _to_neighbours), *_steps(p, q, _to_opposites)]
    for number, legs in _within_quadrant(context, p, q, steps):
        steps[number].append(legs)
    draft: Draft = []
    for paths in steps:
        context.check()
        transfers = []
        for legs, quadrant in product(paths, QUADRANTS):
            path = tuple(node(quadrant, across, place) for across, leg in legs for place in leg)
            transfers.append(Transfer(pairs[path[0], path[-1]], path))
        draft.append(transfers)
    return draft


def _nodes(grid: Grid) -> Callable[[Place, Place, Place], int]:
    """Return the node at a place of the quadrant across from another one."""
    upright = grid.sides[0] > grid.sides[1]

    def node(quadrant: Place, across: Place, place: Place) -> int:
        at = [
            side // 2 + far if start ^ crossed else side // 2 - 1 - far
            for side, start, crossed, far in zip(
                sorted(grid.sides, reverse=True), quadrant, across, place, strict=True
            )
        ]
        return grid.at(*at) if upright else grid.at(*at[::-1])

    return node


def _steps(p: int, q: int, paths: Callable[..., Sequence[Legs]]) -> Iterator[list[Legs]]:
    """Yield the paths of each step of a half, from one quadrant."""
    for k, s, t in product(range(q), range(q), range(p)):
        yield [legs for w in range(p) for legs in paths(s, t, (k - w) % q, w)]


def _to_neighbours(s: int, t: int, u: int, w: int) -> tuple[Legs, Legs]:
    """Return two paths of the first half."""
    row = ((0, 0), _leg((s, w), (0, w))), ((1, 0), _leg((0, w), (u, w), (u, t)))
    column = ((0, 0), _leg((u, t), (u, 0))), ((0, 1), _leg((u, 0), (u, w), (s, w)))
    return row, column


def _to_opposites(s: int, t: int, u: int, w: int) -> tuple[Legs]:
    """Return the path of the second half."""
    first, second = _leg((s, w), (0, w)), _leg((0, w), (u, w), (u, 0))
    return ((((0, 0), first), ((1, 0), second), ((1, 1), _leg((u, 0), (u, t)))),)


def _leg(*corners: Place) -> Leg:
    """Return the places from corner to corner."""
    return [corners[0], *(place for a, b in pairwise(corners) for place in _line(a, b)[1:])]


def _line(first: Place, last: Place) -> Leg:
    """Return the places of a row or of a column from one to another."""
    (u, w), (x, y) = first, last
    if u == x:
        return [(u, row) for row in range(w, y, 1 if y > w else -1)] + [last]
    return [(column, w) for column in range(u, x, 1 if x > u else -1)] + [last]


def _within_quadrant(
    context: Context, p: int, q: int, steps: list[list[Legs]]
) -> list[tuple[int, Legs]]:
    """Return a step and the path of every message within a quadrant.

    Raises
    ------
    DoesNotApplyError
        If no step is left for one of them, in every attempt.
    """
    # Per channel, bit s is set where step s uses it. All quadrants have the same, mirrored.
    busy: defaultdict[Channel, int] = defaultdict(int)
    for number, paths in enumerate(steps):
        for _, leg in (part for legs in paths for part in legs):
            for channel in pairwise(leg):
                busy[channel] |= 1 << number
    pairs = list(permutations(product(range(q), range(p)), 2))
    for _ in range(MAX_ATTEMPTS):
        context.check()
        context.random.shuffle(pairs)
        found = _attempt(sorted(pairs, key=_distance_from_middle), len(steps), busy.copy())
        if len(found) == len(pairs):
            return found
    raise DoesNotApplyError("a message within a quadrant fits into no step")


def _attempt(
    pairs: list[tuple[Place, Place]], steps: int, busy: defaultdict[Channel, int]
) -> list[tuple[int, Legs]]:
    """Return places for messages in their order, up to the first one without any."""
    every = (1 << steps) - 1
    found: list[tuple[int, Legs]] = []
    for source, target in pairs:
        chosen, path = 0, [source]
        for corner in ((target[0], source[1]), (source[0], target[1])):
            leg = _leg(source, corner, target)
            free = every
            for channel in pairwise(leg):
                free &= ~busy[channel]
            tight = free
            for line in ((source, corner), (corner, target)):
                if inner := _inner(*line):
                    tight &= busy[inner]
            if tight or (free and not chosen):
                chosen, path = tight or free, leg
            if tight:
                break
        if not chosen:
            break
        first = chosen & -chosen
        for channel in pairwise(path):
            busy[channel] |= first
        found.append((first.bit_length() - 1, (((0, 0), path),)))
    return found


def _distance_from_middle(pair: tuple[Place, Place]) -> tuple[int, int]:
    """Return a key by which messages whose channels are near the middle come first."""
    (u, w), (x, y) = pair
    lines = [min(a, b) for a, b in ((u, x), (w, y)) if a != b]
    return min(lines), sum(lines) if len(lines) == 2 else FAR


def _inner(first: Place, last: Place) -> Channel | None:
    """Return the next channel of a line towards the middle, in its direction; ``None`` at 0."""
    (u, w), (x, y) = first, last
    near = ((min(u, x), w), (min(u, x) - 1, w)) if u != x else ((u, min(w, y)), (u, min(w, y) - 1))
    if first == last or min(near[1]) < 0:
        return None
    return near[::-1] if (u, w) < (x, y) else near
