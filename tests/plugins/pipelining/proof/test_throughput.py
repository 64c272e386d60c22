"""Throughput optima against brute force, and those that the literature and ForestColl give."""

import random
import time
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from cchybrid_plugins.pipelining.proof import concurrent_flow
from cchybrid_plugins.pipelining.proof import throughput as throughput_module
from cchybrid_plugins.pipelining.proof.edge_splitting import Splitting
from cchybrid_plugins.pipelining.proof.throughput import throughput_record
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.checker.throughput import check_throughput
from cchybrid.model import Channel, Collective, Instance, Message, Network
from cchybrid.model.errors import InputError
from tests.checker.plain_throughput import attained, densest, random_network, smallest_load
from tests.examples import examples

SEEDS = st.integers(0, 10**6)

OPTIMA = {
    "ring-bi-8": ("7/2", "8"), "hypercube-8": ("7/3", "4"), "hypercube-16": ("15/4", "8"),
    "torus-4x4": ("15/4", "8"), "circulant-16-1x4": ("15/4", "8"), "mesh-3x3": ("4", "6"),
    "mesh-4x4": ("15/2", "16"), "spidergon-8": ("7/3", "4"), "dgx-1": ("7/6", "8/3"),
    "mi250-16": ("7/3", "32/3"), "nsfnet-14": ("13/2", "49/4"), "ndv2-x2": ("8", "64"),
    "hyperx-4x4": ("5/2", "4"), "de-bruijn-2-4": ("15", "77/3"), "kautz-12": ("11/3", "33/5"),
}  # fmt: skip
"""Rounds per chunk of allgather and alltoall, which other programs gave in floating point."""

FORESTCOLL = {
    "dgx-a100": ("7/12", 25, 342.857),
    "dgx-a100-x2": ("15/13", 25, 346.667),
    "mi250-16": ("7/3", 50, 342.857),
    "mi250-x2": ("15/83", 2, 354.133),
}
"""ForestColl's examples: rounds per chunk, GB/s of a capacity of 1, algorithmic bandwidth."""


def solved(instance: Instance) -> tuple[dict[str, Any], Any]:
    record = throughput_record(instance)
    verdict = check_throughput(record)
    assert verdict.rounds_per_chunk == attained(record)
    return record, verdict


@pytest.mark.parametrize("topology", OPTIMA)
def test_known_optima(topology):
    allgather, alltoall = OPTIMA[topology]
    for collective, value in (
        ("allgather", allgather), ("reduce-scatter", None), ("alltoall", alltoall),
    ):  # fmt: skip
        _, verdict = solved(cchybrid.instance(topology, collective))
        assert verdict.optimal
        if value is not None:
            assert verdict.bound == Fraction(value)


@pytest.mark.parametrize(
    "topology",
    ["dgx-a100", "dgx-a100-x2", "mi250-16", pytest.param("mi250-x2", marks=pytest.mark.long)],
)
def test_the_examples_of_forestcoll(topology):
    rounds, unit, published = FORESTCOLL[topology]
    instance = cchybrid.instance(topology, "allgather")
    record, verdict = solved(instance)
    assert verdict.rounds_per_chunk == verdict.bound == Fraction(rounds)
    rate = len(instance.collective.messages) * unit / Fraction(record["rounds_per_chunk"])
    assert float(rate) == pytest.approx(published, abs=5e-4)


@settings(max_examples=examples(150), deadline=None)
@given(SEEDS, st.sampled_from(["AAB", "AAR", "OAB", "AOR"]), st.booleans(), st.integers(0, 3))
def test_broadcasts_against_all_sets(seed, collective, both, switches):
    network = random_network(seed, both=both, switches=switches)
    instance = cchybrid.instance(network, collective)
    _, verdict = solved(instance)
    assert verdict.bound == densest(instance) <= verdict.rounds_per_chunk
    # By Edmonds' theorem, or as much capacity enters as leaves every switch.
    assert verdict.optimal or (switches and not both)


@settings(max_examples=examples(60), deadline=None)
@given(SEEDS, st.sampled_from(["wormhole", "store-and-forward"]))
def test_multicasts_with_relays_and_endpoints(seed, switching):
    network = random_network(seed, both=True, endpoints=2)
    rng = random.Random(seed)
    targets = rng.sample(range(network.nodes), rng.randint(2, network.nodes - 1))
    sources = rng.choices(range(network.nodes), k=rng.randint(1, 3))
    messages = tuple(
        Message(source, tuple(sorted(set(targets) - {source}))) for source in sorted(sources)
    )
    if any(len(message.destinations) < 2 for message in messages):
        return
    instance = Instance(network, Collective("some", messages)).with_model(switching=switching)
    _, verdict = solved(instance)
    assert verdict.bound == densest(instance) <= verdict.rounds_per_chunk


@settings(max_examples=examples(60), deadline=None)
@given(SEEDS, st.booleans(), st.integers(0, 2))
def test_scatters_against_all_paths(seed, both, ends):
    network = random_network(seed, both=both, endpoints=ends)
    rng = random.Random(seed)
    pairs = [(a, b) for a in range(network.nodes) for b in range(network.nodes) if a != b]
    messages = tuple(Message(a, (b,)) for a, b in rng.choices(pairs, k=rng.randint(1, 12)))
    instance = Instance(network, Collective("pairs", messages))
    _, verdict = solved(instance)
    assert float(verdict.bound) == pytest.approx(smallest_load(instance), abs=1e-6)
    assert verdict.optimal


