"""The pool of paths of a Problem: all allowed paths, or an equal share for every pair of nodes."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from random import Random
from typing import Any

import numpy as np

from cchybrid.problem.arrays import IntArray, LongArray
from cchybrid.problem.ragged import offsets
from cchybrid.problem.routes import Path, Routes
from cchybrid.problem.short_paths import ShortPaths

_ENUMERATED_DIVISOR = 5
"""Divisor of ``max_options`` for paths that have to be enumerated one by one, to save time; others
can be found by ``price``."""


@dataclass(frozen=True)
class Pool:
    """The listed paths, pair by pair.

    Attributes
    ----------
    node, start
        The nodes of path p are ``node[start[p] : start[p + 1]]``; ``node`` may be a ``partial``
        that lists them.
    first
        Shape (pairs + 1,): the paths of pair k are ``first[k]`` to ``first[k + 1] - 1``.
    complete
        Whether every allowed path of every pair is listed.
    """

    node: Any
    start: LongArray
    first: LongArray
    complete: bool


def list_paths(
    routes: Routes,
    sources: LongArray,
    targets: LongArray,
    weight: LongArray,
    max_options: int,
    seed: int,
) -> Pool:
    """Return the paths of these pairs.

    Parameters
    ----------
    sources, targets
        Shape (pairs,): the pairs; each has at least one path.
    weight
        Shape (pairs,): the number of options per path of each pair.
    max_options
        Largest number of options. If all paths are more, every pair gets an equal share of paths,
        at least one.
    seed
        Seed for path sampling.
    """
    if routes.extra_hops in (0, 1):  # then every walk is a path, so that these can be counted
        return _list_counted(routes, sources, targets, weight, max_options, seed)
    pairs = list(zip(sources.tolist(), targets.tolist(), strict=True))
    shared = max_options // _ENUMERATED_DIVISOR
    too_many = _has_more(routes, pairs, weight, max_options)
    listed = (_list_short if too_many else _enumerate)(
        routes, pairs, weight, shared if too_many else max_options
    )
    count = np.array([len(paths) for paths in listed], dtype=np.int64)
    share = max_options
    if too_many or int(weight @ count) > max_options:
        share = _share(count, weight, shared)
    random = Random(seed)
    chosen = [
        routes.sample(*pair, share, random) if len(paths) > share else paths
        for pair, paths in zip(pairs, listed, strict=True)
    ]
    paths = list(chain.from_iterable(chosen))
    return Pool(
        np.fromiter(chain.from_iterable(paths), dtype=np.int32),
        offsets([len(path) for path in paths]),
        offsets([len(some) for some in chosen]),
        bool((count <= share).all()),
    )


def _list_counted(
    routes: Routes,
    sources: LongArray,
    targets: LongArray,
    weight: LongArray,
    max_options: int,
    seed: int,
) -> Pool:
    """Return a pool of paths that can be counted: shortest ones first, then longer ones."""
    pairs, lengths = len(sources), 1 + (routes.extra_hops or 0)
    short = ShortPaths(
        routes.network,
        routes.distance,
        np.repeat(sources, lengths),
        np.repeat(targets, lengths),
        np.tile(np.arange(lengths), pairs),
    )
    many = np.minimum(short.count, max_options + 1).astype(np.int64).reshape(pairs, lengths)
    count = np.minimum(many.sum(axis=1), max_options + 1)
    share = _share(count, weight, max_options)
    before = np.cumsum(many, axis=1) - many
    taken = np.clip(share - before, 0, many)
    nodes = partial(_sampled, short, taken.ravel(), seed)
    start = offsets(short.hops(np.repeat(np.arange(taken.size), taken.ravel())) + 1)
    return Pool(nodes, start, offsets(taken.sum(axis=1)), bool((count <= share).all()))


def _sampled(short: ShortPaths, taken: LongArray, seed: int) -> IntArray:
    """Return the nodes of sampled paths, the same at every call."""
    return short.listed(taken, np.random.default_rng(seed))


def _has_more(
    routes: Routes, pairs: list[tuple[int, int]], weight: LongArray, max_options: int
) -> bool:
    """Return whether more than ``max_options`` options are found soon.

    That does not list the paths of a pair, where a search often finds none. Where few paths lead
    to the targets of their source, more options may remain unfound.
    """
    options = followed = 0
    values: dict[int, dict[int, int]] = {}
    for (source, target), value in zip(pairs, weight.tolist(), strict=True):
        values.setdefault(source, {})[target] = value
    for source, value_of in values.items():
        for node in routes.ends(source):
            options += value_of.get(node, 0)
            followed += 1
            if options > max_options or followed > 2 * max_options:
                return options > max_options
    return False


def _list_short(
    routes: Routes, pairs: list[tuple[int, int]], weight: LongArray, max_options: int
) -> list[list[Path]]:
    """Return short paths of every pair, in all more than ``max_options`` options.

    A list that is not complete is longer than the share of the pair.
    """
    size = max(1, max_options // int(weight.sum()))
    listed = [routes.short_paths(*pair, size) for pair in pairs]
    while int(weight @ [len(paths) for paths in listed]) <= max_options:
        size *= 2
        listed = [
            routes.short_paths(*pair, size) if len(paths) > size // 2 else paths
            for pair, paths in zip(pairs, listed, strict=True)
        ]
    return listed


def _enumerate(
    routes: Routes, pairs: list[tuple[int, int]], weight: LongArray, max_options: int
) -> list[list[Path]]:
    """Return the first paths of every pair, until all are listed or there are too many options.

    A list that is not complete is longer than the share of the pair.
    """
    iterators = [routes.paths(*pair) for pair in pairs]
    listed: list[list[Path]] = [[] for _ in pairs]
    limit = 8
    while True:
        for paths, more in zip(listed, iterators, strict=True):
            if len(paths) == limit // 2 or limit == 8:
                paths.extend(islice(more, limit - len(paths)))
        count = np.array([len(paths) for paths in listed], dtype=np.int64)
        if count.max(initial=0) < limit or int(weight @ count) > max_options:
            return listed
        limit *= 2


def _share(count: LongArray, weight: LongArray, max_options: int) -> int:
    """Return the largest number of paths per pair within ``max_options``, at least 1."""
    shares = range(1, int(count.max(initial=1)) + 1)
    fitting = bisect_right(
        shares, max_options, key=lambda share: int(weight @ np.minimum(count, share))
    )
    return max(1, fitting)
