"""Evidence about an allreduce: mutants, and bounds against the shortest schedules."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.checker import EvidenceError, Network, check
from cchybrid.checker.kinds import shown_steps
from cchybrid.host.proving import prove
from cchybrid.model import AllReduction, Channel, Collective, CommunicationModel, Instance, Schedule
from cchybrid.model import Network as ModelNetwork
from cchybrid.proof import BOUNDS
from cchybrid.proof.asking import bounds_of
from cchybrid.proof.block_relaxation import BlockRelaxation
from cchybrid.proof.contradiction import find_contradiction
from cchybrid.proof.relaxation import Relaxation
from cchybrid.referee.verify import verify_schedule
from cchybrid.toolkit.cpsat.allreduce import find_allreduce
from tests.checker.mutants import mutants
from tests.examples import examples

HOPS = {"switching": "store-and-forward"}
CASES = {
    "part from": ("mesh-2x3", {**HOPS}),
    "part to": ("ring-uni-4", {**HOPS}),
    "exchanges": ("ring-bi-4", {**HOPS, "chunks": 6}),
    "one port": ("hypercube-8", {"ports": 1}),
}


def never() -> bool:
    return False


def shortest(instance: Instance, max_steps: int) -> Schedule | None:
    """Return the shortest schedule of the model of partial sums."""
    for steps in range(1, max_steps + 1):
        found = find_allreduce(instance, steps, 0, 2, never)
        if found is not None:
            return found
    return None


@cache
def certified(name: str):
    topology, more = CASES[name]
    instance = cchybrid.instance(topology, "allreduce", **more)
    schedule = shortest(instance, 8)
    assert schedule is not None
    assert not verify_schedule(schedule)
    proof = prove(schedule, time_limit=30)
    assert proof.certificate is not None
    return schedule.to_json(), {**proof.certificate, "made_by": {}}


@pytest.mark.long
@pytest.mark.parametrize("count", [40, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", CASES)
def test_mutants_are_refused_or_true(name, count):
    schedule, original = certified(name)
    assert check(schedule, original).bound == original["claim"]["steps"]
    others = [certified(other)[0] for other in CASES if other != name]
    accepted = 0
    for mutation, changed, certificate in mutants(schedule, original, others, count):
        try:
            check(changed, certificate)
        except EvidenceError:
            continue
        accepted += 1
        assert "raised" not in mutation
        read, claim = Schedule.from_json(changed), certificate["claim"]
        assert not verify_schedule(read)
        assert claim["steps"] <= len(read.steps)
        if read.instance.digest == original["instance"]["sha256"]:
            assert claim["steps"] <= original["claim"]["steps"], mutation
        elif claim["steps"] > 1:
            assert find_allreduce(read.instance, claim["steps"] - 1, 0, 2, never) is None
    assert accepted < count / 2


@pytest.mark.parametrize(
    "evidence",
    [
        {"kind": "linear", "steps": 1},
        {"kind": "part"},
        {"kind": "part", "from": 0},
        {"kind": "part", "from": 9, "evidence": {"kind": "linear", "steps": 1}},
        {"kind": "part", "from": True, "evidence": {"kind": "linear", "steps": 1}},
        {"kind": "part", "from": 0, "to": 1, "evidence": {"kind": "linear", "steps": 1}},
        {"kind": "part", "from": 0, "evidence": {"kind": "linear", "steps": 9}},
        {"kind": "part", "from": 0, "evidence": {"kind": "exchanges"}},
        {"kind": "part", "from": 0, "evidence": {"kind": "part", "from": 0}},
    ],
)
def test_evidence_of_another_form_is_refused(evidence):
    network = Network(cchybrid.instance("ring-bi-4", "allreduce").to_json())
    with pytest.raises(EvidenceError):
        shown_steps(network, evidence)


def test_a_part_proves_nothing_about_other_collectives():
    network = Network(cchybrid.instance("ring-bi-4", "allgather").to_json())
    for evidence in ({"kind": "exchanges"}, {"kind": "part", "from": 0, "evidence": {}}):
        with pytest.raises(EvidenceError):
            shown_steps(network, evidence)


@st.composite
def small_instances(draw: st.DrawFn) -> Instance:
    nodes = draw(st.integers(3, 5))
    arcs = {(a, (a + 1) % nodes) for a in range(nodes)}
    pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
    arcs |= set(draw(st.lists(st.sampled_from(pairs), max_size=6)))
    size = st.sampled_from((1, 1, 2))
    channels = tuple(Channel(a, b, draw(size)) for a, b in sorted(arcs))
    members = draw(st.lists(st.integers(0, nodes - 1), min_size=2, unique=True))
    ports = draw(st.sampled_from((None, 1)))
    switching = draw(st.sampled_from(("wormhole", "store-and-forward")))
    messages = (AllReduction(tuple(members)),) * draw(st.integers(1, 2))
    return Instance(
        ModelNetwork("small", nodes, channels),
        Collective("allreduce", messages),
        CommunicationModel(switching=switching, inject=ports, accept=ports),
    )


@settings(max_examples=examples(25))
@given(small_instances())
def test_no_bound_is_above_a_shortest_schedule(instance):
    found = shortest(instance, 12)
    assert found is not None
    assert verify_schedule(found) == ()
    for info in BOUNDS:
        bounds = [bound.steps for bound in bounds_of(info, instance)]
        assert bounds == sorted(set(bounds))
        assert max(bounds, default=0) <= len(found.steps)


State = tuple[frozenset[frozenset[int]], ...]


def optimum(instance: Instance) -> int:
    """Return the fewest steps of one message hop by hop, by a search over all states."""
    everyone = frozenset(instance.collective.messages[0].members)
    start = tuple(
        frozenset({frozenset({node})} if node in everyone else set())
        for node in range(instance.network.nodes)
    )
    states, steps = {start}, 0
    while not any(all(_union(state[node]) == everyone for node in everyone) for state in states):
        states = {after for state in states for after in _after(instance, state)}
        steps += 1
    return steps


def _union(values) -> frozenset[int]:
    return frozenset().union(*values)


def _after(instance: Instance, state: State) -> Iterator[State]:
    """Yield the states after one step."""
    choices = []
    for a, b, capacity in instance.network.channels:
        sums = {
            _union(group)
            for size in (1, 2, 3)
            for group in combinations(state[a], size)
            if sum(map(len, group)) == len(_union(group))
        }
        new = [parts for parts in sums if not parts <= _union(state[b])]
        choices.append(
            [[(b, parts) for parts in group]
             for size in range(min(capacity, 2) + 1) for group in combinations(new, size)]
        )  # fmt: skip
    for chosen in product(*choices):
        after = list(map(set, state))
        for node, parts in sorted(
            (move for moves in chosen for move in moves), key=lambda move: -len(move[1])
        ):
            held = after[node]
            if parts <= _union(held) or any(v & parts and not v <= parts for v in held):
                break
            held.add(parts)
        else:
            yield tuple(map(frozenset, after))


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 12))]
)
def test_the_model_of_partial_sums_is_exact_on_three_nodes(seed):
    rng = random.Random(seed)
    arcs = {(0, 1), (1, 2), (2, 0)} | set(rng.sample([(1, 0), (2, 1), (0, 2)], rng.randrange(3)))
    members = tuple(sorted(rng.sample(range(3), rng.choice((2, 3, 3)))))
    instance = Instance(
        ModelNetwork("three", 3, tuple(Channel(a, b, rng.choice((1, 1, 2))) for a, b in arcs)),
        Collective("allreduce", (AllReduction(members),)),
        CommunicationModel(switching="store-and-forward"),
    )
    found = shortest(instance, 6)
    assert found is not None
    assert len(found.steps) == optimum(instance)


def test_a_part_read_backwards_has_the_widest_rounds_in_every_step() -> None:
    """The rounds of an allreduce count from its first step, which a reversal does not know."""
    record = {
        "format": "cchybrid-instance/2",
        "name": "wide first step",
        "network": {
            "name": "chain",
            "nodes": 3,
            "channels": [[0, 1, 1], [1, 2, 3], [2, 1, 1], [1, 0, 3]],
        },
        "collective": {
            "name": "allreduce", "kind": "allreduce", "chunks": 3,
            "messages": [{"members": [0, 1, 2]}],
        },
        "model": {"switching": "store-and-forward", "routing": "any", "rounds": [3, 1]},
    }  # fmt: skip
    there = [{"path": [end, 1], "sum": [end]} for end in (0, 2)]
    back = [{"path": [1, end], "sum": sorted({0, 1, 2} - {end})} for end in (2, 0)]
    steps = [
        [{"message": m, **move} for m in range(3) for move in moves] for moves in (there, back)
    ]
    schedule = Schedule.from_json(
        {"format": "cchybrid-schedule/2", "instance": record, "steps": steps}
    )
    assert verify_schedule(schedule) == ()
    network = Network(record)
    for node in range(3):
        for read_back in (False, True):
            part = network.part(node, read_back)
            for relaxation in (Relaxation(part, 2), BlockRelaxation(part, [0, 1, 2], 2)):
                assert not find_contradiction(relaxation, relaxation.all_keys(), 100_000)
