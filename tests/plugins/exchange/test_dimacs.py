"""Propositional formulas and refutations, checked by dratify, which shares no code with us."""

import re
from functools import cache
from typing import Any

import pytest
from cchybrid_plugins.exchange import dimacs
from cchybrid_plugins.exchange.claim import Claim
from cchybrid_plugins.exchange.dimacs import described, write_dimacs

import cchybrid
from cchybrid.checker import EvidenceError
from cchybrid.checker import Network as CheckerNetwork
from cchybrid.checker.certificate import own_scope
from cchybrid.checker.refutation import check_lrat
from cchybrid.host.certificates import certificate
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.proof.refutation import refute
from tests.checker.certified import half_duplex_instance

dratify = pytest.importorskip("dratify")

HOPS = "store-and-forward"
CASES = (
    ("spidergon-8", "AAS", 4, {}),
    ("mesh-2x3", "AAB", 5, {"switching": HOPS, "ports": 1}),
    ("ring-bi-6", "AAS", 5, {}),
    ("ring-uni-5", "AAB", 4, {}),
    ("hypercube-8", "OAB", 3, {"ports": 1}),
    ("ring-uni-4", "AAS", 6, {"switching": HOPS}),
    ("mesh-2x3", "reduce", 2, {"routing": "any"}),
    ("mesh-2x2", "allgather", 3, {"chunks": 2}),
    ("b-tree-8", "OAS", 4, {}),
    ("ring-uni-4", "AAB", 3, {}),
    ("", "", 3, {}),  # a half-duplex link
)
"""Instances with their fewest steps."""
PROPAGATED = {8}
"""Formulas that unit propagation refutes, whatever the proof."""


def instance_of(index: int) -> Instance:
    topology, collective, _, more = CASES[index]
    return cchybrid.instance(topology, collective, **more) if topology else half_duplex_instance()


@cache
def refuted(index: int) -> tuple[dict[str, Any], dict[str, Any]]:
    record, steps = instance_of(index).to_json(), CASES[index][2]
    evidence = refute(CheckerNetwork(record), steps - 1, 60.0, lambda: False).evidence
    assert evidence is not None
    return record, certificate(record, {"steps": steps, "scope": own_scope(record)}, evidence, {})


def accepts(formula: str, proof: str) -> bool:
    try:
        return bool(dratify.check_proof(dratify.parse_dimacs(formula), proof).ok)
    except ValueError:
        return False


def clauses_of(text: str) -> list[list[int]]:
    lines = [line for line in text.splitlines() if line[0] not in "cp"]
    return [list(map(int, line.split()[:-1])) for line in lines]


@pytest.mark.parametrize(
    "index",
    [
        # In every run: both kinds of switching, any routing, chunks, a half-duplex link.
        pytest.param(index, marks=[] if index in (0, 1, 6, 7, 10) else [pytest.mark.long])
        for index in range(len(CASES))
    ],
    ids=lambda i: " ".join(CASES[i][:2]),
)
def test_a_refutation_is_accepted_by_another_checker_and_ours(index, tmp_path):
    formula, lrat, drat = (p.read_text() for p in write_dimacs(*refuted(index), tmp_path, 60.0))
    assert accepts(formula, drat)
    assert accepts(formula, "0\n") == (index in PROPAGATED)
    clauses = clauses_of(formula)
    check_lrat(clauses, iter(lrat.splitlines()))
    # All variables false satisfy the clauses with a negative literal, so nothing refutes them.
    clauses = [clause for clause in clauses if min(clause) < 0]
    assert not accepts(as_dimacs(clauses), drat)
    with pytest.raises(EvidenceError):
        check_lrat(clauses, iter(lrat.splitlines()))


def as_dimacs(clauses: list[list[int]]) -> str:
    top = max(abs(literal) for clause in clauses for literal in clause)
    rows = "\n".join(" ".join(map(str, [*clause, 0])) for clause in clauses)
    return f"p cnf {top} {len(clauses)}\n{rows}\n"


