"""Paths that an instance allows: listed in order, tested one by one, and limited in number."""

from __future__ import annotations

import random
from itertools import pairwise, permutations
from typing import Any

import pytest

from cchybrid.checker import routes
from cchybrid.checker.instance import EvidenceError, Network, TooLargeError
from cchybrid.checker.routes import Path, allowed_paths, cheapest_walks
from tests.checker.by_hand import HOPS, record
from tests.checker.by_hand import network as by_hand

LINKS = [[0, 1], [1, 0], [1, 2], [2, 1], [2, 3], [3, 2], [3, 0], [0, 3], [1, 3], [3, 4], [4, 3]]


def network(*messages: tuple[int, list[int]], endpoints: tuple[int, ...] = (), **model: Any):
    """Return a ring of four with the channel 1->3, and node 4 behind node 3."""
    return by_hand(LINKS, *messages, endpoints=endpoints, **model)


def is_allowed(network: Network, path: Path) -> bool:
    return routes.is_allowed(network, path, network.hops)


ONE = (0, [2])


@pytest.mark.parametrize(
    ("message", "more", "paths"),
    [
        (ONE, {}, [(0, 1, 2), (0, 3, 2)]),
        (ONE, {"routing": 0}, [(0, 1, 2), (0, 3, 2)]),
        (ONE, {"routing": 1}, [(0, 1, 2), (0, 1, 3, 2), (0, 3, 2)]),
        (ONE, {"routing": "any"}, [(0, 1, 2), (0, 1, 3, 2), (0, 3, 2)]),
        (ONE, {"routing": 1, "endpoints": (1,)}, [(0, 3, 2)]),
        # Endpoints are passed by none, but paths begin and end there.
        (
            (1, [4]),
            {"routing": "any", "endpoints": (1, 4)},
            [(1, 0, 3, 4), (1, 2, 3, 4), (1, 3, 4)],
        ),
        ((4, [1]), {"routing": 1}, [(4, 3, 0, 1), (4, 3, 2, 1)]),
        ((0, [4]), {"endpoints": (3,)}, []),
        # Dead ends are left as they were entered; no path has more nodes than there are.
        ((0, [4]), {"routing": "any"}, [(0, 1, 2, 3, 4), (0, 1, 3, 4), (0, 3, 4)]),
    ],
)
def test_the_paths_in_order(message: Any, more: Any, paths: list[Path]) -> None:
    source, (goal,) = message
    assert allowed_paths(network(message, **more)) == {(source, goal): paths}


def test_senders_and_receivers() -> None:
    both = allowed_paths(network((0, [1, 2]), (4, [3])))
    assert list(both) == [(0, 1), (0, 2), (1, 2), (2, 1), (4, 3)]
    assert both[4, 3] == [(4, 3)]
    hops = allowed_paths(network((0, [2]), switching="store-and-forward", endpoints=(1,)))
    assert hops == {(a, b): [(a, b)] for a, b in LINKS}


@pytest.mark.parametrize("endpoints", [(), (1,), (3, 4)])
@pytest.mark.parametrize("routing", [0, 1, 2, "any"])
def test_single_paths_are_allowed_as_listed(routing: Any, endpoints: tuple[int, ...]) -> None:
    everyone = network((0, [1, 2, 3, 4]), routing=routing, endpoints=endpoints)
    listed = allowed_paths(everyone)
    for length in range(2, 6):
        for path in permutations(range(5), length):
            if (path[0], path[-1]) in listed:
                assert is_allowed(everyone, path) == (path in listed[path[0], path[-1]]), path


@pytest.mark.parametrize("seed", range(10))
def test_cheapest_walks_step_by_step(seed: int) -> None:
    """Prices of three ranges of steps against what is reached after every single step."""
    rng = random.Random(seed)
    hops = network((0, [2]), switching="store-and-forward")
    intervals, cost, first = [], {0: 0}, 1
    for _ in range(3):
        prices = {hop: rng.choice((0, 1, 1, 3, 9)) for hop in hops.channels}
        last = first + rng.randrange(3)
        intervals.append((first, last, prices))
        for _ in range(first, last + 1):
            before = dict(cost)
            for (a, b), price in prices.items():
                if a in before:
                    cost[b] = min(before[a] + price, cost.get(b, before[a] + price))
        first = last + 1
        assert cheapest_walks(hops, intervals, 0) == cost


@pytest.mark.parametrize("endpoints", [(), (1,), (3, 4), (0, 3)])
@pytest.mark.parametrize("routing", [0, 1, 2, "any"])
def test_cheapest_walks_cost_what_paths_do(routing: Any, endpoints: tuple[int, ...]) -> None:
    rng = random.Random(0)
    everyone = [(a, [b for b in range(5) if b != a]) for a in range(5)]
    some = network(*everyone, routing=routing, endpoints=endpoints)
    paths = allowed_paths(some)
    for source, goals in everyone:
        prices = {hop: rng.choice((1, 2, 5)) for hop in some.channels}
        cost = {source: 0}
        for goal in goals:
            sums = [sum(prices[hop] for hop in pairwise(path)) for path in paths[source, goal]]
            cost |= {goal: min(sums)} if sums else {}
        assert cheapest_walks(some, [(1, None, prices)], source) == cost


