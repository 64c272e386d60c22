"""Certificates about rounds with one error each claim no more than is so."""

import pytest
from cchybrid_plugins.pipelining.proof.round_bounds import round_bound

from cchybrid.proof.reach import farthest
from tests.checker.test_rounds import CASES, accepted


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_mutants_that_are_accepted_are_true(name):
    for change, verdict, read in accepted(name):
        whole = read.instance.in_chunks(1).with_model(rounds=())
        # More steps never need more rounds, so the bound of a few more steps is large enough.
        best = round_bound(whole, min(len(read.steps), farthest(whole) + 2))
        assert verdict.bound <= best.ratio, change
