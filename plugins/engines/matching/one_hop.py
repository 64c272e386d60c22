"""The part of a Problem that the engine searches: the options whose path is one hop."""

from dataclasses import dataclass, replace

import numpy as np

from cchybrid.problem import ACCEPT, INJECT, Problem, list_hops
from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.problem.ragged import components, gather, offsets, offsets_of, owners
from cchybrid.toolkit.cpsat.windows import NEVER, earliest
from cchybrid.toolkit.kernels.flat import flatten
from cchybrid.toolkit.usage_matrix import families

from .kernels import Tables


@dataclass(frozen=True, eq=False)
class OneHop:
    """The options of one hop of a Problem, with its deliveries in groups.

    Parameters
    ----------
    problem
        The Problem of the options: the given one, unless it does not list all of one hop.
    tables
        The same with options of one hop only, for kernels.
    option
        Shape (options of one hop,): their numbers in ``problem``.
    depth
        Shape (deliveries,): the fewest steps in which options of one hop make each delivery if
        it is the only one, -1 where they never do.
    has_routes
        Whether some delivery is optional, and every message has one required delivery at most.
    """

    problem: Problem
    tables: Tables
    option: LongArray
    depth: IntArray
    has_routes: bool

    @classmethod
    def of(cls, problem: Problem) -> "OneHop":
        """Return the options of one hop of a Problem; a quotient may not list all."""
        if not problem.complete and problem.structure is not None:
            problem = list_hops(problem)
        option = np.flatnonzero(_is_one_hop(problem)[problem.option_path])
        part = replace(
            problem,
            option_start=offsets_of(problem.option_delivery[option], problem.deliveries),
            option_requires=problem.option_requires[option],
            option_path=problem.option_path[option],
        )
        group = _groups(part)
        member = np.argsort(group, kind="stable").astype(np.int32)
        flat = flatten(part)
        receiver = np.zeros(problem.deliveries, dtype=np.int32)
        receiver[part.option_delivery] = np.maximum(flat.accept[part.option_path], 0)
        message = families(part).astype(np.int32)
        has_routes = (
            not problem.required.all()
            and int(np.bincount(message[problem.required]).max(initial=0)) == 1
        )
        tables = Tables(flat, offsets(np.bincount(group)), member, message, receiver)
        return cls(problem, tables, option, _depths(part), has_routes)


def _is_one_hop(problem: Problem) -> BoolArray:
    """Return, shape (paths,), which paths are one hop that fits into a step."""
    path = owners(problem.path_start)
    port = np.isin(problem.kind[problem.path_resource], (INJECT, ACCEPT))
    hops = np.bincount(path[~port], minlength=problem.paths)
    # A path of a quotient may use a resource more than once.
    pairs, uses = np.unique(path * problem.resources + problem.path_resource, return_counts=True)
    used, resource = np.divmod(pairs, problem.resources)
    over = ~problem.implied[resource] & (uses > problem.capacity[resource])
    found: BoolArray = hops == 1
    found[used[over]] = False
    return found


def _depths(part: Problem) -> IntArray:
    low = earliest(part, np.ones(part.options, dtype=np.bool_))
    return np.where(low == NEVER, -1, low + 1).astype(np.int32)


def _groups(part: Problem) -> IntArray:
    """Return, shape (deliveries,), the group of each delivery."""
    limited = ~part.implied[part.path_resource]
    start = np.concatenate(([0], np.cumsum(limited)))[part.path_start]
    place, option = gather(start, part.option_path)
    resource = part.path_resource[limited][place]
    delivery = part.option_delivery[option]
    found = components(delivery, part.deliveries + resource, part.deliveries + part.resources)
    return np.unique(found[: part.deliveries], return_inverse=True)[1].astype(np.int32)
