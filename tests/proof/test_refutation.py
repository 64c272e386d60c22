"""CaDiCaL agrees with an independent model, and the checker accepts its proofs."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings

import cchybrid
from cchybrid.checker import EvidenceError, Network, proven_steps, routes
from cchybrid.checker.clauses import Formula
from cchybrid.checker.refutation import check_lrat
from cchybrid.model import Instance
from cchybrid.proof import cadical
from cchybrid.proof.lrat import ProofError, trimmed
from cchybrid.proof.refutation import pinned_messages, refute
from cchybrid.referee.verify import verify
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import SEVERAL, valid_schedules


def decide(instance: Instance, steps: int):
    return refute(Network(instance.to_json()), steps, 60.0, lambda: False)


@pytest.mark.long
@settings(max_examples=examples(40))
@given(valid_schedules(max_nodes=5, max_messages=4, **SEVERAL))
def test_agrees_with_the_optimum(schedule):
    instance = schedule.instance
    fewest = fewest_steps(instance, len(schedule.steps))
    found = decide(instance, fewest).shorter
    assert not verify(instance, found)
    assert len(found) <= fewest
    if fewest > 1:
        evidence = decide(instance, fewest - 1).evidence
        assert evidence is not None
        assert proven_steps(instance.to_json(), evidence) == fewest


def test_pinned_messages_need_a_step_each():
    network = Network(cchybrid.instance("ring-uni-6", "AAS").to_json())
    order = pinned_messages(Formula(network, 9))
    # Every message from behind a channel to before it passes it: 1 + 2 + ... + 5.
    assert len(order) == 9
    Formula(network, 9, order)
    with pytest.raises(EvidenceError):
        Formula(network, 9, [*order[:8], order[0]])
    # Node 0 to node 1 and node 3 to node 4 share nothing.
    ends = [(source, goals[0]) for source, goals in network.messages]
    with pytest.raises(EvidenceError):
        Formula(network, 9, [ends.index((0, 1)), ends.index((3, 4))])
    spreading = Network(cchybrid.instance("ring-uni-6", "AAB").to_json())
    assert pinned_messages(Formula(spreading, 5)) == []
    with pytest.raises(EvidenceError):
        Formula(spreading, 5, [0])


def test_time_and_the_will_to_go_on_are_limited():
    network = Network(cchybrid.instance("mesh-3x3", "AAS").to_json())
    formula = Formula(network, 5)
    assert cadical.refute(formula.clauses, 0.05) == cadical.Verdict()
    assert cadical.refute(formula.clauses, 60.0, lambda: True) == cadical.Verdict()


def test_the_solver_says_why_it_failed():
    with pytest.raises(ProofError, match="exit status 1: ValueError: invalid literal"):
        cadical.refute([["one"]], 60.0)


PIGEONS = """
from cchybrid.proof import cadical

holes, pigeons = range(12), range(13)
clauses = [[1 + 12 * p + h for h in holes] for p in pigeons]
clauses += [[-1 - 12 * p - h, -1 - 12 * q - h] for h in holes for p in pigeons for q in range(p)]
cadical.refute(clauses, 600.0)
"""


def solvers(folder: Path) -> list[int]:
    """Return the processes of CaDiCaL whose temporary files would be in that folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            ours = f"TMPDIR={folder}".encode() in (entry / "environ").read_bytes()
            if ours and b"cadical_process" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


@pytest.mark.slow
def test_when_the_parent_is_killed_nothing_is_left(tmp_path):
    parent = subprocess.Popen(
        [sys.executable, "-c", PIGEONS], env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    late = time.monotonic() + 60
    while not solvers(tmp_path):
        assert time.monotonic() < late
        assert parent.poll() is None
        time.sleep(0.05)
    time.sleep(1.0)
    assert solvers(tmp_path)
    parent.kill()
    parent.wait()
    while solvers(tmp_path):
        assert time.monotonic() < late
        time.sleep(0.05)
    assert not list(tmp_path.iterdir())


def test_a_formula_without_clauses_has_a_model_and_an_empty_clause_none():
    assert cadical.refute([[1, 2], [-1]], 20.0).model == frozenset([2])
    proof = cadical.refute([[1], [-1]], 20.0).proof
    assert proof is not None
    check_lrat([[1], [-1]], iter(proof))
    with pytest.raises(EvidenceError):
        check_lrat([[1], [-2]], iter(proof))


def test_what_is_no_proof_is_no_proof():
    for proof, text in (
        (b"xyz", "malformed"),
        (b"a\x80\x80", "malformed"),
        (b"a\x04\x02\x00\x02\x00", "contradiction"),
    ):
        with pytest.raises(ProofError, match=text):
            trimmed(proof, 1)


@pytest.mark.parametrize("topology", ["mesh-3x4", "mesh-10x10"])
def test_too_many_paths_are_refused_in_words(topology, monkeypatch):
    monkeypatch.setattr(routes, "MAX_MOVES", 20_000)
    network = Network(cchybrid.instance(topology, "AAS", routing="any").to_json())
    found = refute(network, 3, 5.0, lambda: False)
    assert found.evidence is None
    assert "paths" in str(found.too_large)
