"""Schedules and networks as tables, graphs, arrays and figures."""

from itertools import pairwise

import numpy as np
import pytest

import cchybrid
from cchybrid.model.errors import InputError
from cchybrid.plugin.records import NameInfo
from cchybrid.plugin.registry import Registry
from cchybrid.view import extras, plot

NAMES = ("R1", "<b>", "R 3", "sw")
STAR = cchybrid.Network.from_links(
    "star", 4, [(0, 3), (1, 3), (2, 3), (2, 3)], node_names=NAMES, switches=(3,),
    half_duplex=((0, 3),), positions=((0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (1.0, 1.0)),
)  # fmt: skip


@pytest.fixture(scope="module")
def schedule() -> cchybrid.Schedule:
    found = cchybrid.solve(STAR, "alltoall", time_limit=30).schedule
    assert found is not None
    return found


def test_the_table_has_a_line_for_every_use_of_a_channel(schedule):
    frame = schedule.to_frame()
    assert len(frame) == schedule.channel_uses
    rows = set(zip(frame["step"], frame["message"], frame["tail"], frame["head"], strict=True))
    assert rows == {
        (number, message, tail, head)
        for number, step in enumerate(schedule.steps, 1)
        for message, path in step
        for tail, head in pairwise(path)
    }
    for column in ("source", "target", "tail", "head"):
        assert list(frame[f"{column}_name"]) == [NAMES[node] for node in frame[column]]
    messages = schedule.instance.collective.messages
    for row in frame.itertuples():
        assert messages[row.message] == cchybrid.Message(row.source, (row.target,))


def test_a_schedule_without_steps_has_an_empty_table():
    empty = cchybrid.Schedule(cchybrid.instance("ring-bi-4", "AAS"), ())
    assert list(empty.to_frame())[:3] == ["message", "step", "source"]
    assert len(empty.to_frame()) == 0
    assert empty.utilisation().uses.shape == (8, 0)


def test_a_step_of_several_rounds_carries_as_many_times_more():
    instance = cchybrid.instance("ring-bi-4", "reduce", rounds=[1, 2])
    steps = [[(0, (2, 1)), (0, (3, 0))], [(0, (1, 0))]]
    found = cchybrid.Schedule(instance, steps).utilisation()
    assert found.capacity.tolist() == [[2, 1]] * 8  # rounds count from the last step


def test_the_array_adds_up_and_keeps_within_the_capacities(schedule):
    found = schedule.utilisation()
    assert found.uses.shape == (len(STAR.channels), len(schedule.steps))
    assert found.uses.sum() == schedule.channel_uses
    assert (found.uses <= found.capacity).all()
    row = found.channels.index(("R 3", "sw"))
    assert found.capacity[row].tolist() == [2] * len(schedule.steps)
    frame = schedule.to_frame()
    used = frame[(frame.tail_name == "R 3") & (frame.head_name == "sw")]
    counts = np.bincount(used["step"], minlength=len(schedule.steps) + 1)[1:]
    assert (found.uses[row] == counts).all()


def test_the_graph_of_a_schedule_has_the_steps_of_every_channel(schedule):
    graph = schedule.to_networkx()
    assert set(graph) == set(NAMES)
    uses = schedule.utilisation()
    for (tail, head), row in zip(uses.channels, uses.uses, strict=True):
        edge = graph.edges[tail, head]
        assert edge["steps"] == (np.flatnonzero(row) + 1).tolist()
        assert len(edge["messages"]) == row.sum()


@pytest.mark.parametrize(
    "network", [STAR, *map(cchybrid.network, ("mesh-3x3", "kautz-12", "amp-8", "omega-8"))]
)
def test_the_graph_of_a_network_is_read_again_as_the_same_network(network):
    again = cchybrid.network(network.to_networkx())
    assert again.channels == network.channels
    assert (again.endpoints, again.switches) == (network.endpoints, network.switches)
    assert {frozenset(pair) for pair in again.half_duplex} == {
        frozenset(pair) for pair in network.half_duplex
    }
    assert again.node_names == network.node_names


def test_a_network_of_endpoints_alone_has_no_graph():
    ends = cchybrid.Network.from_links("ends", 2, [(0, 1)], endpoints=(0, 1))
    with pytest.raises(InputError, match="ends: as a graph, a network whose nodes are all endpoi"):
        ends.to_networkx()


def test_a_channel_that_does_not_exist_is_named():
    instance = cchybrid.instance("ring-bi-4", "AAS")
    wrong = cchybrid.Schedule(instance, ((cchybrid.Transfer(0, (0, 2)),),))
    for convert in (wrong.utilisation, wrong.to_networkx):
        with pytest.raises(InputError, match="0->2, which the network does not have"):
            convert()


def test_without_pandas_one_line_says_what_to_install(schedule, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install"):
        schedule.to_frame()


def test_a_plugin_draws_figures(schedule, monkeypatch):
    registry = Registry()
    monkeypatch.setattr(plot, "load_registry", lambda: registry)
    with pytest.raises(InputError, match="no plugin draws figures"):
        STAR.plot()
    registry.names["draw"] = NameInfo("draw", f"{__name__}:drawn")
    assert [STAR.plot(), schedule.plot()] == [(STAR,), (schedule, None)]
    assert schedule.plot(step=np.int64(1)) == (schedule, 1)
    with pytest.raises(InputError, match="'one' is no whole number"):
        schedule.plot(step="one")  # type: ignore[arg-type]


def drawn(*values: object) -> object:
    return values
