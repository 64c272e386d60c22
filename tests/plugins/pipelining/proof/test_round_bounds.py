"""Bounds on rounds per chunk: known values, soundness against brute force."""

from fractions import Fraction
from math import ceil

import pytest
from cchybrid_plugins.pipelining.proof import round_bounds
from cchybrid_plugins.pipelining.proof.round_bounds import round_bound
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.checker import Network
from cchybrid.checker.linear import linear_rounds
from cchybrid.model import Instance
from cchybrid.proof.reach import farthest
from tests.examples import examples
from tests.proof.optimum import possible
from tests.random_instances import instances


def hop_by_hop(network: str, collective: str) -> Instance:
    return cchybrid.instance(network, collective, switching="store-and-forward")


@pytest.mark.long
@pytest.mark.parametrize(
    ("network", "collective", "steps", "ratio"),
    [
        ("dgx-1", "allgather", 2, "3/2"),
        ("dgx-1", "allgather", 3, "7/6"),
        ("dgx-1", "reduce-scatter", 2, "3/2"),
        ("ring-bi-8", "allgather", 4, "7/2"),
        ("hypercube-8", "allgather", 3, "7/3"),
        ("hypercube-16", "allgather", 4, "15/4"),
        ("torus-4x4", "allgather", 4, "15/4"),
        ("spidergon-8", "allgather", 2, "7/3"),
        ("dgx-1", "alltoall", 2, "8/3"),
        ("hypercube-8", "alltoall", 3, "4"),
        ("ring-bi-5", "broadcast", 2, "2"),
    ],
)
def test_known_values(network, collective, steps, ratio):
    """The first six and the all-to-all: peers' tables; the linear programs were solved anew."""
    assert str(round_bound(hop_by_hop(network, collective), steps).ratio) == ratio


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "collective", "steps", "ratio"),
    [
        ("dgx-a100", "allgather", 1, "7/12"),
        ("dgx-a100", "alltoall", 1, "7/12"),
        ("dgx-2", "reduce-scatter", 1, "15"),
        ("mesh-3x3", "allgather", 2, "4"),
    ],
)
def test_known_values_in_wormhole_switching(network, collective, steps, ratio):
    """In one step: the copies that a source sends, over its capacity."""
    assert str(round_bound(cchybrid.instance(network, collective), steps).ratio) == ratio


def test_a_channel_carries_any_number_of_copies_of_a_message_in_a_step():
    """A bound by the copies of one round would be above the schedule of one step."""
    star = cchybrid.Network.from_links("star", 4, [(0, 3), (1, 3), (2, 3)], switches=(3,))
    instance = cchybrid.instance(star, "broadcast")
    for steps in (1, 2):
        assert round_bound(instance, steps).ratio == {1: 2, 2: Fraction(4, 3)}[steps]


def test_more_steps_never_need_more_rounds():
    instance = hop_by_hop("ring-bi-6", "allgather")
    ratios = [round_bound(instance, steps).ratio for steps in range(3, 7)]
    assert ratios == sorted(ratios, reverse=True)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_without_a_rounding_the_basis_is_solved_exactly(collective, monkeypatch):
    instance = hop_by_hop("hypercube-8", collective)
    monkeypatch.setattr(round_bounds, "roundings", lambda *_, **__: ())
    assert round_bound(instance, 3).ratio == Fraction(7, 3)


def test_large_programs_are_not_solved():
    assert round_bound(hop_by_hop("torus-12x12", "alltoall"), 12) is None


@settings(max_examples=examples(40), deadline=None)
@given(
    instances(
        switchings=("store-and-forward", "wormhole"),
        max_nodes=4,
        max_messages=3,
        ports=("all", "one"),
    ),
    st.integers(0, 1),
    st.integers(1, 2),
)
def test_no_schedule_beats_the_bound(instance, spare, chunks):
    steps = farthest(instance) + spare
    bound = round_bound(instance, steps)
    assert linear_rounds(Network(instance.to_json()), bound.evidence, steps) == bound.ratio > 0
    fewest = ceil(bound.ratio * chunks)
    parts = instance.in_chunks(chunks)
    for rounds in splits(fewest - 1, steps):
        assert not possible(parts.with_model(rounds=rounds), steps)


def splits(total: int, steps: int) -> list[tuple[int, ...]]:
    """Return the rounds of up to ``steps`` steps that add up to ``total``, at least 1 each."""
    if total < 1 or steps < 1:
        return []
    if steps == 1:
        return [(total,)]
    return [
        (first, *rest) for first in range(1, total) for rest in splits(total - first, steps - 1)
    ]
