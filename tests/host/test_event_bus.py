"""The event bus: an observer that raises is removed and named."""

from collections.abc import Mapping
from typing import Any

from cchybrid.host.event_bus import EventBus


def fail(event: Mapping[str, Any]) -> None:
    raise ValueError("bad \ud800\n text")


def test_an_observer_that_raises_is_removed_and_named_in_one_line():
    seen: list[Mapping[str, Any]] = []
    bus = EventBus([("broken", fail), ("sound", seen.append)])
    bus.emit("note", 1.0, {})
    bus.emit("note", 2.0, {})
    assert bus.troubles == ["observer of plugin broken: ValueError: bad text"]
    assert [event["seconds"] for event in seen] == [1.0, 2.0]


def test_an_observer_changes_nothing_of_the_run():
    def forge(event: Any) -> None:
        event["evidence"]["nodes"].append(9)

    seen: list[Mapping[str, Any]] = []
    content = {"evidence": {"nodes": [1]}}
    bus = EventBus([("forger", forge), ("sound", seen.append)], on_event=forge)
    bus.emit("infeasible", 1.0, content)
    assert (bus.troubles, content) == ([], {"evidence": {"nodes": [1]}})
    assert seen[0]["evidence"] == {"nodes": [1]}
    logged = EventBus([], log=forge)
    logged.record(content)
    assert (logged.troubles, content) == ([], {"evidence": {"nodes": [1]}})
