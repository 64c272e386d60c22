"""Pseudo-Boolean formulas and proofs: rows that hold, the same optimum, proofs and mutants."""

import re
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from cchybrid_plugins.exchange.claim import Claim
from cchybrid_plugins.exchange.derivations import derive_linear, derive_rows
from cchybrid_plugins.exchange.opb import write_opb
from cchybrid_plugins.exchange.pseudo_boolean import PathFormula
from cchybrid_plugins.exchange.veripb import CuttingPlanes, NotDerivedError
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

import cchybrid
from cchybrid.checker import proven_steps
from cchybrid.checker.certificate import own_scope
from cchybrid.host.certificates import certificate
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.proof import BOUNDS
from cchybrid.proof.farkas import refute, refuting_rows
from cchybrid.proof.records import load_target
from tests.checker.certified import CASES, certified
from tests.checker.meaning import network_of, transfers
from tests.examples import examples
from tests.plugins.exchange.plain_veripb import RefusedError, check, read_opb, read_row
from tests.proof.optimum import fewest_steps
from tests.random_instances import SEVERAL, valid_schedules

HOPS = "store-and-forward"


def formula_of(schedule: Any, steps: int) -> PathFormula:
    network = network_of(schedule)
    return PathFormula(Claim("", network, network, steps, {}))


@settings(max_examples=examples(200))
@given(valid_schedules(max_nodes=5, max_messages=4, **SEVERAL), st.integers(0, 1))
def test_every_row_holds_for_every_schedule(schedule, spare):
    formula = formula_of(schedule, len(schedule.steps) + spare)
    for key in chain(formula.relaxation.all_keys(), formula.relaxation.sent_keys()):
        formula.row_number(*key)  # with the rows that only some proofs need
    true = set()
    for t, message, path in transfers(schedule):
        true.add(formula.number["path", message, path[-1], path, t])
        for later in range(t, len(schedule.steps) + spare + 1):
            true.add(formula.number["has", message, path[-1], later])
    for key, terms, side in formula.rows:
        assert sum(factor for variable, factor in terms.items() if variable in true) >= side, key


def text_of(schedule: Any, steps: int) -> str:
    return "\n".join(formula_of(schedule, steps).lines())


def satisfiable(text: str) -> bool:
    """Decide an OPB file by CP-SAT."""
    model, variables = cp_model.CpModel(), dict[str, Any]()
    for terms, side in read_opb(text):
        for name in terms:
            variables.setdefault(name, model.new_bool_var(name))
        model.add(sum(factor * variables[name] for name, factor in terms.items()) >= side)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    assert status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.INFEASIBLE)
    return status != cp_model.INFEASIBLE


@settings(max_examples=examples(60))
@given(valid_schedules(max_nodes=5, max_messages=4, **SEVERAL))
def test_the_file_has_a_solution_exactly_if_there_is_a_schedule(schedule):
    fewest = fewest_steps(schedule.instance, len(schedule.steps))
    assert satisfiable(text_of(schedule, fewest))
    if fewest > 1:
        assert not satisfiable(text_of(schedule, fewest - 1))


INSTANCES = (
    ("growth", "mesh-3x3", "OAB", {"root": 4, "ports": 1}),
    ("growth", "random-regular-12-3-1", "OAB", {}),
    ("growth", "ring-bi-8", "OAB", {"switching": HOPS}),  # by the farthest node
    ("growth", "hypercube-16", "OAB", {"switching": HOPS, "ports": 2}),
    ("growth", "hypercube-8", "AOR", {}),
    ("cut", "b-tree-8", "AAB", {}),
    ("cut", "ring-bi-6", "AAS", {}),
    ("cut", "mesh-3x3", "AAR", {}),
    ("cut", "hypercube-8", "allgather", {"ports": 1, "switching": HOPS}),
    ("prices", "ring-bi-6", "AAS", {"switching": HOPS}),
    ("prices", "spidergon-8", "AAG", {}),
    ("prices", "mesh-2x3", "AAS", {"routing": "any"}),
    ("prices", "hypercube-8", "AAB", {"ports": "1,2"}),
    ("farkas", "mesh-3x3", "OAB", {"root": 0}),
    ("farkas", "ring-bi-8", "OAB", {"ports": 1, "switching": HOPS}),
    ("farkas", "mesh-2x3", "AAB", {"routing": 1}),
)
"""Providers of bounds, with instances for which they have linear evidence."""