def test_evidence_of_another_kind_is_refuted_again(tmp_path):
    instance = cchybrid.instance("hypercube-8", "OAB")
    record = instance.to_json()
    group = {"messages": [0], "worth": [[node, 1] for node in range(1, 8)]}
    evidence = {"kind": "linear", "steps": 2, "groups": [group]}
    found = certificate(record, {"steps": 2, "scope": "any routing"}, evidence, {})
    formula, _, drat = write_dimacs(record, found, tmp_path, 60.0)
    assert accepts(formula.read_text(), drat.read_text())


def test_what_the_file_says_in_words(tmp_path):
    record, found = refuted(0)
    formula = write_dimacs(record, found, tmp_path, 60.0)[0].read_text()
    assert formula.startswith("c spidergon-8 AAS: is there a schedule of at most 3 steps?\n")
    assert "c message 0: from 0 to 1\n" in formula
    assert "c Routing: at most 0 hops more than the fewest.\n" in formula
    assert re.search("^c The last 3 clauses fix messages", formula, re.M)
    pattern = r"^c variable \d+: node \d receives message \d+ in step 1 over path \d-\d-\d$"
    assert re.search(pattern, formula, re.M)
    counted = described(("count", "channel", 0, 1, 2, 4, 0))
    assert counted == "at least 1 of the first 5 messages pass channel 0-1 in step 2"
    used = described(("uses", 0, 1, "channel", 2, 3, 1))
    assert used == "node 1 receives message 0 in step 1 over a path that uses channel 2-3"
    assert "uses a port of node 2" in described(("uses", 0, 1, "inject", 2, 1))
    words = re.findall(r"^c variable \d+: (.*)", formula, re.M)
    assert len({*words}) == len(words)
    named = re.findall(r"^c variable (\d+): ", formula, re.M)
    assert [*map(int, named)] == [*range(1, len(named) + 1)]
    assert f"\np cnf {len(named)} " in formula


def test_what_cannot_be_written_is_one_line(tmp_path, monkeypatch):
    record = cchybrid.instance("mesh-3x3", "AAS").to_json()
    claim = {"steps": 6, "scope": own_scope(record)}
    linear = {"claim": claim, "evidence": {"kind": "linear"}}
    with pytest.raises(InputError, match="CaDiCaL is not done after 0 seconds; use --opb"):
        write_dimacs(record, linear, tmp_path, 0.05)
    monkeypatch.setattr(dimacs.cadical, "is_installed", lambda: False)
    with pytest.raises(InputError, match="needs CaDiCaL; pip install"):
        write_dimacs(record, linear, tmp_path, 1.0)
    monkeypatch.undo()
    (tmp_path / "file").write_text("")
    record, found = refuted(0)
    with pytest.raises(InputError, match=r"formula\.cnf: cannot be written"):
        write_dimacs(record, found, tmp_path / "file", 1.0)


def test_a_name_of_several_lines_adds_none_to_a_formula():
    network = CheckerNetwork(cchybrid.instance("ring-bi-3", "OAB").to_json())
    claim = Claim("x\np cnf 1 1\n1 0\n", network, network, 1, {"kind": "refutation"})
    first, *_ = claim.heading(network)
    assert first == "x\\np cnf 1 1\\n1 0\\n: is there a schedule of at most 1 steps?"


def test_a_formula_of_a_routing_table_has_its_paths(tmp_path):
    table = [[(v + (v != goal)) % 4 for goal in range(4)] for v in range(4)]
    with pytest.warns(UserWarning, match="deadlock is not excluded"):
        record = cchybrid.instance("ring-bi-4", "AAS", routing=table).to_json()
    evidence = {"kind": "linear", "steps": 6, "channels": [[0, 1, 1]]}
    found = certificate(record, {"steps": 6, "scope": "routing table"}, evidence, {})
    formula, _, drat = write_dimacs(record, found, tmp_path, 60.0)
    assert "c Routing: the paths of a table.\n" in formula.read_text()
    assert accepts(formula.read_text(), drat.read_text())
