"""``cchybrid.design`` for a collective: network, schedule and what is proven, in one result."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cchybrid_plugins.design import api
from cchybrid_plugins.design.api import design
from cchybrid_plugins.design.network.ports import Links
from cchybrid_plugins.design.network.steps_walk import form_of
from cchybrid_plugins.design.network_steps import NoScheduleError, fewest_steps

from cchybrid.host.event_bus import EventBus
from tests.plugins.design.network.plain_distances import ring


class Late(EventBus):
    """The search for the fewest steps seems to end after 100 seconds."""

    def now(self) -> float:
        return 100.0


@pytest.mark.slow
def test_an_initial_network_is_kept_as_a_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The designers' cheaper networks follow it, all different up to isomorphism."""
    seen: list[list[Links]] = []

    def search(task, starts, **rest):  # type: ignore[no-untyped-def]
        seen.append(starts)
        raise NoScheduleError("none")

    monkeypatch.setattr(api, "fewest_steps", search)
    monkeypatch.setattr(api, "EventBus", Late)
    monkeypatch.setattr(api, "DESIGNERS_SHARE", 0.9)  # enough also on a busy machine
    result = design(
        8, 3, collective="AAB", initial="ring-bi-8", designers=["annealing"], time_limit=20,
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
    assert result.budget["seconds"] == 20
    assert result.seconds > 100


@pytest.mark.slow
def test_an_interrupted_search_keeps_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(task, starts, **rest):  # type: ignore[no-untyped-def]
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "fewest_steps", search)
    monkeypatch.setattr(api, "EventBus", Late)
    result = design(6, 3, collective="AAS", designers=["exhaustive"], time_limit=5, threads=1)
    assert result.interrupted
    assert (result.budget["seconds"], result.seconds > 100) == (5, True)
    assert result.network is not None
    assert result.schedule is None


CHORDS = ((0, 2), (1, 4), (3, 5))


@pytest.mark.parametrize(
    ("chosen", "designer"), [(ring(6), "start"), ([*ring(6), *CHORDS], "fewest-steps")]
)
def test_the_network_has_its_own_designer_and_seconds(
    chosen: list[tuple[int, int]], designer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = tuple(sorted((min(link), max(link)) for link in chosen))

    def search(task, starts, **rest):  # type: ignore[no-untyped-def]
        found = fewest_steps(task, [links], time_limit=1, threads=1)
        return replace(found, links=links, seconds=60.0, seconds_to_best=50.0)

    monkeypatch.setattr(api, "fewest_steps", search)
    result = design(
        6, 3, collective="OAS", initial="ring-bi-6", designers=["exhaustive"], time_limit=20,
        threads=1,
    )  # fmt: skip
    assert (result.links, result.designer) == (links, designer)
    assert (result.seconds_to_best >= 50) == (designer == "fewest-steps")
    assert 60 < result.seconds < 80
    assert result.budget["seconds"] == 20
    assert result.to_json()["overrun"] == round(result.seconds - 20, 3)
