"""Broadcast over dominating sets: in every step each informed node informs several others.

The informed nodes form a subgroup of the network's translations, and so do those after the next
step: every informed node sends to one node of every new coset, over paths that translations map to
each other. On hypercubes the subgroups are linear codes and the cosets subcubes (Ho and Kao 1995),
with a covering code in the last step. On tori they are the extended dominating nodes of Tsai and
McKinley (1997), such as the five nodes of the 5x5 torus that are adjacent to all others. With one
port the number of informed nodes doubles per step.

References
----------
C.-T. Ho, M.-Y. Kao, "Optimal broadcast in all-port wormhole-routed hypercubes", IEEE Transactions
on Parallel and Distributed Systems 6, 1995.

Y.-J. Tsai, P. K. McKinley, "An extended dominating node approach to broadcast and global combine in
multiport wormhole-routed mesh networks", IEEE Transactions on Parallel and Distributed Systems 8,
1997.
"""

from cchybrid.model import Transfer

from .context import Context, DoesNotApplyError, Draft, Path
from .residual_capacity import ResidualCapacity
from .translations import Translations, carried, representatives, translations

MAX_CHAINS = 12
"""Chains of subgroups tried, times the effort."""
MAX_SUBGROUPS = 40
"""Subgroups tried per step."""


Wave = tuple[list[int], list[Path]]
"""A step: the subgroup informed before it, and the paths from element 0 to the new cosets."""


def dominating_sets(context: Context) -> Draft:
    """Return the shortest broadcast found over chains of subgroups."""
    source = context.broadcast_source()
    context.require_wormhole()
    group = translations(context)
    ports = context.ports()[0]
    min_steps, reached = 0, 1
    while reached < context.nodes:
        min_steps, reached = min_steps + 1, reached * (ports + 1)
    context.require_useful(min_steps)
    best: list[Wave] | None = None
    for _ in range(MAX_CHAINS * context.effort):
        waves = _chain(context, group, ports)
        if waves is None or (best is not None and len(waves) >= len(best)):
            continue
        best = waves
        if len(best) == min_steps:
            break
    if best is None:
        raise DoesNotApplyError("no chain of subgroups found that fits ports and channels")
    draft: Draft = []
    for informed, legs in best:
        images = [group.rows[group.rows[source][element]] for element in informed]
        draft.append([Transfer(0, carried(image, leg)) for image in images for leg in legs])
    return draft


def _chain(context: Context, group: Translations, ports: int) -> list[Wave] | None:
    informed, generators = [0], list[int]()
    waves: list[Wave] = []
    while len(informed) < context.nodes:
        representative = representatives(context, group, informed)
        best: tuple[list[int], list[int], list[Path]] | None = None
        for _ in range(MAX_SUBGROUPS):
            context.check()
            larger, more = _larger(context, group, informed, generators, ports)
            if len(larger) <= len(best[0] if best else informed):
                continue
            residual = ResidualCapacity(context, representative=representative)
            legs = _legs(context, group, informed, larger, residual)
            if legs is not None:
                best = larger, more, legs
        if best is None:
            return None
        waves.append((informed, best[2]))
        informed, generators = best[0], best[1]
    return waves


def _larger(
    context: Context, group: Translations, informed: list[int], generators: list[int], ports: int
) -> tuple[list[int], list[int]]:
    """Return a random larger subgroup that one step can inform, and its generators."""
    best, known = informed, generators
    # The largest factor is not always possible, and may be bad for the next step.
    factor = ports + 1 if context.random.random() < 0.5 else context.random.randint(2, ports + 1)
    for _ in range(8):
        element = context.random.randrange(1, context.nodes)
        if element in best:
            continue
        larger = group.closure([*known, element])
        if len(larger) <= len(informed) * factor:
            best, known = larger, [*known, element]
    return best, known


def _legs(
    context: Context,
    group: Translations,
    informed: list[int],
    larger: list[int],
    residual: ResidualCapacity,
) -> list[Path] | None:
    """Return paths from 0 to one node of every new coset that fit into one step, or ``None``."""
    hops = context.distance[0]
    left = set(larger).difference(informed)
    cosets = []
    while left:
        first = min(left)
        coset = [group.rows[element][first] for element in informed]
        left.difference_update(coset)
        context.random.shuffle(coset)
        coset.sort(key=lambda node: hops[node])
        cosets.append(coset)
    # Cosets without near nodes come first, as they have the fewest possible paths.
    cosets.sort(key=lambda coset: (-hops[coset[0]], context.random.random()))
    legs = []
    for coset in cosets:
        leg = next((leg for leg in (residual.route(0, node) for node in coset[:8]) if leg), None)
        if leg is None:
            return None
        residual.allocate(leg)
        legs.append(leg)
    return legs
