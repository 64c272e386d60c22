"""List scheduling of paths: the longest first, each into the first step where one fits."""

from collections.abc import Sequence

from cchybrid.model import Transfer

from .context import Context, DoesNotApplyError, Draft, Path
from .residual_capacity import ResidualCapacity

MAX_MESSAGES = 5_000
"""Messages of an instance; with more, this takes many seconds."""
MAX_PLACED = 4_000
"""Messages placed in total, over all orders tried, times the effort."""


def packed_scatter(context: Context) -> Draft:
    """Return the shortest of some random schedules of messages with one destination each."""
    context.require_scatter()
    context.require_wormhole()
    if len(context.messages) > MAX_MESSAGES:
        raise DoesNotApplyError(f"more than {MAX_MESSAGES} messages")
    pairs = [(message.source, message.destinations[0]) for message in context.messages]
    context.require_useful(context.min_steps)
    best: list[list[Path]] = []
    work = MAX_PLACED * context.effort
    while work > 0 and context.known > context.min_steps:
        work -= len(pairs)
        best = packed(context, pairs) or best
    if not best:
        raise DoesNotApplyError("no short enough schedule found, or a destination is unreachable")
    indices: dict[tuple[int, int], list[int]] = {}
    for index, pair in enumerate(pairs):
        indices.setdefault(pair, []).append(index)
    return [[Transfer(indices[path[0], path[-1]].pop(), path) for path in wave] for wave in best]


def packed(
    context: Context, pairs: Sequence[tuple[int, int]], representative: Sequence[int] | None = None
) -> list[list[Path]] | None:
    """Return, per step, paths between pairs of nodes; ties in length are broken at random.

    Parameters
    ----------
    representative
        As in ``ResidualCapacity``.

    Returns
    -------
    list[list[Path]] | None
        ``None`` if this number of steps is of no use, or a path does not fit into an empty step.
    """
    order = list(pairs)
    context.random.shuffle(order)
    order.sort(key=lambda pair: -context.hops_to(pair[1])[pair[0]])
    residuals: list[ResidualCapacity] = []
    waves: list[list[Path]] = []
    for a, b in order:
        context.check()
        step, path = 0, None
        while path is None:
            fresh = step == len(residuals)
            if fresh:
                if not context.improves(step + 1):
                    return None
                residuals.append(ResidualCapacity(context, representative=representative))
                waves.append([])
            path = residuals[step].route(a, b)
            if path is None and fresh:
                return None
            step += 1
        residuals[step - 1].allocate(path)
        waves[step - 1].append(path)
    context.known = len(waves)
    return waves
