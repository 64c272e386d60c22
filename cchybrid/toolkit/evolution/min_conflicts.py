"""Min-conflicts local search: move deliveries in conflict to the place with the fewest conflicts.

A move gives one delivery another option and step. It never violates a requirement and never
increases the number of conflicts, but may keep it, so the search can cross plateaus.

References
----------
S. Minton, M. D. Johnston, A. B. Philips, P. Laird, "Minimizing conflicts: a heuristic repair method
for constraint satisfaction and scheduling problems", Artificial Intelligence 58, 1992.
doi:10.1016/0004-3702(92)90007-K
"""

from cchybrid.problem.arrays import BoolArray
from cchybrid.toolkit.kernels import inlined, internal
from cchybrid.toolkit.kernels.flat import Flat
from cchybrid.toolkit.kernels.occupancy import Loaded, add, one_more, remove
from cchybrid.toolkit.kernels.rng import State, below

WIDTH = 64
"""Options of a delivery that one move examines: a random contiguous range if there are more."""


@internal
def settle(
    flat: Flat, loaded: Loaded, conflicts: int, sweeps: int, stop: BoolArray, state: State
) -> int:
    """Sweep over all deliveries and move those in conflict; return the remaining conflicts.

    Parameters
    ----------
    loaded
        Changed in place. Counted deliveries require counted ones only, in earlier steps; a late one
        has the step ``steps``. The others stay as they are.
    conflicts
        Conflicts and late deliveries at the start.
    sweeps
        Sweeps over all deliveries, at most.
    stop
        Shape (1,): another thread sets this to end the search early.
    """
    paths, use_start, use, limit = flat.path, flat.limited_start, flat.limited, flat.limit
    option, step, counted, table = loaded
    steps = len(table)
    delivery = below(state, len(option)) - 1
    for _ in range(sweeps * len(option)):
        if conflicts == 0 or stop[0]:
            break
        delivery = delivery + 1 if delivery + 1 < len(option) else 0
        if not counted[delivery]:
            continue
        now, path = step[delivery], paths[option[delivery]]
        crowded = now >= steps
        if not crowded:
            # Like ``overloaded``, inlined by hand: numba would count references to table rows.
            for place in range(use_start[path], use_start[path + 1]):
                if table[now, use[place]] > limit[use[place]]:
                    crowded = True
                    break
        if crowded:
            conflicts += _resettle(flat, loaded, delivery, state)
    return conflicts


@inlined
def _resettle(flat: Flat, loaded: Loaded, delivery: int, state: State) -> int:
    """Move a delivery to one of its best places at random; return the change of the conflicts."""
    option, step, _, table = loaded
    stay = 1  # what being late costs
    if step[delivery] < len(table):
        stay = -remove(flat, table[step[delivery]], flat.path[option[delivery]])
    option[delivery], step[delivery] = best_place(flat, loaded, delivery, stay, state)
    if step[delivery] >= len(table):
        return 0
    return add(flat, table[step[delivery]], flat.path[option[delivery]]) - stay


@inlined
def best_place(
    flat: Flat, loaded: Loaded, delivery: int, max_conflicts: int, state: State
) -> tuple[int, int]:
    """Return the other option and step of a delivery that add the fewest conflicts.

    Ties are broken at random. The present option and step are returned if all others add more than
    ``max_conflicts``. Only options whose required delivery is counted are examined, and only steps
    after that delivery and before the first one that requires this delivery.

    Parameters
    ----------
    loaded
        As for ``settle``; the table without the loads of this delivery.
    max_conflicts
        Conflicts that it may add.
    """
    requires, paths, use_start = flat.requires, flat.path, flat.limited_start
    use, limit = flat.limited, flat.limit
    option, step, counted, table = loaded
    best = max_conflicts
    best_option, best_step, ties = option[delivery], step[delivery], 0
    until = last_step(flat, loaded, delivery)
    first = flat.option_start[delivery]
    size = flat.option_start[delivery + 1] - first
    start = below(state, size)
    for offset in range(min(size, WIDTH)):
        candidate = first + (start + offset) % size
        before = requires[candidate]
        earliest = 0
        if before >= 0:
            if not counted[before]:
                continue
            earliest = step[before] + 1
        path = paths[candidate]
        first_use, last_use = use_start[path], use_start[path + 1]
        for now in range(earliest, until):
            cost = 0
            for place in range(first_use, last_use):
                # A resource that the path uses twice is underrated; ``add`` is exact.
                load = table[now, use[place]] + 0  # wide, as in ``add``
                if load >= limit[use[place]]:
                    cost += one_more(flat.excess, load)
                    if cost > best:
                        break
            if cost > best or (candidate == option[delivery] and now == step[delivery]):
                continue
            if cost < best:
                best, ties = cost, 0
            ties += 1
            if below(state, ties) == 0:
                best_option, best_step = candidate, now
    return best_option, best_step


@inlined
def last_step(flat: Flat, loaded: Loaded, delivery: int) -> int:
    """Return the first step too late for a delivery: that of the first one that requires it."""
    follower, requires = flat.follower, flat.requires
    until = len(loaded.table)
    for place in range(flat.follower_start[delivery], flat.follower_start[delivery + 1]):
        other = follower[place]
        if loaded.counted[other] and requires[loaded.option[other]] == delivery:
            until = min(until, loaded.step[other])
    return until
