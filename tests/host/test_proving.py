"""``verify``, ``prove`` and ``check`` in Python."""

import pytest

import cchybrid
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import MODULES_VARIABLE, load_registry


@pytest.fixture(scope="module")
def schedule() -> cchybrid.Schedule:
    return cchybrid.solve("spidergon-8", "AAS", time_limit=60).schedule


@pytest.mark.slow
def test_a_proof_is_saved_and_checked(schedule, tmp_path):
    lines: list[str] = []
    proof = cchybrid.prove(schedule, time_limit=60, report=lines.append)
    assert proof.optimal
    assert repr(proof) == "<ProofResult of 'spidergon-8 AAS': 4 steps, proven optimal>"
    assert set(proof.tried) <= set(lines)
    schedule.save(tmp_path / "s.json")
    proof.save(tmp_path / "c.json")
    for given in (schedule, tmp_path / "s.json", str(tmp_path / "s.json")):
        for certificate in (proof, proof.certificate, tmp_path / "c.json"):
            verdict = cchybrid.check(given, certificate)
            assert (verdict.steps, verdict.bound, verdict.optimal) == (4, 4, True)


def test_the_certificate_of_another_instance_or_a_higher_claim_fails(schedule):
    proof = cchybrid.prove(schedule, time_limit=60)
    other = cchybrid.solve("ring-bi-4", "AAS").schedule
    with pytest.raises(cchybrid.EvidenceError):
        cchybrid.check(other, proof)
    claim = {**proof.certificate, "claim": {**proof.certificate["claim"], "steps": 5}}
    with pytest.raises(cchybrid.EvidenceError, match="shows 4 steps, the claim says 5"):
        cchybrid.check(schedule, claim)
    with pytest.raises(cchybrid.EvidenceError):
        cchybrid.check(cchybrid.Schedule(schedule.instance, schedule.steps[1:]), proof)


@pytest.mark.slow
def test_providers_of_plugins_prove(monkeypatch):
    monkeypatch.setenv(MODULES_VARIABLE, "tests.full_plugin")
    registry = load_registry()
    registry.bounds = {"halves": registry.bounds["halves"]}
    schedule = cchybrid.solve("double-star-3", "swap", registry=registry).schedule
    proof = cchybrid.prove(schedule, time_limit=20, registry=registry)
    assert (proof.optimal, proof.tried) == (True, ("halves: 4",))
    assert cchybrid.check(schedule, proof).bound == 4


@pytest.mark.slow
def test_a_schedule_that_is_too_long_is_not_optimal(schedule):
    first, *rest = schedule.steps  # the first step becomes two
    longer = cchybrid.Schedule(schedule.instance, (first[:1], first[1:], *rest))
    proof = cchybrid.prove(longer, time_limit=10, stop=lambda: False)
    assert not proof.optimal
    if proof.shorter is not None:
        assert cchybrid.verify(proof.shorter) == ()
        assert len(proof.shorter.steps) < 5


def test_a_search_that_is_stopped_at_once_proves_nothing(schedule):
    proof = cchybrid.prove(schedule, stop=lambda: True)
    assert not proof.optimal
    if proof.certificate is None:
        with pytest.raises(InputError, match="no bound was proven"):
            proof.save("never.json")


def test_violations_are_listed_and_refused(schedule, tmp_path):
    bad = cchybrid.Schedule(schedule.instance, schedule.steps[1:])
    assert {found.rule for found in cchybrid.verify(bad)} == {"missing-destination"}
    with pytest.raises(InputError, match="not a valid schedule"):
        cchybrid.prove(bad)
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(InputError, match=r"no\.json"):
        cchybrid.verify(tmp_path / "no.json")


@pytest.mark.parametrize("seconds", ["x", None, True, 0, -1, float("nan")])
def test_a_time_limit_must_be_a_number_above_zero(schedule, seconds):
    with pytest.raises(InputError, match="time_limit"):
        cchybrid.prove(schedule, time_limit=seconds)


@pytest.mark.parametrize("wrong", [3, None, [], object()])
def test_what_is_no_certificate_is_refused(schedule, wrong):
    with pytest.raises(InputError, match="is no certificate"):
        cchybrid.check(schedule, wrong)
