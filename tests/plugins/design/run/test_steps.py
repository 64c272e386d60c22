"""``cchybrid.design`` for a collective: network, schedule and what is proven, in one result."""

from __future__ import annotations

import pytest
from cchybrid_plugins.design import api
from cchybrid_plugins.design.api import design
from cchybrid_plugins.design.network.ports import Links
from cchybrid_plugins.design.network.steps_walk import form_of
from cchybrid_plugins.design.network_steps import NoScheduleError

import cchybrid
from cchybrid.design_checker import check_design
from cchybrid.model.errors import InputError
from cchybrid.referee.verify import verify_schedule
from tests.plugins.design.network.plain_distances import ring


@pytest.mark.long
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


def test_an_initial_network_is_kept_as_a_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The designers' cheaper networks follow it, all different up to isomorphism."""
    seen: list[list[Links]] = []

    def search(task, starts, **rest):  # type: ignore[no-untyped-def]
        seen.append(starts)
        raise NoScheduleError("none")

    monkeypatch.setattr(api, "fewest_steps", search)
    result = design(
        8, 3, collective="AAB", initial="ring-bi-8", designers=["annealing"], time_limit=5,
        threads=1,
    )  # fmt: skip
    [starts] = seen
    assert {*starts[0]} == {(min(link), max(link)) for link in ring(8)}
    assert 2 <= len(starts) <= api.MAX_STARTS
    assert len({form_of(result.task, links) for links in starts}) == len(starts)
    assert result.network is not None
    assert (result.steps, result.schedule, result.proven) == (None, None, "")
    assert result.steps_bound == 3
    assert result.remarks[-1].startswith("fewest-steps: ")


def test_an_interrupted_search_keeps_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(task, starts, **rest):  # type: ignore[no-untyped-def]
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "fewest_steps", search)
    result = design(6, 3, collective="AAS", designers=["exhaustive"], time_limit=5, threads=1)
    assert result.interrupted
    assert result.network is not None
    assert result.schedule is None


def test_wrong_collectives_are_refused() -> None:
    with pytest.raises(InputError, match="not designed for"):
        design(8, 3, collective="multicast")
    with pytest.raises(InputError, match="fault tolerance"):
        design(8, 3, collective="AAS", fault_tolerant=True)
    with pytest.raises(cchybrid.InputError, match="no number of ports"):
        design(8, 3, collective="AAS", ports="many")
