"""Arguments in sentences: every kind of evidence, with numbers that are counted by hand here."""

from itertools import permutations
from typing import Any

import networkx as nx
import pytest

import cchybrid
from cchybrid.checker.instance import Network
from cchybrid.checker.kinds import shown_steps
from cchybrid.host.certificates import certificate
from cchybrid.model import Instance, Message
from cchybrid.view.argument import _paid, argument, explain, payments, rounds_argument

STORED = {"switching": "store-and-forward"}


def linear(steps: int, **tables: object) -> dict[str, object]:
    return {"kind": "linear", "steps": steps, **tables}


def spread(steps: int, nodes: range) -> dict[str, object]:
    """Return evidence that message 0 is not at these nodes in fewer steps."""
    return linear(steps, groups=[{"messages": [0], "worth": [[node, 1] for node in nodes]}])


def lines_of(instance: Instance, evidence: dict[str, Any]) -> list[str]:
    """Return the argument of evidence that the checker accepts."""
    network = Network(instance.to_json())
    steps = shown_steps(network, evidence)
    lines = argument(network, evidence)
    assert lines[-1].endswith(
        f"at least {steps} {'step is' if steps == 1 else 'steps are'} needed."
    ) or lines[-1].endswith(f"at least {steps} steps.")
    return lines


def test_all_messages_pay_for_their_routes():
    instance = cchybrid.instance("spidergon-8", "AAS")
    channels = [[a, b, 1] for a, b in instance.network.channel_index]
    graph = nx.DiGraph((a, b) for a, b, _ in channels)
    far = dict(nx.all_pairs_shortest_path_length(graph))
    hops = sum(far[a][b] for a, b in permutations(range(8), 2))
    assert hops > 3 * len(channels)
    assert lines_of(instance, linear(4, channels=channels)) == [
        "Suppose that 3 steps are enough.",
        f"24 channels have a price; the sum of capacity times price is {3 * 24} in all these "
        "steps.",
        "56 messages pay at least for the cheapest route to the most expensive destination: "
        f"{hops} in all.",
        f"Together that is {hops}, more than 72: at least 4 steps are needed.",
    ]


def test_ports_have_prices_as_channels_have():
    # Four messages enter node 2, which accepts one per step.
    instance = cchybrid.instance("ring-bi-5", "AAS", ports=1)
    assert lines_of(instance, linear(4, accept=[[2, 1]]))[1:3] == [
        "1 acceptance port has a price; the sum of capacity times price is 3 in all these steps.",
        "20 messages pay at least for the cheapest route to the most expensive destination: "
        "4 in all.",
    ]
    # With all ports: 6 messages enter nodes 0 and 1 over 2 channels, and 8 leave them.
    rows = {"channels": [[2, 1, 1], [4, 0, 1]], "inject": [[0, 1], [1, 1]]}
    lines = lines_of(cchybrid.instance("ring-bi-5", "AAS"), linear(3, **rows))
    assert lines[1].startswith("2 channels and 2 injection ports have a price; ")
    assert lines[-1].startswith("Together that is 14, more than 12: ")


def test_prices_of_some_steps_count_in_these_steps():
    # 15 messages enter node 0 from the switch, none in the first step.
    instance = cchybrid.instance("dgx-2", "AAB", **STORED)
    lines = lines_of(instance, linear(16, channels=[[16, 0, 2, 9, 1], [16, 0, 10, 15, 1]]))
    assert lines[1].startswith("1 channel has a price; ")
    assert lines[1].endswith(f"is {15 - 1} in all these steps.")
    assert lines[-1].startswith("Together that is 15, more than 14: ")


def test_a_message_pays_what_its_source_cannot_gain():
    # In one step node 0 sends to 3 of 7 destinations.
    assert lines_of(cchybrid.instance("hypercube-8", "OAB"), spread(2, range(1, 8))) == [
        "Suppose that 1 step is enough.",
        "No channel and no port has a price.",
        "1 message pays at least the worth of all destinations, 7, without what the sources can "
        f"gain: {7 - 3} in all.",
        "Together that is 4, more than 0: at least 2 steps are needed.",
    ]


def test_blocks_and_charges_are_named() -> None:
    # Nodes 0 to 3 are a block of the source, so four of seven destinations count.
    instance = cchybrid.instance("hypercube-8", "OAB")
    values = [[node, 1] for node in range(1, 8)]
    group = {"messages": [0], "worth": values, "blocks": [[0, 1, 2, 3]], "once": [[7, 1, 1, 0]]}
    _, (paid,) = payments(Network(instance.to_json()), linear(3, groups=[group]), 2)
    assert paid.value == 4
    assert _paid(paid).startswith(
        "1 message pays at least the worth of all destinations outside the blocks of their "
        "sources, 4, without what the sources can gain and the largest charges of the receivers: "
    )


def test_groups_are_listed_one_by_one() -> None:
    # On a directed ring, node 1 is entered by 3 messages over one channel.
    evidence = linear(
        3, channels=[[0, 1, 1]],
        groups=[{"messages": [0], "sets": [[1, 1]]}, {"messages": [2], "worth": [[1, 1]]}],
    )  # fmt: skip
    assert lines_of(cchybrid.instance("ring-uni-4", "AAB"), evidence)[2:] == [
        "1 message pays for entering 1 set of nodes: 1 in all.",
        "1 message pays at least the worth of all destinations, 1, without what the sources can "
        "gain: 1 in all.",
        "2 messages pay at least for the cheapest route to the most expensive destination: "
        "1 in all.",
        "Together that is 3, more than 2: at least 3 steps are needed.",
    ]


