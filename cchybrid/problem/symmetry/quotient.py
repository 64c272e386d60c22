"""A Problem divided by a group of automorphisms: one delivery, option and resource per orbit.

A schedule that keeps to a group is known by what happens to one delivery of each orbit. The loads
of all resources of an orbit are equal then, so one capacity stands for all. A delivery that some
elements of the group leave as it is has only the options that they leave as they are. Whatever
solves the quotient lifts to a schedule of the whole network; that there is none refutes nothing.
For one broadcast per node, on a network whose translations act freely, this is the tree that the
literature packs once and translates everywhere (time-arc-disjoint trees).

Where no delivery waits for another, steps may change places too. Then only a normal subgroup, the
*kernel*, keeps every step, and its cosets move a step to others: one step of the quotient stands
for as many steps of the schedule as there are cosets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, Schedule, Steps, Transfer
from cchybrid.problem import Assignment, NetworkStructure, Price, Problem, needed
from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.problem.origin import cheapest_listed, schedule_of
from cchybrid.problem.ragged import gather, offsets, offsets_of, within
from cchybrid.problem.symmetry.automorphisms import MessageMap
from cchybrid.problem.symmetry.groups import Division

MAX_IMAGES = 40_000_000
"""Deliveries times elements of the group, at most: each takes four bytes."""


class NoQuotientError(ValueError):
    """No schedule keeps to the group, or the tables would be too large; it says which."""


@dataclass(frozen=True, eq=False)
class QuotientOrigin:
    """The way back from a quotient to the Problem that was divided.

    Parameters
    ----------
    problem, division
        What was divided by what.
    option
        Shape (options of the quotient,): the option of the whole Problem that each stands for.
    stands_for
        Shape (options of the whole Problem,): the option of the quotient that does the same, -1
        for none, and where the delivery is no first one of an orbit of the kernel.
    orbit
        Shape (deliveries of the whole Problem,): the delivery of the quotient.
    images
        Shape (order, deliveries of the whole Problem): what each element makes of them.
    """

    problem: Problem
    division: Division
    option: LongArray
    stands_for: LongArray
    orbit: IntArray
    images: IntArray

    @property
    def instance(self) -> Instance:
        """The instance that the lifted schedules answer."""
        return self.problem.origin.instance

    @property
    def structure(self) -> None:
        """Nothing: its numbers stand for orbits."""
        return None

    @property
    def stretch(self) -> int:
        """How many steps of the schedule one step of the quotient stands for."""
        return self.division.stretch

    def lift(self, problem: Problem, assignment: Assignment, steps: int | None) -> Schedule:
        """Return the schedule of the whole network; see ``Problem.lift``.

        ``steps`` are those of the quotient.
        """
        whole, stretch = _structure(self.problem), self.stretch
        elements: list[list[int]] = self.division.group.elements.tolist()
        shift = self.division.shift.tolist()
        filled: dict[int, list[Transfer]] = {}
        for orbit in np.flatnonzero(needed(problem, assignment)).tolist():
            option = self.option[assignment.option[orbit]]
            path = whole.path(int(self.problem.option_path[option]))
            delivery = self.problem.option_delivery[option]
            first = int(assignment.step[orbit]) * stretch
            members, carriers = np.unique(self.images[:, delivery], return_index=True)
            for member, carrier in zip(members.tolist(), carriers.tolist(), strict=True):
                names = elements[carrier]
                filled.setdefault(first + shift[carrier], []).append(
                    Transfer(
                        int(whole.delivery_message[member]), tuple(names[node] for node in path)
                    )
                )
        return schedule_of(self.instance, filled, None if steps is None else steps * stretch)

    def match(self, problem: Problem, steps: Steps) -> Assignment:
        """Return what the first delivery of each orbit does; the others are taken to follow it."""
        whole = self.problem.match(steps)
        option = np.where(whole.option >= 0, self.stands_for[whole.option], -1)
        named = (option >= 0) & (whole.step % self.stretch == 0)
        found = problem.empty()
        found.option[self.orbit[named]] = option[named]
        found.step[self.orbit[named]] = whole.step[named] // self.stretch
        return found

    def price(self, problem: Problem, delivery: int, cost: NDArray[np.float64]) -> Price:
        """Return the cheapest listed option: which others keep to the group is not known here."""
        if problem.option_start[delivery] == problem.option_start[delivery + 1]:
            return Price(float("inf"), -1, ())
        option, spent = cheapest_listed(problem, delivery, cost)
        path = _structure(self.problem).path(int(self.problem.option_path[self.option[option]]))
        return Price(spent, int(problem.option_requires[option]), path)


def quotient(problem: Problem, division: Division) -> Problem:
    """Return the Problem divided by a group of automorphisms of its instance.

    Raises
    ------
    NoQuotientError
        If no schedule keeps to the group, as far as is easily seen, or the group is too large for
        so many deliveries.
    ValueError
        If the group does not keep the instance as it is, or the Problem is a quotient already.
    """
    structure, group = _structure(problem), division.group
    if problem.deliveries * group.order > MAX_IMAGES:
        raise NoQuotientError(f"{problem.deliveries} deliveries are too many for a {group}")
    if division.stretch > 1 and problem.ordered:
        raise NoQuotientError("where deliveries wait for others, steps cannot change places")
    images = _delivery_images(problem, structure, division)
    first, orbit = _orbits(images)
    still, inner = _orbits(images[division.kernel])
    if (np.bincount(orbit[still]) != division.stretch).any():
        raise NoQuotientError("an element that moves the steps leaves a delivery as it is")
    resource_first, resource_orbit = _orbits(_resource_images(structure, division))
    kept = _kept_options(problem, structure, division, images, still, orbit)
    rows, option = _rows(problem, kept, orbit, np.bincount(inner)[inner], resource_orbit)
    # Options that do the same to all orbits are one: which of them it is, the lift decides.
    _, chosen, same = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    place = chosen[np.lexsort((chosen, rows[chosen, 1], rows[chosen, 0]))]
    new = np.empty(len(rows), dtype=np.int64)
    new[place] = np.arange(len(place))
    stands_for = np.full(problem.options, -1, dtype=np.int64)
    stands_for[option] = new[chosen[same.ravel()]]
    rows, option = rows[place], option[place]
    required = problem.required[first]
    start = offsets_of(rows[:, 0], len(first))
    if not _reached(rows, len(first))[required].all():
        raise NoQuotientError(f"some delivery has no option that keeps to the {group}")
    distinct, path = np.unique(rows[:, 2:], axis=0, return_inverse=True)
    named = distinct >= 0
    return Problem(
        capacity=problem.capacity[resource_first],
        kind=problem.kind[resource_first],
        implied=problem.implied[resource_first],
        required=required,
        option_start=start,
        option_requires=rows[:, 1].copy(),
        option_path=path.ravel().astype(np.int32),
        path_start=offsets(named.sum(axis=1)),
        path_resource=distinct[named],
        complete=False,
        origin=QuotientOrigin(problem, division, option, stands_for, orbit, images),
    )


def _structure(problem: Problem) -> NetworkStructure:
    if problem.structure is None:
        raise ValueError("only a Problem that was built from an instance can be divided")
    return problem.structure


def _orbits(images: IntArray) -> tuple[LongArray, IntArray]:
    """Return the least member of each orbit, and the orbit of each number.

    Parameters
    ----------
    images
        Shape (order, numbers): what the elements of a group make of them.
    """
    first, of = np.unique(images.min(axis=0), return_inverse=True)
    return first.astype(np.int64), of.ravel().astype(np.int32)


def _delivery_images(problem: Problem, structure: NetworkStructure, division: Division) -> IntArray:
    """Return, shape (order, deliveries), what every element makes of each delivery."""
    messages = MessageMap(problem.origin.instance)
    of_message, of_node = structure.delivery_message, structure.delivery_node
    images = np.empty((division.group.order, problem.deliveries), dtype=np.int32)
    for row, element in zip(images, division.group.elements, strict=True):
        message = messages.image(element)
        if message is None:
            raise ValueError("an element of the group changes the messages")
        row[:] = structure.delivery_of(message[of_message], element[of_node])
        if (row < 0).any():
            raise ValueError("an element of the group changes the deliveries")
    return images


def _resource_images(structure: NetworkStructure, division: Division) -> IntArray:
    """Return, shape (order of the kernel, resources), what its elements make of each resource."""
    resources, channels = structure.resources, structure.channels
    elements = division.group.elements[division.kernel].astype(np.int64)
    images = np.empty((len(elements), len(resources.capacity)), dtype=np.int32)
    for row, element in zip(images, elements, strict=True):
        place = resources.channel_of(element[channels[:, 0]], element[channels[:, 1]])
        if (place < 0).any():
            raise ValueError("an element of the group changes the channels")
        row[resources.channel] = resources.channel[place]
        row[resources.inject] = resources.inject[element]
        row[resources.accept] = resources.accept[element]
        if (resources.capacity[row] != resources.capacity).any():
            raise ValueError("an element of the group changes the capacities")
    return images


def _kept_options(
    problem: Problem,
    structure: NetworkStructure,
    division: Division,
    images: IntArray,
    still: LongArray,
    orbit: IntArray,
) -> LongArray:
    """Return the options of the kernel orbits' first deliveries that keep to the kernel.

    What leaves a delivery as it is must leave its path as it is, and so, since that leads from
    one fixed node to another, every node on it.
    """
    option, owner = gather(problem.option_start, still)
    before = problem.option_requires[option]
    # Nothing can wait for another delivery of its own orbit: that one would have to wait as well.
    keeps: BoolArray = (before < 0) | (orbit[before] != orbit[still[owner]])
    elements = division.group.elements[division.kernel]
    fixing, kind = np.unique(
        images[division.kernel][:, still] == still, axis=1, return_inverse=True
    )
    unmoved = elements == np.arange(elements.shape[1])
    for number, those in enumerate(fixing.T):
        if those.sum() > 1:
            asked = np.flatnonzero(kind.ravel()[owner] == number)
            node, place = gather(structure.path_node_start, problem.option_path[option[asked]])
            moved = ~unmoved[those].all(axis=0)[structure.path_node[node]]
            keeps[asked[place[moved]]] = False
    kept: LongArray = option[keeps]
    return kept


def _rows(
    problem: Problem,
    option: LongArray,
    orbit: IntArray,
    members: NDArray[np.integer],
    resource_orbit: IntArray,
) -> tuple[IntArray, LongArray]:
    """Return what the options become, and which options these are: those that fit on their own.

    Parameters
    ----------
    members
        Shape (deliveries of the whole Problem,): how many an orbit of the kernel holds.

    Returns
    -------
    rows
        Shape (options, 2 + most uses): the delivery, what it requires, and the resources in
        order, -1 where there are fewer.
    option
        Shape (options,).
    """
    resources = int(resource_orbit.max()) + 1
    sharers = np.bincount(resource_orbit)
    capacity = np.zeros(resources, dtype=np.int64)
    capacity[resource_orbit] = problem.capacity
    use, place = gather(problem.path_start, problem.option_path[option])
    used = resource_orbit[problem.path_resource[use]]
    # All members of an orbit of deliveries together use each member of an orbit of resources so
    # often, per use of the one by the other.
    times = members[problem.option_delivery[option]][place] // sharers[used]
    key, inverse = np.unique(place * resources + used, return_inverse=True)
    load = np.bincount(inverse.ravel(), weights=times)
    fits = np.ones(len(option), dtype=np.bool_)
    fits[key[load > capacity[key % resources]] // resources] = False
    kept = fits[place]
    place, used, times = offsets(fits)[place[kept]], used[kept], times[kept]
    option = option[fits]
    order = np.lexsort((used, place))
    place, used = np.repeat(place[order], times[order]), np.repeat(used[order], times[order])
    size = np.bincount(place, minlength=len(option))
    rows = np.full((len(option), 2 + int(size.max(initial=0))), -1, dtype=np.int32)
    rows[place, 2 + within(size)] = used
    before = problem.option_requires[option]
    rows[:, 0] = orbit[problem.option_delivery[option]]
    rows[:, 1] = np.where(before < 0, -1, orbit[before])
    return rows, option


def _reached(rows: IntArray, deliveries: int) -> BoolArray:
    """Return which deliveries can happen at all, one after the other."""
    happens = np.zeros(deliveries + 1, dtype=np.bool_)
    happens[-1] = True  # what requires nothing
    while True:
        fresh = rows[happens[rows[:, 1]] & ~happens[rows[:, 0]], 0]
        if not len(fresh):
            return happens[:-1]
        happens[fresh] = True
