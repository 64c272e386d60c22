"""The usage matrix of a Problem: how often each option uses each resource."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import LINK, Problem
from cchybrid.problem.ragged import components, gather, offsets_of, owners

IntVector = NDArray[np.int64]
BoolVector = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class UsageMatrix:
    """Incidence matrix, options (rows) by resources (columns), in compressed sparse row format.

    Options over the same path share a row.

    Parameters
    ----------
    path
        Shape (options,): the path of each option.
    start
        Shape (paths + 1,): the entries of path p are ``start[p]`` up to ``start[p + 1]``.
    resource, times
        Shape (entries,): a resource, once per path and offset, and how often the path uses it.
    resources
        The number of resources.
    offset
        Shape (entries,): how many steps after the start of the option, as in the Problem.
    usable
        Shape (options,): whether the option may be taken: in a new matrix, whether it exceeds no
        capacity by itself.
    """

    path: NDArray[np.integer]
    start: IntVector
    resource: IntVector
    times: IntVector
    resources: int
    offset: IntVector
    usable: BoolVector

    @classmethod
    def of(cls, problem: Problem) -> "UsageMatrix":
        """Return the usage matrix of all options of a Problem."""
        latest = 1 + int(problem.path_offset.max(initial=0))
        key = owners(problem.path_start) * problem.resources + problem.path_resource
        if problem.periodic:
            key = key * latest + problem.path_offset
        key, times = np.unique(key, return_counts=True)
        key, offset = np.divmod(key, latest)
        path, resource = np.divmod(key, max(problem.resources, 1))
        beyond = np.zeros(problem.paths, dtype=np.bool_)
        beyond[path[times > problem.capacity[resource] * max(problem.rounds)]] = True
        return cls(
            problem.option_path,
            offsets_of(path, problem.paths),
            resource,
            times.astype(np.int64),
            problem.resources,
            offset,
            ~beyond[problem.option_path],
        )

    def entries(self, options: IntVector) -> tuple[IntVector, IntVector, IntVector]:
        """Return all entries of some options: index into ``options``, resource and times."""
        place, position = gather(self.start, self.path[options])
        return position, self.resource[place], self.times[place]

    def offsets(self, options: IntVector) -> IntVector:
        """Return the offset of every entry of some options, in the order of ``entries``."""
        return self.offset[gather(self.start, self.path[options])[0]]

    def row(self, option: int) -> tuple[IntVector, IntVector]:
        """Return the resources of one option, and how often it uses each (views)."""
        path = self.path[option]
        used = slice(self.start[path], self.start[path + 1])
        return self.resource[used], self.times[used]

    def load(self, options: IntVector) -> IntVector:
        """Return, shape (resources,), the total uses of each resource by these options."""
        _, resource, times = self.entries(options)
        load = np.bincount(resource, weights=times, minlength=self.resources)
        return load.astype(np.int64)

    def costs(self, price: NDArray[np.number]) -> NDArray[np.float64]:
        """Return, shape (options,), the cost of each option at prices per use, shape (resources,).

        Integers up to 2^53 are exact.
        """
        paths = len(self.start) - 1
        weights = self.times * price[self.resource]
        return np.bincount(owners(self.start), weights=weights, minlength=paths)[self.path]

    def expanded(self, options: IntVector) -> "UsageMatrix":
        """Return the usage matrix of these options alone, each with a path of its own."""
        place, position = gather(self.start, self.path[options])
        return UsageMatrix(
            np.arange(len(options)),
            offsets_of(position, len(options)),
            self.resource[place],
            self.times[place],
            self.resources,
            self.offset[place],
            self.usable[options],
        )

    def shortened(self, problem: Problem, steps: int) -> "UsageMatrix":
        """Return the matrix in which options too long for this number of steps are not usable.

        A heuristic limit: the channel uses that all steps offer, divided by the number of
        deliveries. Longer options stay usable where a delivery has no shorter one.
        """
        channel = problem.kind <= LINK
        offered = int(problem.capacity[channel].sum()) * steps
        hops = max(1, offered // max(1, int(problem.required.sum())))
        passed = self.costs(channel.astype(np.int64))
        passed[~self.usable] = np.inf
        fewest = np.full(problem.deliveries, np.inf)
        np.minimum.at(fewest, problem.option_delivery, passed)
        limit = np.maximum(fewest, hops)[problem.option_delivery]
        return replace(self, usable=self.usable & (passed <= limit))


def families(problem: Problem) -> IntVector:
    """Return, shape (deliveries,), the number of each delivery's family.

    A family is connected by requirements: the deliveries of one message, or of the messages that an
    orbit of a quotient joins.
    """
    forwards = np.flatnonzero(problem.option_requires >= 0)
    before, after = problem.option_requires[forwards], problem.option_delivery[forwards]
    return components(before, after, problem.deliveries)
