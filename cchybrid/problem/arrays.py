"""The flat arrays of a Problem, and the Assignment that solves it.

A *delivery* brings a message to a node. It has *options*; an option uses *resources* during one
step and may require that another delivery is made in an earlier step. An assignment gives
deliveries an option and a step such that no resource is used beyond its capacity in any step (each
step is a compatibility class: thesis section 4.2.1). The Problem does not depend on the collective,
the switching or the port model from which it was built.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from threading import RLock
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cchybrid.model.instance import Horizon

IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
T = TypeVar("T")

_LISTING = RLock()
"""Held while a deferred field is listed, so that all threads get the same list."""
NO_OFFSETS = np.zeros(0, dtype=np.int32)
CHANNEL, LINK, INJECT, ACCEPT = 0, 1, 2, 3
"""Kinds of resources: a channel, a half-duplex pair or a group, injection and acceptance ports."""


def deferrable(name: str) -> Callable[[type[T]], type[T]]:
    """Return a decorator: this field of a dataclass may be a ``partial``, called when first read.

    Listing paths takes longer than all else of a Problem, and some engines never read them.
    """

    def read(owner: Any) -> Any:
        if isinstance(vars(owner)[name], partial):
            with _LISTING:
                if isinstance(value := vars(owner)[name], partial):
                    vars(owner)[name] = value()
        return vars(owner)[name]

    def decorate(kind: type[T]) -> type[T]:
        setattr(kind, name, property(read, lambda owner, value: vars(owner).update({name: value})))
        return kind

    return decorate


def ending_with_a_start(step: IntArray, steps: int) -> IntArray:
    """Return the steps of a period, moved so that some option starts in the last one; -1 stays.

    The period may begin anywhere; see ``ProblemArrays.periodic``.
    """
    later = steps - 1 - step.max(initial=0)
    return np.where(step < 0, -1, (step + later) % steps).astype(np.int32)


@dataclass(frozen=True, eq=False, repr=False)
class Assignment:
    """An option and a step for every delivery.

    Parameters
    ----------
    option
        Shape (deliveries,): the index of the option, -1 where the delivery is not made.
    step
        Shape (deliveries,): the step, from 0, -1 where the delivery is not made.
    """

    option: IntArray
    step: IntArray

    def __repr__(self) -> str:
        return f"<Assignment: {len(self.step):,} deliveries in {self.steps} steps>"

    @property
    def steps(self) -> int:
        """The number of steps: one more than the largest step."""
        return int(self.step.max(initial=-1)) + 1


class Price(NamedTuple):
    """The cheapest option of a delivery.

    Attributes
    ----------
    cost
        The sum of the costs of its resources.
    requires
        The delivery that it requires, -1 for none.
    path
        The nodes of its path.
    """

    cost: float
    requires: int
    path: tuple[int, ...]


@deferrable("path_resource")
@dataclass(frozen=True, eq=False, repr=False)
class ProblemArrays:
    """The flat arrays of a covering by compatibility classes; see the module.

    Parameters
    ----------
    capacity
        Shape (resources,): largest number of uses per step.
    kind
        Shape (resources,), int8: ``CHANNEL``, ``LINK``, ``INJECT`` or ``ACCEPT``.
    implied
        Shape (resources,): True where the capacity follows from other resources, so that an
        engine may ignore it (all-port nodes: what their channels carry); heuristics use it.
    required
        Shape (deliveries,): True where the delivery has to be made; others may be made to enable
        required ones.
    option_start
        Shape (deliveries + 1,): options of delivery d are ``option_start[d]`` up to, not
        including, ``option_start[d + 1]``.
    option_requires
        Shape (options,): the delivery that has to be made in an earlier step, -1 for none. In slots
        of a period it may be made in any; then only cycles of deliveries are excluded.
    option_path
        Shape (options,): the path of the option.
    path_start
        Shape (paths + 1,): like ``option_start``, for ``path_resource``.
    path_resource
        The resources that each path uses; a resource that is listed twice is used twice.
    complete
        Whether every option that the instance allows is listed: only then does "no assignment in S
        steps" mean "no schedule in S steps".
    path_offset
        Of each entry of ``path_resource``, how many steps after the start of the option it is used;
        without entries (shape (0,)) in the step itself, as everywhere but in time slots and ticks.
    path_length, path_duration
        Shape (paths,), where steps are ticks, else without entries: for how many ticks the path
        uses each of its resources, and how many an option over it takes. The step of such an option
        is the last of its ticks; it may require a delivery of a step before its first one.
    periodic
        Whether the last step is followed by the first: an option that starts in step t uses a
        resource of offset o in step (t + o) modulo the number of steps. Then the number of steps is
        one more than the largest step in which an option starts.
    rounds
        Per step how many times its resources carry their capacity; the last number holds for all
        further steps. An engine sees others than (1,) only if its ``EngineInfo.rounds`` says so.
    """

    capacity: IntArray
    kind: NDArray[np.int8]
    implied: BoolArray
    required: BoolArray
    option_start: LongArray
    option_requires: IntArray
    option_path: IntArray
    path_start: LongArray
    path_resource: IntArray
    complete: bool
    path_offset: IntArray = field(default_factory=NO_OFFSETS.copy)
    path_length: IntArray = field(default_factory=NO_OFFSETS.copy)
    path_duration: IntArray = field(default_factory=NO_OFFSETS.copy)
    periodic: bool = False
    rounds: tuple[int, ...] = (1,)

    def __repr__(self) -> str:
        counts = f"{self.deliveries:,} deliveries, {self.options:,} options"
        return f"<Problem: {counts}, {len(self.capacity):,} resources>"

    @property
    def deliveries(self) -> int:
        """The number of deliveries."""
        return len(self.required)

    @property
    def options(self) -> int:
        """The number of options of all deliveries together."""
        return len(self.option_path)

    @property
    def paths(self) -> int:
        """The number of distinct paths; options of different messages share them."""
        return len(self.path_start) - 1

    @property
    def resources(self) -> int:
        """The number of resources."""
        return len(self.capacity)

    @property
    def horizon(self) -> Horizon:
        """``slots`` of a period, ``ticks``, or ``steps``: see ``EngineInfo.horizons``."""
        return "slots" if self.periodic else "ticks" if len(self.path_duration) else "steps"

    def start_of(self, option: IntArray, step: IntArray) -> LongArray:
        """Return the first tick of each option whose last one is given; in steps they are equal."""
        first = step.astype(np.int64)
        if self.horizon == "ticks":
            first -= self.path_duration[self.option_path[option]] - 1
        return first

    def rounds_in(self, step: int) -> int:
        """Return how many times every resource carries its capacity in a step, from 0."""
        return self.rounds[min(step, len(self.rounds) - 1)]

    @cached_property
    def option_delivery(self) -> IntArray:
        """Shape (options,): the delivery of each option."""
        count = np.diff(self.option_start)
        return np.repeat(np.arange(self.deliveries, dtype=np.int32), count)

    @cached_property
    def ordered(self) -> bool:
        """Whether some option requires another delivery; if not, steps are interchangeable."""
        return bool((self.option_requires >= 0).any())

    def resources_of(self, option: int) -> IntArray:
        """Return the resources that an option uses (a view)."""
        path = self.option_path[option]
        return self.path_resource[self.path_start[path] : self.path_start[path + 1]]

    def empty(self) -> Assignment:
        """Return a new assignment in which no delivery is made."""
        nothing = np.full(self.deliveries, -1, dtype=np.int32)
        return Assignment(nothing, nothing.copy())
