"""All-to-all scatter on tori by figures that are translated over all cosets of a subgroup.

On a Cayley graph of an abelian group, a homomorphism to Z_k divides nodes into k classes, the
cosets of its kernel. All nodes of a class do the same, so a step is a choice of k channels per
generator. A *figure* is a set of paths, of different distances, that share no channel; its k
translates are k steps, in which every node sends over each of these distances once. A cover of all
distances by figures is a schedule. If L messages have to pass every channel of some generators, L /
k figures suffice exactly if they use all of these. See ``figures`` for how they are found.

Compare E. A. Varvarigos, D. P. Bertsekas, "Communication algorithms for isotropic tasks in
hypercubes and wraparound meshes", Parallel Computing 18, 1992, where all nodes do the same.
"""

import math
from collections import defaultdict
from itertools import permutations, product

import numpy as np

from cchybrid.problem.transfers import Transfers

from .context import Context, DoesNotApplyError, LongArray
from .factorisations import factorisations
from .figures import Element, Group, Options, cover

MAX_NODES = 1024
"""Nodes of the network; with more, figures take many seconds."""
MAX_FIGURE = 5
"""Largest average number of paths of a figure, opposite ones counted once if all are in pairs."""
MAX_GENERATORS = 6
"""Channels out of a node; paths use those of a distance in any order."""


def coset_exchange(context: Context) -> Transfers:
    """Return the schedule of as many steps as messages have to pass the busiest channel."""
    message = context.message_matrix()
    context.require_wormhole(full_duplex=True)
    sides, generators = _generators(context)
    if min(context.ports()) < len(generators):
        raise DoesNotApplyError("fewer ports than channels")
    group, coefficients, steps = classed(sides, generators)
    context.require_useful(steps)
    count = steps // group.classes
    random = np.random.default_rng(context.random.randrange(1 << 32))
    options = Options(group, random, context.check)
    if not 0 < options.tight_items <= MAX_FIGURE * count:
        raise DoesNotApplyError("free channels, or too many paths per figure")
    digits = np.array(np.unravel_index(np.arange(context.nodes), sides)).T
    parts = []
    for number, figure in enumerate(cover(options, count, random)):
        for _, word, start in figure:
            hops = np.array(generators)[list(word)].cumsum(axis=0)
            places = (digits[:, None] + np.vstack((hops[:1] * 0, hops))) % np.array(sides)
            node = np.ravel_multi_index(tuple(np.moveaxis(places, 2, 0)), sides)
            step = number * group.classes + (digits @ coefficients - start) % group.classes
            begins = np.arange(0, node.size + 1, node.shape[1])
            parts.append(Transfers(message[node[:, 0], node[:, -1]], step, node.ravel(), begins))
    return Transfers.joined(parts)


def _generators(context: Context) -> tuple[Element, list[Element]]:
    """Return sides of a group whose sums are the nodes, and the elements that channels add."""
    network = context.network
    if network.endpoints or not 2 < network.nodes <= MAX_NODES:
        raise DoesNotApplyError("terminals, or too many nodes")
    if len(network.channels) > MAX_GENERATORS * network.nodes:
        raise DoesNotApplyError("too many channels per node")
    first, last, _ = np.array(network.channels).T
    for sides in factorisations(network.nodes):
        ends = [np.array(np.unravel_index(end, sides)) for end in (first, last)]
        added = np.unique((ends[1] - ends[0]).T % np.array(sides), axis=0)
        known = set(map(tuple, added.tolist()))
        if len(known) <= MAX_GENERATORS and len(known) * network.nodes == len(network.channels):
            return sides, sorted(known)
    raise DoesNotApplyError("no network of an abelian group with few channels per node")


def _moved(place: Element, by: Element, sides: Element, times: int = 1) -> Element:
    return tuple((a + times * b) % side for a, b, side in zip(place, by, sides, strict=True))


def _words(
    sides: Element, generators: list[Element]
) -> tuple[dict[Element, list[list[int]]], LongArray]:
    """Return the shortest routes of every distance, in blocks, and the hops per generator.

    Routes that use the same generators equally often are equally probable.
    """
    uses: dict[Element, set[Element]] = {(0,) * len(sides): {(0,) * len(generators)}}
    level = uses
    while level:
        fresh = defaultdict[Element, set[Element]](set)
        for (place, known), (number, one) in product(level.items(), enumerate(generators)):
            other = _moved(place, one, sides)
            if other not in uses:
                fresh[other] |= {(*u[:number], u[number] + 1, *u[number + 1 :]) for u in known}
        uses, level = uses | fresh, fresh
    del uses[(0,) * len(sides)]
    load = sum(np.mean(list(found), axis=0) for found in uses.values()).round(9)
    words = {
        place: [
            [generator for generator in order for _ in range(use[generator])]
            for use in sorted(found)
            for order in permutations(np.flatnonzero(use).tolist())
        ]
        for place, found in uses.items()
    }
    return words, load


def classed(sides: Element, generators: list[Element]) -> tuple[Group, list[int], int]:
    """Return a group in as few classes as the longest routes allow.

    Returns
    -------
    tuple[Group, list[int], int]
        The group, the class of every digit, and the steps, a multiple of the number of classes.
    """
    words, load = _words(sides, generators)
    steps = math.ceil(max(load))
    negated = {distance: _moved((0,) * len(sides), distance, sides, -1) for distance in words}
    if {negated[generator] for generator in generators} != set(generators):
        raise DoesNotApplyError("one-way channels")
    routes = (word for routes in words.values() for word in routes)
    longest = np.max([np.bincount(word, minlength=len(generators)) for word in routes], axis=0)
    for classes in range(1, math.prod(sides) + 1):
        coefficients = [classes // math.gcd(classes, side) for side in sides]
        shift: LongArray = np.array(generators, dtype=np.int64) @ coefficients % classes
        if steps % classes == 0 and (classes // np.gcd(classes, shift) >= longest).all():
            opposite = [generators.index(negated[generator]) for generator in generators]
            tight = [hops == steps for hops in load]
            return Group(words, negated, opposite, shift, tight, classes), coefficients, steps
    raise DoesNotApplyError("no classes of nodes that divide the steps")
