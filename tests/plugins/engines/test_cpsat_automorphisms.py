"""Symmetries of a Problem: what is found is one, and breaking it changes no answer."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ortools.sat.python import cp_model

import cchybrid
from cchybrid.model import (
    Channel,
    Collective,
    CommunicationModel,
    Instance,
    Message,
    Network,
    Reduction,
)
from cchybrid.problem import Problem, build_problem
from cchybrid.toolkit.cpsat.automorphisms import Automorphisms, chain
from cchybrid.toolkit.cpsat.model import build
from cchybrid.toolkit.cpsat.windows import Windows
from cchybrid.toolkit.usage_matrix import UsageMatrix
from tests.examples import drawn
from tests.proof.optimum import possible
from tests.random_instances import SWITCHINGS

RANDOM = drawn(60)


def solvable(problem: Problem, steps: int, *, broken: bool) -> bool:
    uses = UsageMatrix.of(problem)
    windows = Windows.of(problem, uses, steps, symmetry=True)
    model = build(problem, uses, windows, chain=chain(problem) if broken else ())
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    verdict = solver.solve(model.model)
    assert verdict in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.INFEASIBLE)
    return bool(verdict != cp_model.INFEASIBLE)


@st.composite
def circulants(draw: st.DrawFn) -> Instance:
    """A network that looks the same from every node, and a broadcast of one or of all nodes."""
    nodes = draw(st.integers(3, 6))
    jumps = draw(st.lists(st.integers(1, nodes - 1), min_size=1, max_size=2, unique=True))
    size = draw(st.integers(1, 2))
    arcs = {(v, (v + jump) % nodes) for v in range(nodes) for jump in (1, *jumps)}
    if draw(st.booleans()):
        arcs |= {(b, a) for a, b in arcs}
    network = Network("circulant", nodes, tuple(Channel(a, b, size) for a, b in sorted(arcs)))
    roots = range(nodes) if nodes < 5 and draw(st.booleans()) else range(1)
    rest = [tuple(v for v in range(nodes) if v != root) for root in roots]
    ports = draw(st.sampled_from([None, 1]))
    model = CommunicationModel(draw(st.sampled_from(SWITCHINGS)), ports, ports, "minimal")
    kind = draw(st.sampled_from((Message, lambda one, many: Reduction(many, one))))
    return Instance(network, Collective("some", tuple(map(kind, roots, rest))), model)


@pytest.mark.parametrize(
    ("topology", "collective", "orbits"),
    [
        ("hypercube-8", "OAB", [3, 3, 1]),  # by distance
        ("full-tree-15", "OAB", [8, 4, 2]),  # by level
        ("petersen-10", "AAB", [60, 30]),
        ("mesh-3x3", "AAB", [8] * 6 + [4] * 6),  # 48 pairs in general position
        ("mesh-3x3", "AAS", [8] * 6 + [4] * 6),
    ],
)
def test_orbits_are_those_of_the_network(topology, collective, orbits):
    group = Automorphisms(build_problem(cchybrid.instance(topology, collective)))
    assert group.known
    sizes = np.unique(group.orbits([]), return_counts=True)[1]
    assert sorted(sizes.tolist(), reverse=True) == orbits


def test_the_chain_fixes_one_delivery_after_the_other():
    """Of the leaves one is first, then one of its half of the tree, down to pairs."""
    links = chain(build_problem(cchybrid.instance("full-tree-15", "OAB")))
    assert [len(link.others) for link in links] == [7, 3, 1, 1]
    assert len({link.first for link in links}) == 4


def test_a_missing_option_ends_the_symmetry():
    """One node of a ring is not informed over a path that its mirror image is informed over."""
    problem = build_problem(cchybrid.instance("ring-bi-6", "OAB"))
    assert chain(problem)
    last = problem.options - 1
    alone = dataclasses.replace(
        problem, option_start=np.append(problem.option_start[:-1], last),
        option_requires=problem.option_requires[:last], option_path=problem.option_path[:last],
    )  # fmt: skip
    assert chain(alone) == []


def test_a_slower_channel_ends_the_symmetry():
    arcs = [(v, (v + stride) % 6) for v in range(6) for stride in (1, 5)]
    broadcast = Collective("broadcast", (Message(0, (1, 2, 3, 4, 5)),))
    for size, links in ((2, 1), (1, 0)):
        channels = tuple(Channel(a, b, size if (a, b) == (1, 2) else 2) for a, b in arcs)
        problem = build_problem(Instance(Network("ring", 6, channels), broadcast))
        assert len(chain(problem)) == links


def test_interchangeable_steps_are_left_alone():
    assert chain(build_problem(cchybrid.instance("kautz-12", "AAS"))) == []


@given(circulants(), st.integers(1, 4))
@RANDOM
def test_breaking_symmetry_changes_no_answer(instance, steps):
    """Neither from that of the whole model, nor from that of the rules alone."""
    problem = build_problem(instance)
    answer = solvable(problem, steps, broken=True)
    assert answer == solvable(problem, steps, broken=False)
    assert answer == possible(instance, steps)
