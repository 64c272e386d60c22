"""All-to-all between participants on switches: the messages of one, mapped by translations.

The messages of one participant take the shortest paths that use the orbits of channels evenly, the
longest first, each hop or path in the first step where it fits. On clusters of GPUs, with relays
(as in NVIDIA's PXN) where NICs are on rails, all NICs are busy until the last step.
"""

from itertools import chain, pairwise

import numpy as np

from cchybrid.problem.ragged import PairLookup
from cchybrid.problem.transfers import Transfers

from .context import Context, DoesNotApplyError
from .residual_capacity import Timetable
from .switched_translations import shortest_paths, switched_translations


def switched_exchange(context: Context) -> Transfers:
    """Return the all-to-all scatter in which all participants send alike in every step."""
    source, target = context.ends
    members = np.unique(source)
    if len(source) != len(members) * (len(members) - 1):
        raise DoesNotApplyError("not one message from every participant to every other")
    context.require_useful(context.min_steps)
    group = switched_translations(context, members)
    hop_by_hop, pairs = context.structure.hop_by_hop, PairLookup(source, target)
    passed = ~np.isin(np.arange(context.nodes), [] if hop_by_hop else [*context.endpoints])
    paths = shortest_paths(context, group.source, passed)
    if not set(members.tolist()) <= {group.source, *paths}:
        raise DoesNotApplyError("a destination that no path reaches")
    load, table = np.zeros(len(group.room)), Timetable(group.room.tolist())
    parts = []
    for goal in sorted(members[members != group.source].tolist(), key=lambda v: -len(paths[v][0])):
        context.check()
        routes = [[*pairwise(path)] if hop_by_hop else [path] for path in paths[goal]]
        fitting = [route for route in routes if all(group.fits(context, hop) for hop in route)]
        if not fitting:
            raise DoesNotApplyError("paths whose images do not fit into a step")
        uses = [[group.uses(context, hop) for hop in route] for route in fitting]
        relative = (load + 1) / np.maximum(1, group.room)
        chosen = min(range(len(uses)), key=lambda k: float(relative[[*chain(*uses[k])]].max()))
        message = pairs.find(group.participants, group.image[:, goal])
        if (message < 0).any():
            raise DoesNotApplyError("not one message from every participant to every other")
        step = -1
        for hop, orbits in zip(fitting[chosen], uses[chosen], strict=True):
            load[orbits] += 1
            step = table.place(orbits, step + 1)
            context.require_useful(step + 1)
            parts.append(group.images(hop, message, step))
    return Transfers.joined(parts)
