"""Schedules with a certificate of each kind, as JSON objects.

The steps of every case are its true optimum; in ``half_duplex_instance`` the optimum depends on
messages in both directions of a half-duplex link.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import cchybrid
from cchybrid.checker import Network as CheckerNetwork
from cchybrid.checker import RoundsVerdict, check
from cchybrid.host.certificates import certificate
from cchybrid.model import Channel, Collective, Instance, Message, Network, Schedule
from cchybrid.problem import build_problem
from cchybrid.proof import BOUNDS
from cchybrid.proof.refutation import refute
from cchybrid.proof.search import find_proof
from cchybrid.referee.verify import verify
from cchybrid.toolkit.kernels.first_fit import first_fit


class Case(NamedTuple):
    """A claim to prove: ``steps`` are needed, with evidence of this kind."""

    kind: str
    topology: str
    collective: str
    steps: int
    more: dict[str, Any]


OWN = "minimal routing"
ONE_PORT = {"switching": "store-and-forward", "ports": 1}
FIRST_8 = {"transmitters": range(8), "receivers": range(8, 25)}
HALF = {"transmitters": range(8), "receivers": range(8, 16)}
FOUR = {"transmitters": range(4), "receivers": range(4)}
CASES = (
    Case("linear", "hypercube-8", "OAB", 2, {}),
    Case("linear", "torus-4x4", "AAR", 4, {}),
    Case("linear", "random-regular-12-3-1", "AAB", 5, {}),  # late entries count in part
    Case("linear", "dgx-2", "AAB", 16, {"switching": "store-and-forward"}),
    Case("linear", "b-tree-8", "AAB", 9, {"switching": "store-and-forward"}),
    Case("linear", "mesh-5x5", "OAB", 3, {"root": 12}),
    Case("nested-sets", "full-tree-31", "OAB", 4, {"root": 7}),
    Case("nested-sets", "full-tree-15", "AOR", 8, {**ONE_PORT, "root": 7}),
    Case("linear", "spidergon-8", "AAS", 4, {}),
    Case("linear", "hypercube-8", "AAB", 7, {"ports": "1,2"}),  # deliveries
    Case("linear", "random-links-8-10-1", "AAB", 17, ONE_PORT),  # relaxation
    Case("linear", "mesh-3x3", "MNS", 5, {**ONE_PORT, **FOUR}),  # prices step by step
    Case("linear", "spidergon-16", "MNB", 4, HALF),  # relaxation
    Case("linear", "torus-5x5", "MNB", 4, FIRST_8),
    Case("refutation", "spidergon-8", "AAS", 4, {}),
    Case("refutation", "mesh-4x4", "OAB", 2, {"root": 5}),
    Case("linear", "mesh-2x3", "OAS", 4, {"routing": "xy"}),
    Case("linear", "mi250-16", "AAB", 4, {}),  # blocks
)


def half_duplex_instance() -> Instance:
    """Return an instance whose optimum is 3."""
    channels = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 3)]
    network = Network("pair", 5, tuple(Channel(a, b, 1) for a, b in channels), ((3, 4),))
    pairs = [(3, 4), (4, 3), (0, 2), (1, 0), (2, 1)]
    return Instance(network, Collective("some", tuple(Message(a, (b,)) for a, b in pairs)))


@cache
def scheduled(case_index: int) -> Schedule:
    """Return a schedule of a case, not a short one."""
    case = CASES[case_index]
    instance = cchybrid.instance(case.topology, case.collective, **case.more)
    problem = build_problem(instance)
    steps = problem.lift(first_fit(problem, 0)).steps
    assert not verify(instance, steps)
    return Schedule(instance, steps)


@cache
def certified(case_index: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schedule and the certificate of a case."""
    case, schedule = CASES[case_index], scheduled(case_index)
    instance, record = schedule.instance, schedule.to_json()
    if case.kind == "refutation":  # where cheaper evidence would do, to have a short proof
        network = CheckerNetwork(record["instance"])
        evidence, scope = refute(network, case.steps - 1, 60.0, lambda: False).evidence, OWN
        assert evidence is not None
    else:
        proof = find_proof(instance, record["instance"], case.steps, 60.0, providers=BOUNDS).proof
        assert proof is not None
        evidence, scope = dict(proof.evidence), proof.scope
    claim = {"steps": case.steps, "scope": scope}
    found = certificate(record["instance"], claim, evidence, {})
    verdict = check(record, found)
    assert not isinstance(verdict, RoundsVerdict)
    assert (verdict.kind, verdict.bound) == (case.kind, case.steps)
    return record, found
