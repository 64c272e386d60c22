"""The paths that a Problem lists: all of them, or an equal share for every pair of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from random import Random

import numpy as np

from cchybrid.problem.arrays import IntArray, LongArray
from cchybrid.problem.ragged import offsets
from cchybrid.problem.routes import Path, Routes
from cchybrid.problem.short_paths import ShortPaths

_WALKED = 5
"""Paths other than shortest ones are found one by one, in a time that users wait for: where not
all of them fit, this part of ``max_options`` is enough, and ``price`` finds the others."""


@dataclass(frozen=True)
class Pool:
    """The listed paths, pair by pair.

    Attributes
    ----------
    node, start
        The nodes of path p are ``node[start[p] : start[p + 1]]``.
    first
        Shape (pairs + 1,): paths of pair k are ``first[k]`` up to, not including, ``first[k + 1]``.
    complete
        Whether every allowed path of every pair is listed.
    """

    node: IntArray
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
        Shape (pairs,): the pairs, each with a path.
    weight
        Shape (pairs,): the options that each path of the pair will be.
    max_options
        Where all paths would be more options than this, pairs get equal shares, at least one.
    seed
        Of the choice.
    """
    if routes.countable:
        return _choose(routes, sources, targets, weight, max_options, seed)
    pairs = list(zip(sources.tolist(), targets.tolist(), strict=True))
    listed = _list_alike(routes, pairs, weight, max_options)
    count = np.array([len(paths) for paths in listed], dtype=np.int64)
    share = max_options
    if int(weight @ count) > max_options:
        share = _share(count, weight, max_options // _WALKED)
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


def _choose(
    routes: Routes,
    sources: LongArray,
    targets: LongArray,
    weight: LongArray,
    max_options: int,
    seed: int,
) -> Pool:
    """List counted paths: shortest ones first, longer ones where there is room."""
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
    node, hops = short.listed(taken.ravel(), np.random.default_rng(seed))
    return Pool(node, offsets(hops + 1), offsets(taken.sum(axis=1)), bool((count <= share).all()))


def _list_alike(
    routes: Routes, pairs: list[tuple[int, int]], weight: LongArray, max_options: int
) -> list[list[Path]]:
    """List the paths of all pairs, equally many for each, until they end or are too many.

    A list that did not end is longer than the pair's share will be.
    """
    open_ends = [routes.paths(*pair) for pair in pairs]
    listed: list[list[Path]] = [[] for _ in pairs]
    limit = 8
    while True:
        for paths, more in zip(listed, open_ends, strict=True):
            if len(paths) == limit // 2 or limit == 8:
                paths.extend(islice(more, limit - len(paths)))
        count = np.array([len(paths) for paths in listed], dtype=np.int64)
        if count.max(initial=0) < limit or int(weight @ count) > max_options:
            return listed
        limit *= 2


def _share(count: LongArray, weight: LongArray, max_options: int) -> int:
    """Return how many paths a pair may list so that all options fit; at least one."""
    low, high = 1, max(1, int(count.max(initial=1)))
    while low < high:
        middle = (low + high + 1) // 2
        if int(weight @ np.minimum(count, middle)) <= max_options:
            low = middle
        else:
            high = middle - 1
    return low
