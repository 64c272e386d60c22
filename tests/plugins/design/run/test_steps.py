"""``cchybrid.design`` for a collective: network, schedule and what is proven, in one result."""

from __future__ import annotations

import pytest
from cchybrid_plugins.design import api
from cchybrid_plugins.design.api import design
from cchybrid_plugins.design.network.ports import Links
from cchybrid_plugins.design.network.steps_walk import form_of
from cchybrid_plugins.design.network_steps import NoScheduleError

from tests.plugins.design.network.plain_distances import ring


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
