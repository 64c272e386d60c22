"""Dimensional broadcast trees: recursive doubling along one dimension after the other.

Every informed node is responsible for an interval of a row. It halves the interval and sends to the
corresponding node of the other half. A x B x ... nodes take log2 A + log2 B + ... steps, each
rounded up, with one port.

References
----------
M. Barnett, D. G. Payne, R. A. van de Geijn, J. Watts, "Broadcasting on meshes with worm-hole
routing", TR-93-24, University of Texas at Austin, 1993.
"""

from cchybrid.model import Transfer

from .context import Context, DoesNotApplyError, Draft
from .grids import grid_of


def dimensional_trees(context: Context) -> Draft:
    """Return the broadcast on a mesh, torus or hypercube."""
    source = context.broadcast_source()
    context.require_wormhole(full_duplex=True)
    grid = grid_of(context.network)
    informed = [source]
    draft: Draft = []
    for axis, side in enumerate(grid.sides):
        context.check()
        waves = _halvings(grid.place[source][axis], side)
        for wave in waves:
            step = [Transfer(0, grid.along(node, axis, a, b)) for node in informed for a, b in wave]
            if any(len(path) - 1 > context.max_hops(path[0], path[-1]) for _, path in step):
                raise DoesNotApplyError("rows that are no shortest paths")
            draft.append(step)
        informed = [grid.moved(node, axis, place) for node in informed for place in range(side)]
    return draft


def _halvings(source: int, side: int) -> list[list[tuple[int, int]]]:
    """Return, per step, the pairs (sender, receiver) on a line of ``side`` nodes."""
    parts = [(0, side, source)]
    waves = []
    while any(last - first > 1 for first, last, _ in parts):
        wave, following = [], []
        for first, last, holder in parts:
            if last - first < 2:
                following.append((first, last, holder))
                continue
            middle = (first + last) // 2
            if holder < middle:
                other = min(middle + holder - first, last - 1)
                following += [(first, middle, holder), (middle, last, other)]
            else:
                other = min(first + holder - middle, middle - 1)
                following += [(first, middle, other), (middle, last, holder)]
            wave.append((holder, other))
        parts = following
        waves.append(wave)
    return waves
