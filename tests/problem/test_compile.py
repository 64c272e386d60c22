"""``build_problem``: sampled pools, equal Problems, instances without a schedule."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.checker import EvidenceError, proves_infeasible
from cchybrid.model import (
    Channel,
    Collective,
    CommunicationModel,
    Instance,
    Message,
    Network,
    Reduction,
)
from cchybrid.model.errors import CchybridError
from cchybrid.problem import ACCEPT, CHANNEL, INJECT, LINK, Problem, UnreachableError, build_problem
from cchybrid.proof.reach import unreachable
from tests.problem.plain_problem import options_of
from tests.random_instances import instances

ARRAYS = (
    "capacity", "kind", "implied", "required", "option_start", "option_requires", "option_path",
    "path_start", "path_resource",
)  # fmt: skip


def assert_equal(one: Problem, other: Problem) -> None:
    for name in ARRAYS:
        first, second = getattr(one, name), getattr(other, name)
        assert first.dtype == second.dtype
        assert np.array_equal(first, second), name
    assert one.complete == other.complete
    assert one.structure.paths == other.structure.paths


@given(instances(), st.integers(1, 60), st.integers(0, 3))
def test_incomplete_pools(instance, max_options, seed):
    whole = build_problem(instance)
    assert whole.complete
    part = build_problem(instance, max_options=max_options, seed=seed)
    assert_equal(part, build_problem(instance, max_options=max_options, seed=seed))
    assert part.complete == (part.options == whole.options)
    assert set(options_of(part)) <= set(options_of(whole))
    # The source of every delivery keeps at least one path, whatever was asked, and so do the
    # nearest senders.
    senders = {option[:3] for option in options_of(whole)}
    kept = {option[:3] for option in options_of(part)}
    assert {option for option in senders if option[2] == -1} <= kept
    assert part.options <= max(max_options, len(kept))
    assert len(kept) == len(senders) or len(kept) >= 8
    if whole.options <= max_options:
        assert part.complete


def test_near_senders_in_ticks_are_those_of_fast_links():
    """GPUs of one box, and those of one rail, are two hops apart each."""
    instance = cchybrid.instance("dgx-h100-rails-x8", "AAB", size="1MiB", tick="1")
    part = build_problem(instance, max_options=4000)
    assert not part.complete
    kept = {(message, node, sender) for message, node, sender, _ in options_of(part)}
    for node in (0, 7, 63):
        box = {8 * (node // 8) + gpu for gpu in range(8)} - {node}
        assert box <= {sender for message, to, sender in kept if (message, to) == (20, node)}


@pytest.mark.parametrize("routing", ["minimal", pytest.param("any", marks=pytest.mark.long), 2])
def test_equal_in_every_process(routing):
    program = f"""
import cchybrid
from cchybrid.problem import build_problem
instance = cchybrid.instance("mesh-4x4", "AAS", routing={routing!r})
problem = build_problem(instance, max_options=700, seed=5)
print(problem.complete, problem.structure.paths)
"""
    words = [sys.executable, "-c", program]
    said = [subprocess.check_output(words, env={"PYTHONHASHSEED": seed}) for seed in ("1", "2")]
    assert said[0] == said[1]
    assert said[0].startswith(b"False")


@given(instances(), st.data())
def test_nodes_without_ports(instance, data):
    """Whether there is a schedule at all: the compiler, the bounds and the checker agree."""
    nodes = instance.network.nodes
    ports = st.lists(st.integers(0, 2), min_size=nodes, max_size=nodes).map(tuple)
    instance = instance.with_model(inject=data.draw(ports), accept=data.draw(ports))
    evidence = unreachable(instance.forward)
    if evidence is None:
        problem = build_problem(instance)
        assert (np.diff(problem.option_start) > 0).all()
        for message in range(len(instance.collective.messages)):
            with pytest.raises(EvidenceError):
                proves_infeasible(instance.to_json(), {"kind": "unreachable", "message": message})
    else:
        with pytest.raises(UnreachableError):
            build_problem(instance)
        proves_infeasible(instance.to_json(), evidence)


def test_an_inner_node_of_a_path_that_may_not_send():
    model = CommunicationModel(inject=(1, 0, 1), accept=(1, 1, 1))
    through = cchybrid.instance("mesh-1x3", [(0, 2)]).with_model_of(model)
    assert build_problem(through).options == 1  # in wormhole switching a passage takes no port
    with pytest.raises(UnreachableError, match="message 0 from node 0 cannot reach node 2"):
        build_problem(through.with_model(switching="store-and-forward"))


@pytest.mark.parametrize("switching", ["wormhole", "store-and-forward"])
def test_destinations_out_of_reach(switching):
    network = Network.from_arcs("one way", 3, [(0, 1), (1, 2)])
    model = CommunicationModel(switching=switching)
    for messages in (
        (Message(0, (1,)), Message(2, (0,))),
        (Message(1, (2, 0)),),
        (Reduction((0,), 2), Reduction((2,), 1)),
    ):
        instance = Instance(network, Collective("no", messages), model)
        with pytest.raises(UnreachableError) as raised:
            build_problem(instance)
        assert isinstance(raised.value, CchybridError)
        evidence = unreachable(instance.forward)
        proves_infeasible(instance.to_json(), evidence)


def test_endpoints_are_passed_in_hops_only():
    star = Network.from_links("line", 3, [(0, 1), (1, 2)], endpoints=(1,))
    instance = Instance(star, Collective("one", (Message(0, (2,)),)))
    with pytest.raises(UnreachableError):
        build_problem(instance)
    # A destination that is an endpoint may forward what it has received.
    both = replace(instance, collective=Collective("both", (Message(0, (1, 2)),)))
    assert build_problem(both).options == 3
    assert build_problem(instance.with_model(switching="store-and-forward")).deliveries == 2


def test_resources():
    channels = Channel(0, 1, 2), Channel(1, 0, 2), Channel(1, 2, 10**12), Channel(2, 0)
    network = Network("mixed", 3, channels, half_duplex=((1, 0),))
    model = CommunicationModel(inject=(1, 5, 3), accept=(4, 1, 1))
    problem = build_problem(Instance(network, Collective("one", (Message(0, (2,)),)), model))
    kinds = problem.kind.tolist()
    assert [kinds.count(kind) for kind in (CHANNEL, LINK, INJECT, ACCEPT)] == [2, 1, 3, 3]
    resources = problem.structure.resources
    link, same, wide, _ = resources.channel
    assert (link, problem.kind[link], problem.capacity[link]) == (same, LINK, 2)
    assert problem.capacity[wide] == 2**30  # more is all the same
    assert problem.capacity[resources.inject].tolist() == [1, 5, 1]
    assert problem.implied[resources.inject].tolist() == [False, False, True]
    assert problem.capacity[resources.accept].tolist() == [3, 1, 1]
    assert problem.implied[resources.accept].tolist() == [True, False, False]


@pytest.mark.parametrize("routing", ["minimal", 1, pytest.param("any", marks=pytest.mark.long)])
def test_numbers_of_paths_that_are_too_many_to_list(routing):
    instance = cchybrid.instance("mesh-24x24", [(0, [575, 24])], routing=routing)
    problem = build_problem(instance, max_options=500)
    assert not problem.complete
    assert 4 <= problem.options <= 500
    assert problem.price(0, np.zeros(problem.resources)).cost == 0.0
