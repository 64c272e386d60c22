"""The gate: an instance with a feature for which an argument is not proved is refused by it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import cchybrid
from cchybrid.checker import EvidenceError, proven_steps, proves_infeasible
from cchybrid.checker import features as gate
from cchybrid.checker.certificate import without_parts
from cchybrid.checker.features import FEATURES, PROVED, features
from cchybrid.checker.instance import Network
from cchybrid.checker.linear import linear_rounds
from cchybrid.checker.schedule import checked_schedule
from cchybrid.model import Instance, Schedule
from cchybrid.problem import build_problem
from cchybrid.proof.refutation import refute
from cchybrid.toolkit.kernels.first_fit import first_fit
from tests.checker.by_hand import record

SPREAD = {"kind": "linear", "steps": 2, "groups": [{"worth": [[v, 1] for v in range(1, 6)]}]}
PART = {"from": 0, "evidence": SPREAD}
COPIES = "linear", "nested-sets", "refutation"
ONE_PRICE = {"kind": "linear", "channels": [[5, 0, 1]]}
EVERY_CHANNEL = {
    "kind": "linear", "channels": [[a, b, 1] for a in range(6) for b in ((a + 1) % 6, (a - 1) % 6)]
}  # fmt: skip


def ring(collective: str = "AAB", **more: Any) -> Instance:
    return cchybrid.instance("ring-bi-6", collective, **more)


def table() -> Instance:
    return cchybrid.instance("mesh-2x3", "AAB", routing="xy")


def ticks(collective: str = "AAB", **more: Any) -> Instance:
    network = cchybrid.network("ring-bi-6")
    return cchybrid.instance(replace(network, times=((1, 2),) * 12), collective, **more)


PAIR = [[0, 1], [1, 0]]
CASES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "plain": (ring().to_json(), {"wormhole"}),
    "hops": (ring(switching="store-and-forward").to_json(), {"store-and-forward"}),
    "ports": (ring(ports=2).to_json(), {"wormhole", "limited ports"}),
    "any": (ring(routing="any").to_json(), {"wormhole", "any routing"}),
    "extra": (ring(routing=2).to_json(), {"wormhole", "extra hops"}),
    "table": (table().to_json(), {"wormhole", "routing table"}),
    "combine": (ring("AAR").to_json(), {"wormhole", "combining"}),
    "allreduce": (ring("allreduce").to_json(), {"wormhole", "allreduce"}),
    "scan": (ring("scan").to_json(), {"wormhole", "scan"}),
    "exscan": (ring("exscan").to_json(), {"wormhole", "scan"}),
    "chunks": (ring(chunks=2).to_json(), {"wormhole", "chunks"}),
    "rounds": (ring(rounds=[2, 1]).to_json(), {"wormhole", "rounds"}),
    "equal rounds": (ring(rounds=[2, 2]).to_json(), {"wormhole", "rounds"}),
    "endpoints": (cchybrid.instance("omega-4", "OAB").to_json(), {"wormhole", "endpoints"}),
    "wide": (record([[0, 1, 2]], (0, [1])), {"wormhole", "wide channels"}),
    "half": (record(PAIR, (0, [1]), half_duplex=[[0, 1]]), {"wormhole", "half duplex"}),
    "times": (ticks().to_json(), {"wormhole", "times"}),
    "nothing": (record([], (0, [1]), nodes=2), {"wormhole"}),
}


@pytest.mark.parametrize("name", CASES)
def test_features_of_an_instance(name: str) -> None:
    instance, expected = CASES[name]
    found = features(Network(instance))
    assert found == expected | ({"combining", "allreduce", "scan"} & expected or {"delivering"})
    assert found <= FEATURES


@cache
def arguments() -> dict[str, Any]:
    """Return a call of each kind of evidence, axiom and reader, that is accepted."""
    broadcast, hops = ring("OAB"), ring(switching="store-and-forward")
    problem = build_problem(broadcast)
    both = Schedule(broadcast, problem.lift(first_fit(problem, 0)).steps).to_json()
    members = ring("allreduce").to_json()
    scatter = ring("AAS").to_json()
    refuted = refute(Network(scatter), 4, 60.0, lambda: False).evidence
    assert refuted is not None
    single = record([[0, 1]], (1, [0]))
    sets = {"kind": "nested-sets", "message": 0, "sets": [[0, 1]]}
    return {
        "schedule": lambda: checked_schedule(both),
        "linear": lambda: proven_steps(broadcast.to_json(), SPREAD),
        "nested-sets": lambda: proven_steps(broadcast.to_json(), sets),
        "refutation": lambda: proven_steps(scatter, refuted),
        "part": lambda: proven_steps(members, {"kind": "part", **PART}),
        "exchanges": lambda: proven_steps(members, {"kind": "exchanges"}),
        "unreachable": lambda: proves_infeasible(
            single, {"kind": "unreachable", "message": 0, "destination": 0}
        ),
        "rounds per chunk": lambda: linear_rounds(
            Network(without_parts(hops.to_json())), ONE_PRICE, 3
        ),
        "throughput": lambda: linear_rounds(
            Network(hops.to_json()).with_any_routing(), EVERY_CHANNEL, None
        ),
    }


def test_the_arguments_are_all_there_are_and_name_features_of_the_closed_list() -> None:
    assert set(arguments()) == set(PROVED)
    assert all(proved <= FEATURES for proved in PROVED.values())


def test_the_gate_of_parts_counts_for_infeasibility(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = cchybrid.instance(cchybrid.network([(0, 1), (1, 2)]), "allreduce").to_json()
    lost = {"kind": "unreachable", "message": 0, "destination": 1}
    evidence = {"kind": "part", "to": 0, "evidence": lost}
    proves_infeasible(instance, evidence)
    monkeypatch.setitem(PROVED, "part", PROVED["part"] - {"allreduce"})
    with pytest.raises(EvidenceError, match="part: not proved for allreduce"):
        proves_infeasible(instance, evidence)


@pytest.mark.parametrize("name", PROVED)
def test_a_feature_without_a_proof_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call = arguments()[name]
    call()
    known = features
    monkeypatch.setattr(gate, "features", lambda network: known(network) | {"telepathy"})
    with pytest.raises(EvidenceError, match="not proved for telepathy"):
        call()


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r["model"].update(telepathy=True),
        lambda r: r["network"].update(latency=[1]),
        lambda r: r["collective"]["messages"][0].update(size=2),
        lambda r: r["collective"].update(kind="gossip"),
        lambda r: r["model"].update(switching="virtual-cut-through"),
    ],
)
def test_a_field_that_the_reader_does_not_know_is_refused(change: Any) -> None:
    given = ring().to_json()
    change(given)
    with pytest.raises(EvidenceError, match="the instance is not well-formed"):
        Network(given)


@pytest.mark.parametrize("kind", ["growth", "cut", "prices", "farkas", "blocks", "rows"])
def test_evidence_of_an_older_version_names_the_command_that_makes_it_anew(kind: str) -> None:
    with pytest.raises(EvidenceError, match="cchybrid prove"):
        proven_steps(ring().to_json(), {"kind": kind, "message": 0, "nodes": [0]})


@pytest.mark.parametrize(
    ("collective", "kinds", "feature"),
    [
        ("AAB", ("part", "exchanges"), "delivering"),
        ("AAR", ("part", "exchanges"), "combining"),
        ("allreduce", COPIES, "allreduce"),
        ("scan", (*COPIES, "exchanges"), "scan"),
        ("exscan", (*COPIES, "exchanges"), "scan"),
    ],
)
def test_kinds_that_are_not_proved_for_a_collective(
    collective: str, kinds: tuple[str, ...], feature: str
) -> None:
    for kind in kinds:
        with pytest.raises(EvidenceError, match=f"{kind}: not proved for {feature}"):
            proven_steps(ring(collective).to_json(), {"kind": kind, **PART})


@pytest.mark.parametrize("collective", ["scan", "exscan"])
def test_parts_prove_a_bound_for_a_scan(collective: str) -> None:
    assert proven_steps(ring(collective).to_json(), {"kind": "part", **PART}) == 2