def evidence_by(provider: str, instance: Instance) -> list[tuple[int, dict[str, Any]]]:
    """Return the linear evidence of a provider for an instance, with the steps that it proves."""
    record = instance.to_json()
    if provider == "farkas":
        found = []
        while (evidence := refute(record, len(found) + 1, 10**5, units=5.0)) is not None:
            found.append(evidence)
    else:
        (info,) = (info for info in BOUNDS if info.name == provider)
        bounds = load_target(info.target)(instance.forward.widest)
        found = [dict(bound.evidence) for bound in bounds]
    return [(proven_steps(record, evidence), evidence) for evidence in found]


@cache
def exported(index: int, tmp: Path) -> tuple[str, str]:
    """Return the formula and the proof of the best bound of a provider for an instance."""
    provider, topology, collective, more = INSTANCES[index]
    instance = cchybrid.instance(topology, collective, **more)
    steps, evidence = max(evidence_by(provider, instance), key=lambda pair: pair[0])
    return files_of(instance.to_json(), steps, evidence, tmp)


def files_of(
    record: dict[str, Any], steps: int, evidence: dict[str, Any], folder: Path
) -> tuple[str, str]:
    found = certificate(record, {"steps": steps, "scope": own_scope(record)}, evidence, {})
    formula, proof = write_opb(record, found, folder, 20.0)
    return formula.read_text(), proof.read_text()


PROVIDERS = [provider for provider, *_ in INSTANCES]


@pytest.mark.parametrize(
    "index",
    [
        # One instance of each provider in every run.
        pytest.param(index, marks=[pytest.mark.long] if name in PROVIDERS[:index] else [])
        for index, name in enumerate(PROVIDERS)
    ],
    ids=lambda i: " ".join(INSTANCES[i][:3]),
)
def test_a_proof_is_accepted_of_its_formula_alone(index, tmp_path):
    formula, proof = exported(index, tmp_path)
    rows = read_opb(formula)
    check(rows, proof)
    # A formula with a solution is refuted by no proof.
    goals = re.findall(r"^\+1 x\d+ >= 1 ;$", formula, re.MULTILINE)
    weaker = [row for row in rows if row not in [read_row(line) for line in goals]]
    with pytest.raises(RefusedError):
        check(weaker, proof.replace(f"f {len(rows)} ;", f"f {len(weaker)} ;"))


@settings(max_examples=examples(60))
@given(
    valid_schedules(max_nodes=5, max_messages=4, **SEVERAL),
    st.sampled_from(["growth", "cut", "prices"]),
)
def test_evidence_of_random_instances_becomes_accepted_proofs(schedule, provider):
    for steps, evidence in evidence_by(provider, schedule.instance):
        if steps < 2:
            continue
        proof = CuttingPlanes(formula_of(schedule, steps - 1))
        try:
            derive_linear(proof, evidence)
        except NotDerivedError:
            assert provider != "growth"  # senders of different strength inside, payments of sets
            continue
        accepted(proof)


@settings(max_examples=examples(60))
@given(valid_schedules(max_nodes=5, max_messages=4, **SEVERAL))
def test_multiplied_rows_of_random_instances_become_accepted_proofs(schedule):
    for steps in range(1, len(schedule.steps)):
        found = refuting_rows(schedule.instance.to_json(), steps, 10**5, 60.0)
        if found is None:
            break
        proof = CuttingPlanes(formula_of(schedule, steps))
        derive_rows(proof, *found)
        accepted(proof)