def test_a_destination_may_be_out_of_reach():
    assert lines_of(cchybrid.instance("hypercube-8", "OAB", **STORED), linear(3)) == [
        "Suppose that 2 steps are enough.",
        "No channel and no port has a price.",
        "1 message: a destination is out of reach of these steps.",
        "So at least 3 steps are needed.",
    ]
    lines = lines_of(cchybrid.instance("ring-bi-4", "AAS", **STORED), linear(2))
    assert lines[2] == "Among 12 messages: a destination is out of reach of these steps."


def test_nested_sets():
    evidence = {"kind": "nested-sets", "message": 0, "sets": [[0, 2, 6, 5], [0, 1, 4, 3]]}
    first, entered, last = lines_of(cchybrid.instance("full-tree-7", "OAB", root=0), evidence)
    assert first == (
        "Message 0 goes from node 0 to 6 destinations; 2 sets of nodes, disjoint or one inside "
        "the other, do not contain its source."
    )
    assert "as many of the nodes and sets inside as the channels into it carry;" in entered
    assert last.endswith(": at least 2 steps.")


@pytest.mark.parametrize("back", [False, True])
def test_a_part_of_an_allreduce(back):
    # On a ring of four nodes with all ports a message reaches 2 of 3 others in one step.
    key = "to" if back else "from"
    evidence = {"kind": "part", key: 0, "evidence": spread(2, range(1, 4))}
    first, *rest, last = lines_of(cchybrid.instance("ring-bi-4", "allreduce"), evidence)
    what = "all parts that node 0 needs reach it"
    if not back:
        what = "the part of node 0 reaches all that need it"
    assert first == f"Every schedule of the allreduce contains transfers by which {what}."
    if back:
        assert rest.pop(0).startswith("Read backwards, on reversed channels, a reduction is a bro")
    assert rest[0] == "Suppose that 1 step is enough."
    assert last == "Together that is 1, more than 0: at least 2 steps are needed."


def test_exchanges():
    # 2(4 - 1) transfers for each of 3 chunks; 8 channels carry 16 in two steps.
    instance = cchybrid.instance("ring-bi-4", "allreduce", chunks=3)
    assert lines_of(instance, {"kind": "exchanges"}) == [
        "A message with n members takes at least 2(n - 1) transfers, 18 in all.",
        "Channels and ports carry fewer in 2 steps: at least 3 steps are needed.",
    ]


@pytest.mark.parametrize("collective", ["AAB", "AAR"])
@pytest.mark.parametrize("steps", [3, None])
def test_rounds_per_chunk_and_throughput(collective, steps):
    # Node 0 of a DGX-1 gets 7 messages from 4 neighbours, over 6 links.
    instance = cchybrid.instance("dgx-1", collective, **STORED)
    evidence = {"kind": "linear", "channels": [[node, 0, 1] for node in (1, 2, 3, 4)]}
    within = "any number of steps" if steps is None else "at most 3 steps"
    lines = rounds_argument(Network(instance.to_json()), evidence, steps)
    if collective == "AAR":
        assert lines.pop(0).startswith("Read backwards, on reversed channels, a reduction is a bro")
    assert lines == [
        f"Let the messages be cut into equal chunks and take {within}.",
        "4 channels have a price; the sum of capacity times price is at most 6 in one round.",
        "8 messages pay at least for the cheapest route to the most expensive destination: "
        "7 in all.",
        "So all chunks need 7/6 rounds per chunk: at least 7/6.",
    ]


def test_a_certificate_is_read_within_its_scope():
    # By shortest paths both messages take the channel from 0 to 1; by other paths neither has to.
    instance = cchybrid.instance("ring-bi-5", [Message(0, (2,)), Message(0, (1,))])
    record, evidence = instance.to_json(), linear(2, channels=[[0, 1, 1]])
    found = certificate(record, {"steps": 2, "scope": "minimal routing"}, evidence, {})
    assert explain(record, found)[2].endswith(": 2 in all.")


def test_a_refutation_counts_its_formula_and_its_proof():
    pytest.importorskip("pysat")
    from cchybrid.checker.clauses import Formula
    from cchybrid.proof.refutation import refute

    instance = cchybrid.instance("mesh-4x4", "OAB", root=5)
    network = Network(instance.to_json())
    evidence = refute(network, 1, 60.0, lambda: False).evidence
    formula = Formula(network, 1, evidence.get("order", []))
    first, second = lines_of(instance, evidence)
    assert first == (
        f"A propositional formula of {len(formula.number):,} variables and "
        f"{len(formula.clauses):,} clauses says that there is a schedule of 1 step; the checker "
        "makes it from the instance."
    )
    assert second.startswith("A proof of ")


def test_nodes_are_called_by_their_names():
    names = ("1", "2", "3")
    network = cchybrid.Network.from_links("line", 3, [(0, 1), (1, 2)], node_names=names)
    result = cchybrid.solve(network, "allreduce", time_limit=30)
    evidence = result.lower_bound.evidence
    assert evidence["kind"] == "part"
    node = evidence.get("from", evidence.get("to"))
    record = result.instance.to_json()
    first = argument(Network(record), evidence, names)[0]
    assert f"node {names[node]}" in first
    assert f"node {node}" not in first
