"""The examination of everything small notices wrong claims about rounds per chunk."""

import pytest

from tests.exhaustive.test_examine import disagreements, one_more
from tests.plugins.pipelining import small_claims


@pytest.mark.slow
@pytest.mark.parametrize("family", ["throughput_claims", "claims_of_steps"])
def test_a_bound_above_the_optimum_is_noticed(monkeypatch, family):
    monkeypatch.setattr(small_claims, family, one_more(getattr(small_claims, family)))
    assert "is above" in disagreements()


@pytest.mark.slow
@pytest.mark.parametrize("answer", [True, False])
def test_throughput_of_an_instance_that_has_none_is_noticed(monkeypatch, answer):
    # Of the three-node cases of the tenth, none is without chunks, rounds and other such features.
    monkeypatch.setattr(small_claims, "has_throughput", lambda record: answer)
    assert ("throughput is defined: False" in disagreements()) == answer
