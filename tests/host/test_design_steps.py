"""``cchybrid.design`` for a collective: network, schedule and what is proven, in one result."""

from __future__ import annotations

import pytest

import cchybrid
from cchybrid.checker.design import check_design
from cchybrid.host.design_api import design
from cchybrid.model.errors import InputError
from cchybrid.referee.verify import verify_schedule


def test_a_design_for_a_collective() -> None:
    result = design(8, 3, collective="alltoall", designers=["exhaustive"], time_limit=30, threads=1)
    assert (result.steps, result.steps_bound, result.proven) == (4, 4, "by a bound")
    schedule = result.schedule
    assert schedule is not None
    assert verify_schedule(schedule) == ()
    assert result.network is not None
    assert schedule.instance.network.channels == result.network.channels
    record = result.record()
    assert record["claims"]["steps_bound"] == 4
    check_design(record)
    assert result.to_json()["steps"] == 4


def test_wrong_collectives_are_refused() -> None:
    with pytest.raises(InputError, match="not designed for"):
        design(8, 3, collective="multicast")
    with pytest.raises(InputError, match="fault tolerance"):
        design(8, 3, collective="AAS", fault_tolerant=True)
    with pytest.raises(cchybrid.InputError, match="no number of ports"):
        design(8, 3, collective="AAS", ports="many")
