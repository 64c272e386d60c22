"""Quotients: a Problem divided by a group action, with one delivery per orbit.

A schedule that is invariant under a group is determined by the transfers of one delivery of each
orbit:

1. All resources of an orbit have equal loads, so one capacity represents them.
2. Options with the same delivery orbit, required orbit and resource orbits become one option.
3. A delivery that is fixed by some elements has only the options whose paths these elements fix.
4. An option whose images together exceed a capacity is left out.

An assignment of the quotient lifts to a schedule of the whole network. If the quotient has none,
this proves nothing about the network. For one broadcast per node, on a network whose translations
act freely, a solution of the quotient is one tree whose translations are time-arc-disjoint.

Where no delivery requires another, elements may also permute steps (``GroupAction``): only the
elements of the *kernel*, a normal subgroup, map every step to itself, and one step of the quotient
represents a round of as many steps as the kernel has cosets.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance, Schedule, Steps
from cchybrid.problem import Assignment, NetworkStructure, Price, Problem, needed
from cchybrid.problem.arrays import NO_OFFSETS, BoolArray, IntArray, LongArray
from cchybrid.problem.origin import schedule_of
from cchybrid.problem.problem import cheapest_listed
from cchybrid.problem.ragged import gather, offsets, offsets_of, within
from cchybrid.problem.symmetry.automorphisms import MessageMap, automorphisms
from cchybrid.problem.symmetry.choice import choices
from cchybrid.problem.symmetry.groups import GroupAction
from cchybrid.problem.transfers import Transfers

MAX_IMAGES = 40_000_000
"""Largest number of deliveries times the order of the group: each entry takes four bytes."""


class NoQuotientError(ValueError):
    """No invariant schedule exists, or the tables would be too large; the message says which."""


@dataclass(frozen=True, eq=False)
class QuotientOrigin:
    """Conversion between a quotient and the Problem that was divided.

    Parameters
    ----------
    problem, action
        The whole Problem, and the group action by which it was divided.
    option
        Shape (options of the quotient,): the option of the whole Problem that represents each.
    quotient_option
        Shape (options of the whole Problem,): the option of the quotient, -1 for none, and where
        the delivery is not the representative of its orbit under the kernel.
    orbit
        Shape (deliveries of the whole Problem,): the delivery of the quotient.
    images
        Shape (order, deliveries of the whole Problem): the image of each delivery per element.
    """

    problem: Problem
    action: GroupAction
    option: LongArray
    quotient_option: LongArray
    orbit: IntArray
    images: IntArray

    @property
    def instance(self) -> Instance:
        """The instance of the lifted schedules."""
        return self.problem.origin.instance

    @property
    def structure(self) -> None:
        """``None``, as the numbers of a quotient are those of orbits."""
        return None

    @property
    def steps_per_round(self) -> int:
        """The number of steps of the schedule per step of the quotient."""
        return self.action.steps_per_round

    def lift(self, problem: Problem, assignment: Assignment, steps: int | None) -> Schedule:
        """Return the schedule of the whole network; see ``Problem.lift``.

        Parameters
        ----------
        steps
            A number of steps of the quotient.
        """
        structure, size = _structure(self.problem), self.steps_per_round
        elements: list[list[int]] = self.action.group.elements.tolist()
        coset = self.action.coset.tolist()
        messages: list[int] = []
        numbers: list[int] = []
        paths: list[list[int]] = []
        for orbit in np.flatnonzero(needed(problem, assignment)).tolist():
            option = self.option[assignment.option[orbit]]
            path = structure.path(int(self.problem.option_path[option]))
            delivery = self.problem.option_delivery[option]
            first = int(assignment.step[orbit]) * size
            # Per image of the delivery, one element that maps the delivery to it.
            members, mappings = np.unique(self.images[:, delivery], return_index=True)
            for member, element in zip(members.tolist(), mappings.tolist(), strict=True):
                messages.append(int(structure.delivery_message[member]))
                numbers.append(first + coset[element])
                paths.append([elements[element][node] for node in path])
        transfers = Transfers(
            np.array(messages, dtype=np.int64),
            np.array(numbers, dtype=np.int64),
            np.fromiter(chain.from_iterable(paths), np.int64),
            offsets([len(path) for path in paths]),
        )
        return schedule_of(self.instance, transfers, None if steps is None else steps * size)

    def match(self, problem: Problem, steps: Steps) -> Assignment:
        """Return the assignment of the deliveries that represent their orbit under the kernel.

        Others are ignored, and so are deliveries that are not made in the first step of a round.
        """
        whole = self.problem.match(steps)
        option = np.where(whole.option >= 0, self.quotient_option[whole.option], -1)
        kept = (option >= 0) & (whole.step % self.steps_per_round == 0)
        found = problem.empty()
        found.option[self.orbit[kept]] = option[kept]
        found.step[self.orbit[kept]] = whole.step[kept] // self.steps_per_round
        return found

    def price(self, problem: Problem, delivery: int, cost: NDArray[np.float64]) -> Price:
        """Return the cheapest listed option; options that are not listed are not considered."""
        if problem.option_start[delivery] == problem.option_start[delivery + 1]:
            return Price(float("inf"), -1, ())
        option, spent = cheapest_listed(problem, delivery, cost)
        path = _structure(self.problem).path(int(self.problem.option_path[self.option[option]]))
        return Price(spent, int(problem.option_requires[option]), path)


def quotient(problem: Problem, action: GroupAction) -> Problem:
    """Return the Problem divided by a group action.

    Raises
    ------
    NoQuotientError
        If simple tests show that no schedule is invariant under the action, or if the tables would
        be too large.
    ValueError
        If some element is no automorphism of the instance, or the Problem is a quotient already.
    """
    structure, group = _structure(problem), action.group
    if problem.deliveries * group.order > MAX_IMAGES:
        raise NoQuotientError(f"{problem.deliveries} deliveries are too many for a {group}")
    if problem.horizon == "ticks":
        raise NoQuotientError("ticks")
    if action.steps_per_round > 1 and problem.ordered:
        raise NoQuotientError("where deliveries require others, steps cannot be permuted")
    if action.steps_per_round > 1 and (len(problem.rounds) > 1 or problem.periodic):
        raise NoQuotientError("time slots and steps of different rounds cannot be permuted")
    images = _delivery_images(problem, structure, action)
    first, orbit = _orbits(images)
    kernel_first, kernel_orbit = _orbits(images[action.kernel])
    # Every orbit has to split into one kernel orbit per step of a round.
    if (np.bincount(orbit[kernel_first]) != action.steps_per_round).any():
        raise NoQuotientError("an element that permutes steps fixes a delivery")
    resource_first, resource_orbit = _orbits(_resource_images(structure, action))
    kept = _invariant_options(problem, structure, action, images, kernel_first, orbit)
    members = np.bincount(kernel_orbit)[kernel_orbit]
    rows, option = _rows(problem, kept, orbit, members, resource_orbit)
    # Options with equal rows are merged; the first one represents them.
    _, chosen, same = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    # By delivery, then required delivery: compiled kernels need options of one choice to be
    # consecutive.
    place = chosen[np.lexsort((chosen, rows[chosen, 1], rows[chosen, 0]))]
    new = np.empty(len(rows), dtype=np.int64)
    new[place] = np.arange(len(place))
    quotient_option = np.full(problem.options, -1, dtype=np.int64)
    quotient_option[option] = new[chosen[same.ravel()]]
    rows, option = rows[place], option[place]
    required = problem.required[first]
    start = offsets_of(rows[:, 0], len(first))
    if not _reached(rows, len(first))[required].all():
        raise NoQuotientError(f"some delivery has no option that is invariant under the {group}")
    distinct, path = np.unique(rows[:, 2:], axis=0, return_inverse=True)
    used = distinct >= 0  # not padding
    offset, resource = np.divmod(distinct[used], np.int32(len(resource_first)))
    return Problem(
        capacity=problem.capacity[resource_first],
        kind=problem.kind[resource_first],
        implied=problem.implied[resource_first],
        required=required,
        option_start=start,
        option_requires=rows[:, 1].copy(),
        option_path=path.ravel().astype(np.int32),
        path_start=offsets(used.sum(axis=1)),
        path_resource=resource,
        complete=False,
        path_offset=offset if problem.periodic else NO_OFFSETS,
        periodic=problem.periodic,
        origin=QuotientOrigin(problem, action, option, quotient_option, orbit, images),
        rounds=problem.rounds,
    )


def quotients(
    problem: Problem, seed: int, lower: int, should_stop: Callable[[], bool]
) -> Iterator[Problem]:
    """Yield quotients of a Problem, those by large groups first, whose steps stay in order.

    Parameters
    ----------
    seed
        Seed for the draws of groups.
    lower
        The lower bound of the number of steps.
    """
    instance = problem.origin.instance
    drawn = choices(instance, automorphisms(instance), seed, should_stop)
    for choice in sorted(drawn, key=lambda each: each.sort_key(lower)):
        if choice.action.steps_per_round == 1:
            with suppress(NoQuotientError):
                yield quotient(problem, choice.action)


def _structure(problem: Problem) -> NetworkStructure:
    if problem.structure is None:
        raise ValueError("only a Problem that was built from an instance can be divided")
    return problem.structure


def _orbits(images: IntArray) -> tuple[LongArray, IntArray]:
    """Return the smallest member of each orbit, and the orbit of each item.

    Parameters
    ----------
    images
        Shape (order, items): the image of each item under each element of a group.
    """
    first, of = np.unique(images.min(axis=0), return_inverse=True)
    return first.astype(np.int64), of.ravel().astype(np.int32)


def _delivery_images(
    problem: Problem, structure: NetworkStructure, action: GroupAction
) -> IntArray:
    """Return, shape (order, deliveries), the image of each delivery under each element."""
    messages = MessageMap(problem.origin.instance)
    of_message, of_node = structure.delivery_message, structure.delivery_node
    images = np.empty((action.group.order, problem.deliveries), dtype=np.int32)
    for row, element in zip(images, action.group.elements, strict=True):
        message = messages.image(element)
        if message is None:
            raise ValueError("an element of the group changes the messages")
        row[:] = structure.delivery_of(message[of_message], element[of_node])
        if (row < 0).any():
            raise ValueError("an element of the group changes the deliveries")
    return images


def _resource_images(structure: NetworkStructure, action: GroupAction) -> IntArray:
    """Return, shape (order of the kernel, resources), the images of each resource."""
    resources, channels = structure.resources, structure.channels
    elements = action.group.elements[action.kernel].astype(np.int64)
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


def _invariant_options(
    problem: Problem,
    structure: NetworkStructure,
    action: GroupAction,
    images: IntArray,
    kernel_first: LongArray,
    orbit: IntArray,
) -> LongArray:
    """Return the options that an invariant schedule can use, of each kernel orbit's first delivery.

    An element that fixes a delivery must fix its path, and, since the path leads from one fixed
    node to another, every node on it.

    Parameters
    ----------
    kernel_first
        Shape (orbits of the kernel,): the first delivery of each.
    orbit
        Shape (deliveries,): the orbit of each delivery under the whole group.
    """
    option, owner = gather(problem.option_start, kernel_first)
    before = problem.option_requires[option]
    # No delivery can require one of its own orbit: by symmetry that one would require another.
    kept: BoolArray = (before < 0) | (orbit[before] != orbit[kernel_first[owner]])
    elements = action.group.elements[action.kernel]
    stabilizers, which = np.unique(
        images[action.kernel][:, kernel_first] == kernel_first, axis=1, return_inverse=True
    )
    fixed = elements == np.arange(elements.shape[1])
    for number, stabilizer in enumerate(stabilizers.T):
        if stabilizer.sum() > 1:
            tested = np.flatnonzero(which.ravel()[owner] == number)
            node, place = gather(structure.path_node_start, problem.option_path[option[tested]])
            moved = ~fixed[stabilizer].all(axis=0)[structure.path_node[node]]
            kept[tested[place[moved]]] = False
    invariant: LongArray = option[kept]
    return invariant


def _rows(
    problem: Problem,
    option: LongArray,
    orbit: IntArray,
    members: NDArray[np.integer],
    resource_orbit: IntArray,
) -> tuple[IntArray, LongArray]:
    """Return the options of the quotient as rows, without those that exceed a capacity alone.

    Parameters
    ----------
    members
        Shape (deliveries of the whole Problem,): the size of each delivery's orbit under the
        kernel.

    Returns
    -------
    rows
        Shape (options, 2 + largest number of uses): the delivery, the required delivery, and the
        uses in ascending order, -1 where there are fewer: the resource, plus the number of
        resources times the offset.
    option
        Shape (options,): the option of the whole Problem.
    """
    resources = int(resource_orbit.max()) + 1
    orbit_size = np.bincount(resource_orbit)
    capacity = np.zeros(resources, dtype=np.int64)
    capacity[resource_orbit] = problem.capacity
    use, place = gather(problem.path_start, problem.option_path[option])
    used = resource_orbit[problem.path_resource[use]].astype(np.int64)
    # Uses of every resource of the orbit per use by one delivery. The images of a use, one per
    # member of the delivery's orbit, are spread evenly over the orbit of the resource.
    times = members[problem.option_delivery[option]][place] // orbit_size[used]
    if problem.periodic:
        used += resources * problem.path_offset[use]
    kinds = int(used.max(initial=0)) + 1
    key, inverse = np.unique(place * kinds + used, return_inverse=True)
    load = np.bincount(inverse.ravel(), weights=times)
    fits = np.ones(len(option), dtype=np.bool_)
    fits[key[load > capacity[key % kinds % resources]] // kinds] = False
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
    """Return, shape (deliveries,), which deliveries can be made if capacities are ignored."""
    reached = np.zeros(deliveries + 1, dtype=np.bool_)
    reached[-1] = True  # entry -1: an option that requires no delivery
    while True:
        fresh = rows[reached[rows[:, 1]] & ~reached[rows[:, 0]], 0]
        if not len(fresh):
            return reached[:-1]
        reached[fresh] = True
