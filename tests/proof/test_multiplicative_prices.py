"""Prices by multiplicative weights: valid, at most the linear program's optimum, and near it."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.model import Channel, Collective, CommunicationModel, Instance, Message, Network
from cchybrid.problem.resources import resources_of
from cchybrid.proof import cut, flow
from cchybrid.proof.cut import cut_bounds
from cchybrid.proof.flow import price_bounds, solve_flow
from cchybrid.proof.multiplicative_prices import CheapestFlow, Prices, multiplicative_prices
from cchybrid.proof.payers import Payers
from tests.examples import examples
from tests.random_instances import allowed_paths, instances, scattered


def all_prices(instance: Instance) -> tuple[list[tuple[int, Prices]], bool]:
    """Return the steps and prices that are yielded, and whether no others prove more."""
    search, found = multiplicative_prices(instance), []
    while True:
        try:
            found.append(next(search))
        except StopIteration as end:
            return found, end.value


def steps_of(instance: Instance, prices: Prices) -> int:
    """Return what the checker says about prices."""
    evidence = Payers(instance.forward).evidence(*prices)
    return proven_steps(instance.to_json(), json.loads(json.dumps(evidence)))


def plain_send(
    instance: Instance, prices: np.ndarray, priced: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the total price and the loads of cheapest routes, by listing all allowed paths."""
    resources = resources_of(instance)
    free, hop_by_hop = instance, instance.model.switching == "store-and-forward"
    if hop_by_hop:
        network = replace(instance.network, endpoints=())
        free = Instance(network, instance.collective, CommunicationModel(routing="any"))
    index = instance.network.channel_index
    total, load = 0.0, np.zeros(len(prices))
    for source, (goal,) in instance.collective.deliver_messages:
        routes = []
        for path in allowed_paths(free, source, goal):
            used = [resources.channel[index[hop]] for hop in pairwise(path)]
            if hop_by_hop:
                used += [resources.inject[a] for a in path[:-1]]
                used += [resources.accept[b] for b in path[1:]]
            routes.append((float(prices[used].sum()), used))
        cheapest, used = min(routes)
        total += cheapest
        np.add.at(load, used, 1.0)
    return total, np.where(priced, load, 0.0)


@settings(max_examples=examples(80))
@given(instances(kinds=("deliver",)), st.integers(0, 2**32 - 1))
def test_cheapest_routes_agree_with_all_allowed_paths(drawn, seed):
    """The plain twin of the kernels: all routings, endpoints, half duplex, ports hop by hop."""
    instance, rng = scattered(drawn), np.random.default_rng(seed)
    routes = CheapestFlow(instance)
    assert routes.possible
    # Prices of few digits have ties; with others the cheapest route is unique.
    few = np.where(routes.priced, rng.integers(0, 4, len(routes.priced)), 0.0)
    assert routes.send(few)[0] == pytest.approx(plain_send(instance, few, routes.priced)[0])
    many = np.where(routes.priced, rng.random(len(routes.priced)) + 0.01, 0.0)
    total, load = routes.send(many)
    plain_total, plain_load = plain_send(instance, many, routes.priced)
    assert total == pytest.approx(plain_total)
    assert load == pytest.approx(plain_load)


@pytest.mark.parametrize(
    ("spec", "more"),
    [
        (("random-regular-48-4-11", "AAS"), {}),
        (("random-regular-32-4-11", "AAS"), {"routing": 1}),
        (("random-regular-32-4-11", "AAS"), {"routing": "any"}),
        (("mesh-6x6", "AAS"), {"routing": "any"}),
        (("kautz-36", "AAS"), {}),
        (("omega-16", "AAS"), {}),
        (("fat-tree-16", "OAS"), {"root": 3}),
        (("torus-4x8", "MNS"), {"transmitters": range(7), "receivers": range(9, 30)}),
        (("mesh-4x5", "AAS"), {"switching": "store-and-forward", "ports": 1}),
    ],
)
def test_the_bound_is_near_the_optimum_of_the_program(spec, more):
    instance = cchybrid.instance(*spec, **more)
    program = solve_flow(instance)
    found, complete = all_prices(instance)
    assert [steps_of(instance, prices) for _, prices in found] == [steps for steps, _ in found]
    best = found[-1][0]
    assert 0.99 * program.load <= best
    if instance.model.routing != 1:
        assert best <= math.ceil(program.load - 1e-6)
        assert not complete or best == math.ceil(program.load - 1e-6)


