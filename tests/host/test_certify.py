"""A bound that an engine claims is proven in the remaining time, or refuted."""

import pytest

import cchybrid
from cchybrid.checker import proven_steps
from cchybrid.plugin.registry import load_registry

SPARSE = ("random-links-24-26-2", "OAB")


@pytest.mark.long
def test_a_claim_becomes_a_certificate():
    instance = cchybrid.instance(*SPARSE, root=1)
    found = cchybrid.solve(instance, engines=["cpsat"], time_limit=60)
    assert (found.status, found.certified, found.bound_by) == ("optimal", True, "refutation")
    assert proven_steps(instance.to_json(), found.lower_bound.evidence) == found.steps == 4
    # It goes into the schedule's file, and out of it again.
    assert found.schedule.lower_bound.evidence["kind"] == "refutation"


@pytest.mark.long
def test_certify_can_be_switched_off():
    instance = cchybrid.instance(*SPARSE, root=1)
    found = cchybrid.solve(instance, engines=["cpsat"], time_limit=60, certify=False)
    shown = found.status, found.certified, found.certified_bound.steps
    assert shown == ("optimal", False, 3)


@pytest.mark.slow
def test_a_false_claim_is_refuted_by_a_schedule(monkeypatch):
    """No engine has a schedule that refutes the claim; the prover finds one."""
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.braggart")
    instance = cchybrid.instance("ring-bi-4", "AAB")
    found = cchybrid.solve(
        instance, engines=["brag"], time_limit=20, first_schedule=False, registry=load_registry()
    )
    assert found.steps < 9
    assert found.engine == "prover"
    assert any("brag: claimed a bound" in text for text in found.troubles)
    assert found.lower_bound.steps <= found.steps
