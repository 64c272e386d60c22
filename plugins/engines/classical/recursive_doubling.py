"""Recursive doubling on any network: in every step all informed nodes inform as many as fit.

Senders and receivers are chosen at random, without a plan for the network: far receivers in some
steps, to spread the message, near ones in the others.

References
----------
P. K. McKinley, Y.-J. Tsai, D. F. Robinson, "Collective communication in wormhole-routed massively
parallel computers", Computer 28, 1995. doi:10.1109/2.476198
"""

from cchybrid.model import Transfer

from .context import Context, DoesNotApplyError, Draft
from .residual_capacity import ResidualCapacity

MAX_PLACED = 4_000
"""Deliveries placed in total, over all schedules tried, times the effort."""
MAX_DELIVERIES = 4_000
"""Deliveries of an instance; with more, a schedule takes seconds."""
MAX_RECEIVERS = 12
"""Receivers that are tried per sender."""


def recursive_doubling(context: Context) -> Draft:
    """Return the shortest of some random schedules."""
    size = context.deliveries
    if size == len(context.messages):
        raise DoesNotApplyError("every message has one destination")
    if size > MAX_DELIVERIES:
        raise DoesNotApplyError(f"more than {MAX_DELIVERIES} deliveries")
    if context.structure.hop_by_hop and size < len(context.messages) * (context.nodes - 1):
        raise DoesNotApplyError("store-and-forward to some of the nodes only")
    best: Draft = []
    for _ in range(max(2, MAX_PLACED * context.effort // size)):
        best = _doubled(context) or best
    if not best:
        raise DoesNotApplyError("no short enough schedule found, or a destination is unreachable")
    return best


def _doubled(context: Context) -> Draft | None:
    """Return a random schedule, ``None`` if its number of steps would be of no use."""
    holders = [[message.source] for message in context.messages]
    missing = [set(message.destinations) for message in context.messages]
    draft: Draft = []
    while any(missing):
        if not context.improves(len(draft) + 1):
            return None
        residual = ResidualCapacity(context)
        step: list[Transfer] = []
        far = context.random.random() < 0.5
        senders = [
            (index, node) for index, nodes in enumerate(holders) if missing[index] for node in nodes
        ]
        context.random.shuffle(senders)
        while senders:
            context.check()
            again = []
            for index, node in senders:
                transfer = _inform(context, residual, index, node, missing[index], far)
                if transfer is not None:
                    step.append(transfer)
                    missing[index].discard(transfer.path[-1])
                    again.append((index, node))
            senders = again
        if not step:
            return None
        for index, path in step:
            holders[index].append(path[-1])
        draft.append(step)
    context.known = len(draft)
    return draft


def _inform(
    context: Context,
    residual: ResidualCapacity,
    index: int,
    node: int,
    missing: set[int],
    far: bool,
) -> Transfer | None:
    """Allocate and return a transfer to a near or far uninformed node, ``None`` if none fits."""
    if not missing or not residual.can_inject(node):
        return None
    hops = context.distance[node]
    nodes = sorted(missing)
    context.random.shuffle(nodes)
    nodes.sort(key=lambda other: hops[other], reverse=far)
    for other in nodes[:MAX_RECEIVERS]:
        path = residual.route(node, other)
        if path is not None:
            residual.allocate(path)
            return Transfer(index, path)
    return None
