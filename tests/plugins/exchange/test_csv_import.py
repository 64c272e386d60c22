"""Schedules as CSV, and round trips through the CSV that cchybrid exports."""

import pytest
from cchybrid_plugins.exchange.csv_import import read_csv, recognises_csv
from cchybrid_plugins.exchange.export_text import export_csv

import cchybrid
from cchybrid.model import (
    AllReduction,
    Channel,
    Collective,
    Instance,
    Message,
    Network,
    Schedule,
    Transfer,
)
from cchybrid.plugin.imported import Imported, ImportRequest
from tests.plugins.exchange.expected import sound
from tests.refusals import refused


def read(text: str, network: Network | None = None, collective: str | None = None) -> Imported:
    performed = None if collective is None else cchybrid.collective(collective, network)
    return read_csv(text, ImportRequest("hand-made", network, performed))


def test_rows_of_source_destination_and_path_become_a_schedule():
    read_again = read("step,source,destination,path\n1,0,2,0 1 2\n2,1,0,\n")
    found = sound(read_again)
    assert found.steps == ((Transfer(0, (0, 1, 2)),), (Transfer(1, (1, 0)),))
    assert found.instance.collective.messages == (Message(0, (2,)), Message(1, (0,)))
    assert found.instance.model.switching == "wormhole"
    assert read_again.place(1, 0) == "line 3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # Hops of one message have one source and destination.
        ("path,destination,source,step\n0->1,2,0,1\n1->2,2,0,2\n", Message(0, (2,))),
        # A source whose message is sent on has one message.
        ("step,source,destination,path\n1,0,1,0 1\n2,0,2,1 2\n2,0,3,0 3\n", Message(0, (1, 2, 3))),
    ],
)
def test_rows_of_one_message(text, message):
    assert sound(read(text)).instance.collective.messages == (message,)


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ("step,message,path", ("1,0,0 1", "2,0,1 2")),
        ("step,message,from,to,path", ("1,0,0,1,0 1", "2,0,1,2,1 2")),
        ("step,message,source,destination", ("1,0,0,1", "2,0,1,2")),
    ],
)
def test_the_order_of_the_rows_says_nothing(columns, rows):
    for order in (rows, rows[::-1]):
        found = read("\n".join((columns, *order)))
        assert sound(found).instance.collective.messages == (Message(0, (1, 2)),)
        assert found.place(0, 0) == f"line {2 + order.index(rows[0])}"


def test_a_network_and_a_collective_may_be_named():
    network = cchybrid.network("mesh-1x3")
    rows = "step,source,destination,path\n1,0,1,0 1\n2,0,2,1 2\n"
    assert sound(read(rows, network, "OAB")).instance.network is network
    with refused("none of AAS"):
        read(rows, network, "AAS")


def test_an_allreduce_whose_members_send_their_own_parts_only_is_read_back():
    instance = cchybrid.instance("complete-3", "allreduce")
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    steps = [[(0, pair) for pair in pairs]]
    schedule = Schedule(instance, steps, sums=(tuple((a,) for a, _ in pairs),))
    for named in (None, "allreduce"):
        found = sound(read(export_csv(schedule), instance.network, named))
        assert found.instance.collective.messages == (AllReduction((0, 1, 2)),)
        assert found.steps == schedule.steps


def test_names_of_nodes_are_kept():
    network = Network("lab", 2, (Channel(0, 1),), node_names=("core 1", "ann"))
    instance = Instance(network, Collective("OAB", (Message(0, (1,)),)))
    text = export_csv(Schedule(instance, [[(0, (0, 1))]]))
    assert "core 1 -> ann" in text
    found = read(text).schedule
    [transfer] = found.steps[0]
    assert [found.instance.network.node_names[n] for n in transfer.path] == ["core 1", "ann"]
    with refused("line 2: lab has no node 'bob': its nodes are core 1 to ann; name the nodes as"):
        read(text.replace("ann", "bob"), network)


