"""The search for a proof: cheap kinds first, the widest scope, a line for every failure."""

import time

import pytest

import cchybrid
from cchybrid.proof import BOUNDS, cadical, search
from cchybrid.proof.lrat import ProofError
from cchybrid.proof.records import BoundInfo
from cchybrid.proof.search import find_proof
from cchybrid.referee.verify import verify
from tests import deadly_bounds, endless_bounds, lying_bounds

SPARSE = ("random-links-24-26-2", "OAB")
"""A broadcast of 4 steps from node 1; all bounds but refutation prove 3."""


HALVES = {"transmitters": range(8), "receivers": range(8, 16)}
FOUR = {"transmitters": range(4), "receivers": range(4)}


def look(topology, collective, steps, seconds=60.0, **more):
    instance = cchybrid.instance(topology, collective, **more)
    return find_proof(instance, instance.to_json(), steps, seconds, providers=BOUNDS)


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "scope", "topology", "collective", "steps", "more"),
    [
        ("linear", "any routing", "hypercube-8", "OAB", 2, {}),
        ("linear", "any routing", "b-tree-8", "AAB", 7, {}),
        ("linear", "any routing", "spidergon-8", "AAS", 4, {}),
        ("linear", "minimal routing", "kautz-36", "AAS", 34, {}),
        ("linear", "any routing", "spidergon-16", "MNB", 4, HALVES),
        ("linear", "minimal routing", "hypercube-8", "MNB", 2, FOUR),
        ("nested-sets", "any routing", "full-tree-31", "OAB", 4, {"root": 0}),
        ("refutation", "any routing", "random-links-24-26-2", "OAB", 4, {"root": 1}),
    ],
)
def test_kind_and_scope(kind, scope, topology, collective, steps, more):
    proof = look(topology, collective, steps, **more).proof
    assert (proof.evidence["kind"], proof.steps) == (kind, steps)
    if kind != "refutation":
        assert proof.scope == scope


@pytest.mark.slow
def test_rows_on_what_starts_over_a_channel_raise_a_bound():
    """Without the rows "own" and "over", the relaxation has room for 3 steps."""
    proof = look("torus-5x5", "MNB", 4, transmitters=range(8), receivers=range(8, 25)).proof
    assert (proof.evidence["kind"], proof.steps, proof.scope) == ("linear", 4, "any routing")


def test_a_schedule_that_is_too_long_is_met_by_a_shorter_one():
    instance = cchybrid.instance("mesh-3x3", "OAB", root=0)
    found = find_proof(instance, instance.to_json(), 4, 60.0, providers=BOUNDS)
    assert found.shorter is not None
    assert not verify(instance, found.shorter)
    assert "there is a schedule of" in found.tried[-1]


@pytest.mark.slow
def test_without_the_solver_the_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr(cadical, "is_installed", lambda: False)
    found = look(*SPARSE, 4, root=1)
    assert "cchybrid[prove]" in found.tried[-1]
    assert found.proof.steps == 3


@pytest.mark.parametrize("lasting", ["_by_bounds", "_by_rows", "_by_refutation"])
def test_the_time_limit_holds_in_the_midst_of_anything(lasting, monkeypatch):
    monkeypatch.setattr(search._Search, lasting, lambda self: time.sleep(20))
    begun = time.monotonic()
    found = look(*SPARSE, 4, seconds=1.0, root=1)
    assert time.monotonic() - begun < 1.6
    assert found.tried[-1].endswith("not finished")
    assert (found.proof is None) == (lasting == "_by_bounds")


def test_no_time_is_no_proof():
    found = look(*SPARSE, 4, seconds=0.0, root=1)
    assert found.tried == ("bounds: not finished",)


def test_interrupting_keeps_the_best(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "refute_by_rows", interrupt)
    found = look(*SPARSE, 4, root=1)
    assert found.interrupted
    assert found.proof is not None


@pytest.mark.slow
def test_a_solver_that_dies_costs_no_more_than_its_own_proof(monkeypatch):
    def die(*_):
        raise ProofError("the solver ended with exit status -9")

    monkeypatch.setattr(search, "refute", die)
    found = look(*SPARSE, 4, root=1)
    assert found.proof.steps == 3
    assert "exit status -9" in found.tried[-1]


@pytest.mark.slow
def test_providers_that_lie_or_fail_cost_no_proof_and_are_named():
    instance = cchybrid.instance("spidergon-8", "AAS")
    own = (*deadly_bounds.cchybrid_bounds(), *lying_bounds.cchybrid_bounds())
    found = find_proof(instance, instance.to_json(), 4, 60.0, providers=(*own, *BOUNDS))
    assert found.proof is not None
    assert found.proof.steps == 4
    assert found.tried[:4] == (
        "bound deadly: its process ended with status 3",
        "bound boaster: evidence refused: it shows 1 steps, not 99",
        "bound broken failed: ZeroDivisionError: integer division or modulo by zero",
        "bound text failed: AttributeError: 'str' object has no attribute 'evidence'",
    )


def test_a_bound_that_is_no_better_is_listed_only_if_it_is_proved():
    instance = cchybrid.instance("ring-bi-4", "OAB")
    liar = BoundInfo("liar", "tests.lying_bounds:repeat", "", order=99)
    found = find_proof(instance, instance.to_json(), 3, 20.0, providers=(*BOUNDS, liar))
    assert found.proof is not None
    (line,) = (line for line in found.tried if "liar" in line)
    assert line.startswith("bound liar: evidence refused: ")


def test_a_provider_that_does_not_end_leaves_half_of_the_time():
    instance = cchybrid.instance("spidergon-8", "AAS")
    providers = (*endless_bounds.cchybrid_bounds(), *BOUNDS)
    begun = time.monotonic()
    found = find_proof(instance, instance.to_json(), 4, 8.0, providers=providers)
    assert found.tried[0] == "endless: 1; endless: not finished"
    assert found.proof is not None
    assert found.proof.steps == 4
    assert time.monotonic() - begun < 8.6