def test_walks_around_a_cycle_without_prices_end() -> None:
    free = network((0, [2]), routing="any")
    nothing = dict.fromkeys(free.channels, 0)
    assert cheapest_walks(free, [(1, None, nothing)], 0) == dict.fromkeys(range(5), 0)


def test_what_is_no_path() -> None:
    free, hops = network(ONE, routing="any"), network(ONE, switching="store-and-forward")
    for given, right, wrong in (
        (free, (0, 1, 2), [(0,), (), (0, 2), (0, 1, 0), (0, 1, 2, 1, 3)]),
        (hops, (0, 1), [(0, 1, 2), (0, 2)]),
    ):
        assert is_allowed(given, right)
        assert not any(is_allowed(given, path) for path in wrong)


def test_dead_ends_are_left_once_the_return_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a chain of four behind the source, only the first two nodes are entered."""
    channels = [[0, 1], [0, 2], [2, 0], [2, 3], [3, 2], [3, 4], [4, 3], [4, 5], [5, 4]]
    chain = by_hand(channels, (0, [1]), routing="any")
    # The source, nodes 2 and 3, and the path, which counts as ten moves.
    monkeypatch.setattr(routes, "MAX_MOVES", 13)
    assert allowed_paths(chain) == {(0, 1): [(0, 1)]}
    monkeypatch.setattr(routes, "MAX_MOVES", 12)
    with pytest.raises(TooLargeError):
        allowed_paths(chain)


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two pairs: of each the source, two inner nodes, and two paths that count as ten moves."""
    two = network((0, [2]), (2, [0]))
    monkeypatch.setattr(routes, "MAX_MOVES", 46)
    assert sum(map(len, allowed_paths(two).values())) == 4
    monkeypatch.setattr(routes, "MAX_MOVES", 45)
    with pytest.raises(TooLargeError, match="more paths than a propositional proof"):
        allowed_paths(two)


DOWN = [[(v - (v != goal)) % 4 for goal in range(4)] for v in range(4)]
RING = [[v, (v + step) % 4] for v in range(4) for step in (1, -1)]


def on_ring(routing: Any, *messages: Any, **more: Any) -> Network:
    return by_hand(RING, *messages, routing=routing, **more)


def test_a_table_allows_one_path() -> None:
    for key, path in (("next", (1, 0, 3, 2)), ("previous", (1, 2))):
        found = on_ring({key: DOWN}, (1, [2]))
        assert allowed_paths(found) == {(1, 2): [path]}
        assert is_allowed(found, path)
        assert not is_allowed(found, (1, 2) if len(path) > 2 else (1, 0, 3, 2))
        assert allowed_paths(found.with_any_routing()) == {(1, 2): [(1, 0, 3, 2), (1, 2)]}


def test_a_table_that_is_read_backwards() -> None:
    found = on_ring({"name": "down", "next": DOWN}, (2, [1]), kind="combine")
    # The part goes from 1 down to 2; read backwards the message goes up.
    assert allowed_paths(found) == {(2, 1): [(2, 3, 0, 1)]}


@pytest.mark.parametrize(("node", "goal", "after"), [(3, 2, 3), (3, 2, 0), (0, 2, 2), (2, 2, 1)])
def test_a_table_that_gives_no_path_allows_none(node: int, goal: int, after: int) -> None:
    """The path ends, runs in a circle, or takes no channel; the goal's own row is not read."""
    rows = [list(row) for row in DOWN]
    rows[node][goal] = after
    expected = [(1, 0, 3, 2)] if node == 2 else []
    assert allowed_paths(on_ring({"next": rows}, (1, [2]))) == {(1, 2): expected}


def test_a_table_passes_no_endpoint() -> None:
    assert allowed_paths(on_ring({"next": DOWN}, (1, [2]), endpoints=(3,))) == {(1, 2): []}


@pytest.mark.parametrize(
    "routing",
    [
        {}, {"name": "xy"}, {"next": DOWN, "previous": DOWN}, {"next": DOWN, "hops": 1},
        {"next": DOWN[:3]}, {"next": [*DOWN[:3], [0, 0, 0]]}, {"next": [*DOWN[:3], [0, 0, 0, 4]]},
        {"next": [*DOWN[:3], [0, 0, 0, -1]]}, {"next": [*DOWN[:3], [0, 0, 0, True]]}, {"next": 3},
    ],
)  # fmt: skip
def test_malformed_tables(routing: Any) -> None:
    with pytest.raises(EvidenceError, match="the instance is not well-formed"):
        on_ring(routing, (1, [2]))


def test_a_table_is_for_wormhole_switching_and_the_newer_format() -> None:
    found = record(RING, (1, [2]), routing={"next": DOWN})
    Network(found)
    for more in ({"format": "cchybrid-instance/1"}, {"model": {**found["model"], **HOPS}}):
        with pytest.raises(EvidenceError, match="the instance is not well-formed"):
            Network({**found, "collective": {**found["collective"]}, **more})