def test_a_pattern_is_named_only_where_all_nodes_take_part():
    rows = "step,source,destination\n1,0,1\n1,1,0\n"
    assert read(rows).instance.name == "hand-made AAB, store-and-forward"
    on_mesh = read(rows, cchybrid.network("mesh-3x3"))
    assert on_mesh.instance.name == "mesh-3x3 custom, store-and-forward"
    relayed = read("step,source,destination,path\n1,0,2,0 1 2\n2,2,0,2 1 0\n")
    assert relayed.instance.collective.name == "custom"


def test_a_transfer_without_a_path_goes_from_its_start_not_from_the_origin():
    found = read("step,message,origin,from,to\n1,0,0,0,1\n2,0,0,1,2\n")
    assert found.schedule.steps == ((Transfer(0, (0, 1)),), (Transfer(0, (1, 2)),))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("step,source,destination,path\n", "line 1: no rows"),
        ("step,who\n1,2\n", "line 1: columns step, who; name step"),
        ("step,path\n1\n", "line 2: 1 fields for 2 columns"),
        ("step,path\nfirst,0 1\n", "line 2: 'first' is no step"),
        ("step,path\n0,0 1\n", "line 2: '0' is no step"),
        ("step,path\n9999999,0 1\n", "is no step"),
        ("step,path\n1,0\n", "line 2: a path of less than two nodes"),
        ("step,source,path\n1,0,0 1\n1,,2 3\n", "line 3: no source"),
        ("step,source,destination,path\n1,0,0,0 1\n", "line 2: node 0 would send to itself"),
        ('step,path\n1,"0 1\n', "line 2"),
        ("step,message,origin,path\n1,0,A+B,A+B -> c\n", "line 2: the node name 'A+B', which in"),
        ("step,message,origin,path\n1,0,a,to a -> b\n", "line 2: the node name 'to a', which in"),
        ("step,message,source,destination,path\n1,0,0,2,0 1\n1,1,1,2,1 2\n",
         "line 2: the path ends at 1, not at the destination 2"),
        ("step,message,source,path\n1,0,to 0,1 0\n1,0,to 3,2 0\n",
         "line 3: message 0 has the sources 'to 0' and 'to 3'"),
        ("step,message,origin,from,to\n1,0,0,0,1\n2,0,3,1,2\n",
         "line 3: message 0 has the sources '0' and '3'"),
        ("step,from,to,origin,path\n1,5,1,0,0 1\n",
         "line 2: from is '5', and the row also says '0'"),
        ("step,source,destination,to,path\n1,0,1,5,0 1\n", "line 2: to is '5'"),
        ("step,source,origin,path\n1,0,3,0 1\n", "line 2: origin is '3'"),
        ("step,message,source,destination,path\n1,0,0,1,0 1\n2,1,0,1,0 1\n1,,2,0,2 0\n",
         "line 4: a row without the number of its message"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_said_in_one_line(text, words):
    with refused(words):
        read(text)


def test_numbers_that_are_written_in_another_form_are_names():
    found = read("step,source,destination,path\n1,01,5,01 5\n1,1,5,1 5\n")
    network = found.schedule.instance.network
    assert network.node_names == ("01", "1", "5")
    assert {(a, b) for a, b, _ in network.channels} == {(0, 2), (1, 2)}


def test_headers_are_recognised_in_any_order_and_case():
    assert recognises_csv("Path, Step\n")
    assert recognises_csv("step,destination,source\n")
    assert not recognises_csv("step,source\n")
    assert not recognises_csv("{}")


def test_two_messages_of_a_file_are_not_one_of_a_named_collective():
    text = "step,message,source,path\n1,0,0,0 1\n2,00,0,1 2\n"
    with refused("--collective: the message from 0 to 1 is none of OAB"):
        read(text, cchybrid.network("ring-bi-3"), "OAB")
