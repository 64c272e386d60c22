"""All-to-all scatter on square tori of an even side n in n^3 / 8 steps, with all channels full.

Every message goes along its row first and then along its column. Nodes on one diagonal behave alike
(compare the diagonal-propagation exchange of Tseng, Lin, Gupta and Panda 1997), and so do nodes
half a side apart. In each direction, two diagonals cut every row into arcs of alternating lengths a
and n/2 - a, and two diagonals cut every column; at a node where an arc of its row ends and an arc
of its column begins, a message changes from the row to the column. A *figure* is a choice of two
diagonals for each of the two directions of rows and of columns, such that on each diagonal as many
arcs end as begin: it consists of four distances (along the row, along the column), translated to
every node. Figures in which every distance occurs exactly once are found by CP-SAT as an exact
cover, closed under reflections, which makes the search small; n / 2 translates of each figure are
steps.

That this reaches the bound for every even side tried (4 to 32, and 40) is our own result.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from cchybrid.problem.transfers import Transfers

from .context import Context, DoesNotApplyError, LongArray
from .grids import Grid, grid_of

MAX_CPSAT_TIME = 20.0
"""CP-SAT's deterministic time limit, about seconds; it takes about 0.2 up to sides of 32."""


class Bend(NamedTuple):
    """The path shape of one distance: the diagonal of the bend, signed hops before and after it.

    The diagonal of a node is its column minus its row, modulo half a side.
    """

    diagonal: int
    across: int
    down: int

    def distance(self, side: int) -> tuple[int, int]:
        """Return the destination relative to the source."""
        return self.across % side, self.down % side


Figure = tuple[Bend, ...]


def diagonal_exchange(context: Context) -> Transfers:
    """Return the schedule of n^3 / 8 steps."""
    message = context.message_matrix()
    context.require_wormhole()
    grid = grid_of(context.network)
    side = grid.sides[0]
    if grid.sides != (side, side) or side % 2 or side < 4 or not all(grid.closed):
        raise DoesNotApplyError("no square torus with an even side")
    context.require_useful(side**3 // 8)
    parts: list[Transfers] = []
    for number, figure in enumerate(chosen(side)):
        context.check()
        for bend in figure:
            if bend.distance(side) != (0, 0):
                step, node = _paths(grid, side, bend)
                size = node.shape[1]
                parts.append(
                    Transfers(
                        message[node[:, 0], node[:, -1]],
                        number * (side // 2) + step,
                        node.ravel(),
                        np.arange(0, node.size + 1, size),
                    )
                )
    return Transfers.joined(parts)


def figures(side: int) -> dict[tuple[tuple[int, int], ...], Figure]:
    """Return all figures without repeated distances, by their four distances in order."""
    half = side // 2
    found: dict[tuple[tuple[int, int], ...], Figure] = {}
    for second, third, fourth in product(range(half), repeat=3):
        # Along the rows, in both directions: the diagonals where arcs end, and their lengths.
        ends = [*_arcs(0, second, half, 1), *_arcs(third, fourth, half, -1)]
        for order in permutations(range(4)):
            begins = _begins(ends, order, half)
            bends = [
                Bend(at, across, down) for (at, across), down in zip(ends, begins, strict=True)
            ]
            key = tuple(sorted(bend.distance(side) for bend in bends))
            apart = [distance for distance in key if distance != (0, 0)]
            if len(set(apart)) == len(apart):
                found.setdefault(key, tuple(bends))
    return found


def _arcs(one: int, other: int, half: int, sign: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of the arcs between two cuts of a half ring, with their signed hops."""
    ahead = sign * (other - one) % half
    yield other, sign * ahead
    yield one, sign * (half - ahead)


def _begins(ends: list[tuple[int, int]], order: tuple[int, ...], half: int) -> list[int]:
    """Return the signed hops down the columns that begin where the arcs along the rows end.

    A hop down decreases the diagonal by one. The first two in ``order`` are cuts of the downward
    direction, the others of the upward direction.
    """
    down = [0] * 4
    for sign, (one, other) in ((1, order[:2]), (-1, order[2:])):
        ahead = sign * (ends[one][0] - ends[other][0]) % half
        down[one], down[other] = sign * ahead, sign * (half - ahead)
    return down


def chosen(side: int) -> list[Figure]:
    """Return figures in which every distance except (0, 0) occurs exactly once.

    Raises
    ------
    DoesNotApplyError
        If CP-SAT finds none in its time.
    """
    # Imported here, as it takes half of the time in which the engine starts.
    from ortools.sat.python import cp_model

    known = figures(side)
    model = cp_model.CpModel()
    taken = {key: model.new_bool_var("") for key in known}
    holding: defaultdict[tuple[int, ...], list[cp_model.IntVar]] = defaultdict(list)
    for key, variable in taken.items():
        for distance in set(key):
            holding[distance].append(variable)
        # Point reflection, and reflection at the second diagonal with paths reversed.
        for image in ([(-a, -b) for a, b in key], [(-b, -a) for a, b in key]):
            mirrored = tuple(sorted([(a % side, b % side) for a, b in image]))
            if mirrored > key and mirrored in taken:
                model.add(variable == taken[mirrored])
    for far in product(range(side), repeat=2):
        if far != (0, 0):
            model.add_exactly_one(holding[far])
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 0  # the linear relaxation has a solution at once
    solver.parameters.max_deterministic_time = MAX_CPSAT_TIME
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise DoesNotApplyError("no choice of figures")
    return [known[key] for key, variable in taken.items() if solver.value(variable)]


def _paths(grid: Grid, side: int, bend: Bend) -> tuple[LongArray, LongArray]:
    """Return all paths with this bend: their translations to the right, and their nodes.

    Returns
    -------
    tuple[LongArray, LongArray]
        Shape (paths,): from 0 to half a side. Shape (paths, nodes of each).
    """
    half = side // 2
    right, down = (1 if bend.across > 0 else -1), (1 if bend.down > 0 else -1)
    across = [*range(-bend.across, 0, right), 0] + [0] * abs(bend.down)
    downward = [0] * abs(bend.across) + [0, *range(down, bend.down + down, down)]
    shift, row, where = np.indices((half, side, 2)).reshape(3, -1)
    column = (row + bend.diagonal + shift) % half + where * half
    rows = (row[:, None] + np.array(downward)) % side
    columns = (column[:, None] + np.array(across)) % side
    return shift, np.array(grid.nodes)[rows * side + columns]