def test_without_an_optimal_basis_the_flow_and_the_prices_are_rounded(monkeypatch):
    monkeypatch.setattr(concurrent_flow, "exact_dual", lambda *_: None)
    _, verdict = solved(cchybrid.instance("dgx-1", "alltoall"))
    assert verdict.bound == Fraction(8, 3)
    assert 0 <= verdict.rounds_per_chunk - verdict.bound < Fraction(1, 1000)


def test_a_switch_that_cannot_copy_leaves_a_gap_that_is_said():
    # The switch takes one chunk and could send three; without copies they are three chunks.
    arcs = [(0, 4, 1), (4, 1, 1), (4, 2, 1), (4, 3, 1)]
    network = Network("copier", 5, tuple(Channel(*arc) for arc in arcs), switches=(4,))
    _, verdict = solved(cchybrid.instance(network, "OAB"))
    assert (verdict.bound, verdict.rounds_per_chunk, verdict.optimal) == (1, 3, False)


@pytest.mark.parametrize(
    ("network", "collective", "error"),
    [
        (Network("one-way", 3, (Channel(0, 1), Channel(1, 2))), "AAB", "no path leads from node 1"),
        (Network("one-way", 3, (Channel(0, 1), Channel(1, 2))), "AAS", "no path leads from node 1"),
        (Network("shared", 2, (Channel(0, 1), Channel(1, 0)), half_duplex=((0, 1),)), "AAS",
         "half-duplex links are not part of throughput"),
        ("mesh-2x2", [(0, [1, 2]), (3, [1])], "neither do all messages go to the same nodes"),
    ],
)  # fmt: skip
def test_what_has_no_throughput(network, collective, error):
    with pytest.raises(InputError, match=error):
        throughput_record(cchybrid.instance(network, collective))


@pytest.mark.parametrize(
    ("collective", "model", "feature"),
    [
        ("allreduce", {}, "allreduce is"),
        ("AAB", {"chunks": 3}, "a number of chunks is"),
        ("AAB", {"rounds": [2], "switching": "store-and-forward"}, "rounds of steps are"),
        ("AAB", {"ports": 1}, "limited ports are"),
        ("AAB", {"ports": "1,4"}, "limited ports are"),
    ],
)
def test_features_without_throughput_are_refused(collective, model, feature):
    instance = cchybrid.instance("ring-bi-4", collective, **model)
    for search in (throughput_record, cchybrid.throughput):
        with pytest.raises(InputError, match=f"{feature} not part of throughput"):
            search(instance)


@pytest.mark.long
def test_too_large_numbers_are_refused():
    channels = tuple(Channel(a, b, 10**18 + a) for a, b in permutations(range(3), 2))
    huge = Network("huge", 3, channels)
    with pytest.raises(InputError, match="capacities are too large"):
        throughput_record(cchybrid.instance(huge, "AAB"))


@pytest.mark.parametrize(
    ("network", "collective", "seconds", "left_out"),
    [
        ("ring-bi-300", "AAS", 60, "flows over all paths: 300 sources times 600 channels are too"),
        ("torus-6x6", "AAS", 1e-6, "flows over all paths: the time is over"),
        ("torus-6x6", "AAB", 1e-6, "cuts around 35 of 36 nodes: the time is over"),
        ("2-ary-4-tree", "alltoall", 1e-6, "flows over all paths: the time is over"),
        ("2-ary-4-tree", "allgather", 1e-6, "cuts around 15 of 16 nodes: the time is over"),
        ("mesh-5x5", "reduce-scatter", 1e-6, "cuts around 24 of 25 nodes: the time is over"),
    ],
)
def test_a_limit_leaves_shortest_paths_and_says_what_it_left_out(
    network, collective, seconds, left_out
):
    instance = cchybrid.instance(network, collective)
    record = throughput_record(instance, seconds)
    assert record["made_by"]["left_out"].startswith(left_out)
    verdict = check_throughput(record)
    whole = throughput_record(instance) if seconds < 1 else record
    assert verdict.bound <= Fraction(whole["bound"])
    assert verdict.rounds_per_chunk >= Fraction(whole["rounds_per_chunk"])
    assert whole is record or "left_out" not in whole["made_by"]


@pytest.mark.parametrize("start", ["remove", "pack_trees"])
def test_a_limit_within_the_search_for_trees(start, monkeypatch):
    late = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: late[0])
    kept = getattr(Splitting if start == "remove" else throughput_module, start)

    def over(*arguments):
        late[0] = 100.0
        return kept(*arguments)

    monkeypatch.setattr(Splitting if start == "remove" else throughput_module, start, over)
    record = throughput_record(cchybrid.instance("fat-tree-4", "allgather"), 60)
    assert record["made_by"]["left_out"] == (
        "trees beside those of shortest paths: the time is over"
    )
    assert check_throughput(record).bound == 3
