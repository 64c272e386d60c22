"""All-to-all scatter on square tori of an even side n in n^3 / 8 steps, with all channels full.

Every message goes along its row first and then along its column. Nodes on one diagonal behave alike
(compare the diagonal-propagation exchange of Tseng, Lin, Gupta and Panda 1997), and so do nodes
half a side apart. In each direction, two diagonals cut every row into arcs of alternating lengths a
and n/2 - a, and two diagonals cut every column; at a node where an arc of its row ends and an arc
of its column begins, a message changes from the row to the column. A *figure* is a choice of two
diagonals for each of the two directions of rows and of columns, such that on each diagonal as many
arcs end as begin: it consists of four distances (along the row, along the column), translated to
every node. Figures in which every distance occurs exactly once are found by CP-SAT as an exact
cover, closed under point reflection, which makes the search small; n / 2 translates of each figure
are steps.

That this reaches the bound for every even side tried (4 to 20) is our own result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import permutations, product
from typing import NamedTuple

from cchybrid.model import Transfer

from .context import Context, DoesNotApplyError, Draft, Path
from .grids import Grid, grid_of

MAX_SIDE = 20
"""Side of the torus; with a larger one there are more than a hundred thousand messages."""
MAX_CPSAT_TIME = 20.0
"""CP-SAT's deterministic time limit, about seconds; it takes about 0.1."""


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


def diagonal_exchange(context: Context) -> Draft:
    """Return the schedule of n^3 / 8 steps."""
    pairs = context.message_of_pair()
    context.require_wormhole()
    grid = grid_of(context.network)
    side = grid.sides[0]
    if grid.sides != (side, side) or side % 2 or side < 4 or not all(grid.closed):
        raise DoesNotApplyError("no square torus with an even side")
    if side > MAX_SIDE:
        raise DoesNotApplyError(f"a side of more than {MAX_SIDE}")
    context.require_useful(side**3 // 8)
    draft: Draft = []
    for figure in chosen(side):
        context.check()
        for shift in range(side // 2):
            paths = [path for bend in figure for path in _paths(grid, side, bend, shift)]
            draft.append([Transfer(pairs[path[0], path[-1]], path) for path in paths])
    return draft


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
        mirrored = tuple(sorted([(-across % side, -down % side) for across, down in key]))
        if mirrored > key and mirrored in taken:
            model.add(variable == taken[mirrored])
    for far in product(range(side), repeat=2):
        if far != (0, 0):
            model.add_exactly_one(holding[far])
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = MAX_CPSAT_TIME
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise DoesNotApplyError("no choice of figures")
    return [known[key] for key, variable in taken.items() if solver.value(variable)]


def _paths(grid: Grid, side: int, bend: Bend, shift: int) -> Iterator[Path]:
    """Yield the paths of all messages with this bend, translated to the right by ``shift``."""
    half = side // 2
    if bend.distance(side) == (0, 0):
        return
    right, down = (1 if bend.across > 0 else -1), (1 if bend.down > 0 else -1)
    for row in range(side):
        first = (row + bend.diagonal + shift) % half
        for column in (first, first + half):
            yield (
                *(grid.at(row, column + hops) for hops in range(-bend.across, 0, right)),
                grid.at(row, column),
                *(grid.at(row + hops, column) for hops in range(down, bend.down + down, down)),
            )