def accepted(proof: CuttingPlanes) -> None:
    """Check a proof and its formula."""
    check(read_opb("\n".join(proof.formula.lines()) + "\n"), "\n".join(proof.lines()) + "\n")


SMALL = [0, 4, 5, 6, 7, 12, 15]


@pytest.mark.parametrize("index", SMALL, ids=lambda i: f"{CASES[i].kind} {CASES[i].topology}")
def test_other_kinds_are_replaced_by_multipliers_where_there_are_some(index, tmp_path):
    record, found = certified(index)
    formula, proof = write_opb(record["instance"], found, tmp_path, 20.0)
    check(read_opb(formula.read_text()), proof.read_text())


def test_what_has_no_cutting_planes_is_one_line(tmp_path):
    record, found = certified(2)  # late entries count in part, which no row says
    with pytest.raises(InputError, match="no cutting planes for linear evidence of 5 steps"):
        write_opb(record["instance"], found, tmp_path, 20.0)


def test_rows_on_what_a_node_has_sent_before(tmp_path):
    instance = cchybrid.instance("random-links-18-18-26", "OAB", switching=HOPS, ports=1)
    evidence = refute(instance.to_json(), 6, 100_000)
    assert evidence is not None
    formula, proof = files_of(instance.to_json(), 7, evidence, tmp_path)
    assert "up to step 4, it had before" in formula
    check(read_opb(formula), proof)


def test_the_part_of_an_allreduce_has_a_formula(tmp_path):
    instance = cchybrid.instance("ring-bi-6", "allreduce", switching=HOPS)
    record = instance.to_json()
    values = [[node, 1] for node in range(6)]
    growth = {"kind": "linear", "steps": 3, "groups": [{"messages": [0], "worth": values}]}
    evidence = {"kind": "part", "to": 2, "evidence": growth}
    steps = proven_steps(record, evidence)
    formula, proof = files_of(record, steps, evidence, tmp_path)
    assert "described backwards" in formula
    check(read_opb(formula), proof)
    with pytest.raises(InputError, match="has no formula"):
        files_of(record, 2, {"kind": "exchanges"}, tmp_path)


def test_rows_of_other_parts_prove_no_part(tmp_path):
    channels = [[0, 2], [2, 4], [1, 3], [3, 1], [3, 2], [2, 0], [3, 4], [4, 3], [3, 0], [2, 3]]
    record = {
        "format": "cchybrid-instance/2",
        "network": {"name": "n", "nodes": 5, "channels": [*channels, [0, 3], [4, 2]],
                    "half_duplex": [[3, 1], [3, 2], [4, 2]]},
        "collective": {"name": "c", "kind": "scan", "messages": [{"members": [4, 0, 2, 1]}],
                       "chunks": 2},
        "model": {"switching": HOPS, "ports": "all", "routing": "minimal"},
    }  # fmt: skip
    groups = [{"messages": [0, 1], "worth": [[0, 1], [2, 1], [4, 1]]}]
    shown = {"kind": "linear", "steps": 3, "channels": [[3, 1, 1, 1, 3]], "groups": groups}
    evidence = {"kind": "part", "to": 1, "evidence": shown}
    assert proven_steps(record, evidence) == 3
    with pytest.raises(InputError, match="no cutting planes for linear evidence of 3 steps; use"):
        files_of(record, 3, evidence, tmp_path)


def test_what_the_file_says_in_words(tmp_path):
    formula, _ = exported(3, tmp_path)
    name = "hypercube-16 OAB, store-and-forward, 2 ports"
    assert f"{name}: is there a schedule of at most 3 steps?" in formula
    assert "* message 0: from 0 to 1 2 3" in formula
    assert re.search(r"^\* x\d+: node 3 receives message 0 in step 2 over path 1-3$", formula, re.M)
    assert re.search(r"^\* row \d+: node 3 has message 0 after the last step$", formula, re.M)
    texts = re.findall(r"^\* row \d+: (.*)$", formula, re.M)
    assert all("node -1" not in text and "{" not in text for text in texts)