def test_destinations_out_of_reach() -> None:
    network = Network("two", 3, (Channel(0, 1, 1), Channel(1, 0, 1)))
    instance = Instance(network, Collective("one", (Message(0, (2,)),)), CommunicationModel())
    assert all_prices(instance) == ([], False)


def bounds(instance: Instance) -> Iterator[int]:
    return (bound.steps for bound in price_bounds(instance))


def test_they_replace_a_program_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = cchybrid.instance("kautz-36", "AAS")
    assert list(bounds(instance))[-1] == 34
    solve_flow.cache_clear()
    monkeypatch.setattr(flow, "MAX_COLUMNS", 0)
    equal = list(bounds(instance))
    assert len(equal) == 1
    assert equal[0] < 34
    monkeypatch.setattr(flow, "GLOP_COLUMNS", 0)
    assert list(bounds(instance))[-1] == 34
    solve_flow.cache_clear()


def test_they_come_before_a_large_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program is not solved at all where it cannot prove more."""
    solved: list[Instance] = []
    monkeypatch.setattr(flow, "solve_flow", solved.append)
    monkeypatch.setattr(flow, "GLOP_COLUMNS", 0)
    assert list(bounds(cchybrid.instance("kautz-36", "AAS")))[-1] == 34
    assert not solved


@pytest.mark.parametrize(
    "more", [{}, {"ports": 1}, {"switching": "store-and-forward", "ports": 2}, {"routing": "any"}]
)
@pytest.mark.parametrize("name", ["kautz-36", "ring-8", "mesh-3x5"])
def test_large_scatters_name_the_steps_that_their_evidence_shows(
    name: str, more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the host checks them."""
    instance = cchybrid.instance(name, "AAS", **more)
    checked = max(bound.steps for bound in cut_bounds(instance))
    monkeypatch.setattr(cut, "MAX_CHECKED_MESSAGES", 0)
    monkeypatch.setattr(flow, "GLOP_COLUMNS", 0)
    cuts, priced = list(cut_bounds(instance)), list(price_bounds(instance))
    assert [bound.steps for bound in cuts] == [checked]
    assert [b.steps for b in priced] == sorted({b.steps for b in priced})
    for bound in cuts + priced:
        assert bound.evidence is not None
        evidence = json.loads(json.dumps(bound.evidence))
        assert proven_steps(instance.to_json(), evidence) == bound.steps
        if bound in priced:
            with pytest.raises(EvidenceError):
                proven_steps(instance.to_json(), {**evidence, "steps": bound.steps + 1})


def test_cuts_along_their_prices_for_messages_to_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The large program is not solved for suggestions."""
    # Two halves of 8 nodes that one link joins; every node of one sends to all of the other.
    halves = [Channel(h + a, h + b, 1) for h in (0, 8) for a, b in permutations(range(8), 2)]
    network = Network("halves", 16, (*halves, Channel(0, 8, 1), Channel(8, 0, 1)))
    messages = tuple(Message(a, tuple(range(8, 16))) for a in range(8))
    instance = Instance(network, Collective("across", messages), CommunicationModel())
    monkeypatch.setattr(flow, "GLOP_COLUMNS", 0)
    monkeypatch.setattr(flow, "CapacityProgram", None)
    # The link carries one message in a step, and the last one has to spread behind it.
    assert max(bound.steps for bound in flow.flow_cut_bounds(instance)) == 9
