"""GOAL: every send has its receipt, no wait is cyclic, and the right data arrive."""

import re

import networkx as nx
import pytest
from cchybrid_plugins.exchange.export_goal import export_goal

from cchybrid.model.collective import one_and_many
from cchybrid.model.errors import InputError
from tests.plugins.exchange.schedules import COLLECTIVES, schedule

OPERATION = re.compile(
    r"([a-z]\w*): (send|recv) (\d+)b (to|from) (\d+) tag (\d+)( cpu (\d+))?( nic (\d+))?"
)


def parse(text: str):
    """Read a program by the rules of LogGOPSim's parser, a line per operation or wait."""
    head, *lines = text.split("\n")
    assert re.fullmatch(r"num_ranks \d+", head)
    ranks, rank, operations, waits, declared = int(head.split()[1]), None, {}, [], []
    for line in lines:
        if found := re.fullmatch(r"rank (\d+) \{", line):
            assert rank is None
            rank = int(found[1])
            declared.append(rank)
        elif line == "}":
            rank = None
        elif found := OPERATION.fullmatch(line):
            name, kind, size, _, peer, tag, *_, nic = found.groups()
            assert (rank, name) not in operations
            assert (kind == "send") == (found[4] == "to")
            assert int(nic or 0) < 256
            assert int(peer) < ranks
            operations[rank, name] = (kind, int(size), int(peer), int(tag), int(nic or 0))
        elif found := re.fullmatch(r"(\w+) requires (\w+)", line):
            assert (rank, found[1]) in operations, "a label that is not defined before"
            assert (rank, found[2]) in operations, "a label that is not defined before"
            waits.append((rank, found[1], found[2]))
        else:
            assert line == "", line
    assert rank is None
    assert declared == list(range(ranks))
    return ranks, operations, waits


def perform(text: str) -> list:
    """Return the sends in an order in which they can happen, with what each waits for."""
    _, operations, waits = parse(text)
    graph = nx.DiGraph()
    ends = {}
    for (rank, name), (kind, size, peer, tag, _) in operations.items():
        key = (rank, peer, tag, size) if kind == "send" else (peer, rank, tag, size)
        assert (key, kind) not in ends, "two operations that match one"
        ends[key, kind] = rank, name
    for (key, kind), operation in ends.items():
        other = ends.get((key, "recv" if kind == "send" else "send"))
        assert other is not None, f"{operation} is never answered"
        if kind == "send":
            graph.add_edge(operation, other)
    graph.add_edges_from(((rank, after), (rank, name)) for rank, name, after in waits)
    assert nx.is_directed_acyclic_graph(graph), "a cycle of waits"
    return [
        ((rank, name), operations[rank, name], set(graph.predecessors((rank, name))))
        for rank, name in nx.topological_sort(graph)
    ]


@pytest.mark.parametrize("collective", [*COLLECTIVES, "allreduce"])
@pytest.mark.parametrize("switching", ["wormhole", "store-and-forward"])
def test_the_right_data_arrive(collective, switching):
    """A node sends the union of what it waited for and its own: nothing else counts."""
    made = schedule("ring-bi-5", collective, switching=switching, chunks=2)
    instance = made.instance
    transfers = [
        (message, made.parts(step, slot))
        for step, all_of_step in enumerate(made.steps)
        for slot, (message, _) in enumerate(all_of_step)
    ]
    carried = {}
    for (rank, _), (kind, _, peer, tag, _), before in perform(export_goal(made)):
        message, parts = transfers[tag]
        if kind == "recv":
            assert before == {(peer, f"s{tag}")}
            continue
        one, many = one_and_many(instance.collective.messages[message])
        has_part = rank == one or instance.collective.kind != "deliver"
        content = {rank} if has_part and rank in (one, *many) else set()
        for _, label in before:
            assert transfers[int(label[1:])][0] == message
            content |= carried[int(label[1:])]
        assert content, f"rank {rank} sends what it has not"
        if parts:
            assert set(parts) <= content
            content = set(parts)
        carried[tag] = content
    for message, each in enumerate(instance.collective.messages):
        one, many = one_and_many(each)
        kind = instance.collective.kind
        goals = many if kind == "deliver" else (one,) if kind == "combine" else (one, *many)
        for goal in goals:
            arrived = {goal} if kind != "deliver" else set()
            tag = -1
            for all_of_step in made.steps:
                for transfer in all_of_step:
                    tag += 1
                    if transfer.message == message and transfer.path[-1] == goal:
                        arrived |= carried[tag]
            assert arrived == ({one} if kind == "deliver" else {one, *many})


def test_sizes_are_those_of_chunks():
    made = schedule("ring-bi-5", "broadcast", chunks=2)
    assert {each[1] for each in parse(export_goal(made))[1].values()} == {32768}
    assert {each[1] for each in parse(export_goal(made, 1001))[1].values()} == {501}
    with pytest.raises(InputError, match="0 bytes; use at least 1"):
        export_goal(made, 0)
