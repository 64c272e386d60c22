"""Translations of a network with switches: each maps one participant to another, switches along.

Participants get digits by the switches: those nearest to a switch are a set, and disjoint sets of
one size that hold all participants divide them, such as a cluster into boxes and into rails. Adding
to a digit moves the participants; a switch goes to the one whose distances to the moved
participants are its own. Where that keeps the network, sums of digits are a group of automorphisms,
and what is scheduled for one participant is mapped to all others.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import NetworkStructure
from cchybrid.problem.ragged import components, offsets
from cchybrid.problem.transfers import Transfers

from .context import Context, DoesNotApplyError, LongArray, Path

MAX_CELLS = 10_000_000
"""Participants times nodes: the group has an entry for each, and so have the distances."""
MAX_PATHS = 8
"""Shortest paths that are listed per destination."""


@dataclass(frozen=True, eq=False)
class SwitchedTranslations:
    """A group of automorphisms that maps a participant to any other by one element.

    Parameters
    ----------
    image
        Shape (participants, nodes): the image of each node under each element, the identity first.
    source
        The participant whose messages are scheduled.
    orbit
        Shape (resources,): the smallest resource of the orbit of each.
    room
        Shape (resources,): how often the messages of one participant can use the orbit of a
        resource in a step.
    """

    image: LongArray
    source: int
    orbit: LongArray
    room: LongArray

    @property
    def participants(self) -> LongArray:
        """Shape (participants,): the image of the source under each element."""
        return self.image[:, self.source]

    def uses(self, context: Context, path: Path) -> list[int]:
        """Return the orbits that the images of a path use, one per channel and port."""
        found: list[int] = self.orbit[context.uses(path)].tolist()
        return found

    def fits(self, context: Context, path: Path) -> bool:
        """Return whether all images of a path fit into an empty step, and use each orbit once."""
        uses = self.uses(context, path)
        return len({*uses}) == len(uses) and bool((self.room[uses] > 0).all())

    def images(self, path: Path, message: LongArray, step: int) -> Transfers:
        """Return the images of a transfer, whose messages are given per element."""
        node = self.image[:, path]
        numbers = np.full(len(node), step)
        return Transfers(message, numbers, node.ravel(), offsets([len(path)] * len(node)))


def switched_translations(context: Context, members: LongArray) -> SwitchedTranslations:
    """Return translations of the participants, which are sorted.

    Raises
    ------
    DoesNotApplyError
        If all nodes take part, or none are found.
    """
    structure, nodes = context.structure, context.nodes
    if len(members) == nodes or len(members) * nodes > MAX_CELLS:
        raise DoesNotApplyError("no switches, or too many nodes")
    others = np.setdiff1d(np.arange(nodes), members)
    place = _digits(structure.distance[np.ix_(others, members)], members)
    generators = [_moved(structure, place, others, axis) for axis in range(place.ndim)]
    image = np.arange(nodes)[None]
    first, second = [], []
    for generator, side in zip(reversed(generators), reversed(place.shape), strict=True):
        found = _resource_image(structure, generator)
        if any((generator[other] != other[generator]).any() for other in generators):
            raise DoesNotApplyError("no group of translations found")
        first.append(np.arange(len(found)))
        second.append(found)
        powers = [np.arange(nodes)]
        for _ in range(side):
            powers.append(generator[powers[-1]])
        if (powers.pop() != powers[0]).any():
            raise DoesNotApplyError("no group of translations found")
        image = np.concatenate([power[image] for power in powers])
    capacity = structure.resources.capacity
    orbit = components(np.concatenate(first), np.concatenate(second), len(capacity))
    size = np.bincount(orbit, minlength=len(orbit))[orbit]
    # A use by the source is one by every participant, spread evenly over the orbit.
    return SwitchedTranslations(
        image, int(place.flat[0]), orbit, capacity // (len(members) // size)
    )


def shortest_paths(
    context: Context, source: int, passed: NDArray[np.bool_]
) -> dict[int, list[Path]]:
    """Return up to ``MAX_PATHS`` shortest paths from a node to others through passed nodes."""
    paths: dict[int, list[Path]] = {source: [(source,)]}
    level = [source]
    while level:
        fresh: dict[int, list[Path]] = {}
        for node in level:
            for other in context.network.successors[node]:
                if other not in paths:
                    listed = fresh.setdefault(other, [])
                    listed += [(*path, other) for path in paths[node]][: MAX_PATHS - len(listed)]
        paths |= fresh
        level = [node for node in fresh if passed[node]]
    del paths[source]
    return paths


def _digits(distance: NDArray[np.integer], members: LongArray) -> LongArray:
    """Return the participants in an array whose axes are their digits.

    Parameters
    ----------
    distance
        Shape (switches, participants), -1 for none.
    """
    far = np.where(distance < 0, 1 << 30, distance)
    sets = far == far.min(axis=1, keepdims=True)
    sets = sets[np.unique(_hashes(sets), return_index=True)[1]]
    # In this order, of sets that share a participant those of one division come first.
    sets = np.array(sorted(sets, key=lambda row: (row.sum(), np.flatnonzero(row).tolist())))
    size = sets.sum(axis=1)
    divisions: list[tuple[int, LongArray]] = []
    for row in range(len(sets)):
        if not 1 < size[row] < len(members):
            continue
        for number, label in divisions:
            if number == size[row] and (label[sets[row]] < 0).all():
                break
        else:
            label = np.full(len(members), -1)
            divisions.append((int(size[row]), label))
        label[sets[row]] = row
    labels = [label for _, label in divisions if (label >= 0).all()]
    order = np.lexsort([members, *labels])  # by the division of the largest sets first
    sides, known = list[int](), 1
    block = np.zeros(len(members), dtype=np.int64)
    for label in (*reversed(labels), np.arange(len(members))):
        distinct, block = np.unique(np.column_stack((block, label)), axis=0, return_inverse=True)
        block = block.ravel()
        sides.append(len(distinct) // known)
        known = len(distinct)
    sides = [side for side in sides if side > 1]
    if prod(sides) != len(members):
        raise DoesNotApplyError("sets of different sizes around the switches")
    return members[order].reshape(sides)


def _hashes(rows: NDArray[np.integer | np.bool_]) -> LongArray:
    """Return a number per row, which is the same for equal rows."""
    random = np.random.default_rng(0)
    found: LongArray = rows @ random.integers(1 << 62, size=rows.shape[1])
    return found


def _moved(
    structure: NetworkStructure, place: LongArray, others: LongArray, axis: int
) -> LongArray:
    """Return the image of each node where 1 is added to one digit of the participants."""
    image = np.arange(structure.network.nodes)
    image[place] = np.roll(place, -1, axis)
    before, after = place.ravel(), image[place.ravel()]
    rows = [
        np.hstack((structure.distance[others][:, nodes], structure.distance[nodes][:, others].T))
        for nodes in (before, after)
    ]
    # Switch s goes to the switch t with the distances of s, read at the images; what is equal by
    # its hash alone is found out when the channels are compared.
    here, there = (_hashes(row) for row in rows)
    order = [np.argsort(hashes, kind="stable") for hashes in (here, there)]
    if (here[order[0]] != there[order[1]]).any():
        raise DoesNotApplyError("a translation of the participants that moves no switches along")
    image[others[order[0]]] = others[order[1]]
    return image


def _resource_image(structure: NetworkStructure, image: LongArray) -> LongArray:
    """Return, shape (resources,), the image of each resource under an automorphism."""
    resources = structure.resources
    ends = structure.channels[:, :2].T
    channel = resources.channel_of(*image[ends])
    found = np.arange(len(resources.capacity))
    found[resources.channel] = resources.channel[channel]
    found[resources.inject] = resources.inject[image]
    found[resources.accept] = resources.accept[image]
    endpoint = np.isin(np.arange(len(image)), structure.network.endpoints)
    same = (resources.capacity[found] == resources.capacity).all()
    if (channel < 0).any() or not same or (endpoint[image] != endpoint).any():
        raise DoesNotApplyError("no group of translations found")
    return found
