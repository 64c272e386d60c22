"""Evidence about an allreduce: mutants, and bounds against the shortest schedules."""

from __future__ import annotations

import random
from functools import cache

import pytest

import cchybrid
from cchybrid.checker import EvidenceError, Network, check
from cchybrid.host.proving import prove
from cchybrid.model import Instance, Schedule
from cchybrid.proof.block_relaxation import BlockRelaxation
from cchybrid.proof.contradiction import find_contradiction
from cchybrid.proof.relaxation import Relaxation
from cchybrid.referee.verify import verify_schedule
from cchybrid.toolkit.cpsat.allreduce import find_allreduce
from tests.checker.by_hand import HOPS
from tests.checker.by_hand import record as by_hand
from tests.checker.mutants import mutants
from tests.exhaustive.plain_search import Search

CASES = {
    "part from": ("mesh-2x3", HOPS),
    "part to": ("ring-uni-4", HOPS),
    "exchanges": ("ring-bi-4", {**HOPS, "chunks": 6}),
    "one port": ("hypercube-8", {"ports": 1}),
    "scan": ("hypercube-8", {**HOPS, "collective": "scan"}),
    "exscan": ("mesh-2x3", {"collective": "exscan"}),
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
    instance = cchybrid.instance(topology, **{"collective": "allreduce", **more})
    schedule = shortest(instance, 8)
    assert schedule is not None
    assert not verify_schedule(schedule)
    proof = prove(schedule, time_limit=30)
    assert proof.certificate is not None
    return schedule.to_json(), {**proof.certificate, "made_by": {}}


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_mutants_are_refused_or_true(name):
    schedule, original = certified(name)
    assert check(schedule, original).bound == original["claim"]["steps"]
    others = [certified(other)[0] for other in CASES if other != name]
    accepted = 0
    for mutation, changed, certificate in mutants(schedule, original, others, 200):
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
    assert accepted < 100


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 12))]
)
@pytest.mark.parametrize(
    ("form", "switching"),
    [("allreduce", "store-and-forward"), ("scan", "wormhole"), ("exscan", "wormhole")],
)
def test_the_model_of_partial_sums_is_exact_on_three_nodes(seed, form, switching):
    rng = random.Random(seed)
    arcs = {(0, 1), (1, 2), (2, 0)} | set(rng.sample([(1, 0), (2, 1), (0, 2)], rng.randrange(3)))
    members = tuple(sorted(rng.sample(range(3), rng.choice((2, 3, 3)))))
    if form != "allreduce":
        members = tuple(rng.sample(members, len(members)))
    channels = [[a, b, rng.choice((1, 1, 2))] for a, b in arcs]
    switching = rng.choice(("store-and-forward", switching))
    record = by_hand(channels, members, kind=form, nodes=3, switching=switching)
    instance = Instance.from_json(record)
    found = shortest(instance, 6)
    assert found is not None
    assert len(found.steps) == Search(instance.to_json(), 1_000_000).fewest_steps()


def test_a_part_read_backwards_has_the_widest_rounds_in_every_step() -> None:
    """The rounds of an allreduce count from its first step, which a reversal does not know."""
    record = by_hand(
        [[0, 1, 1], [1, 2, 3], [2, 1, 1], [1, 0, 3]], [0, 1, 2], kind="allreduce", chunks=3,
        routing="any", rounds=[3, 1], **HOPS,
    )  # fmt: skip
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
