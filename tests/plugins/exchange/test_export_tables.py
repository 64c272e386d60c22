"""Routing tables and JSON lines, from which the schedule is made again."""

import csv
import json
from collections import Counter

import networkx as nx
from cchybrid_plugins.exchange.export_tables import export_jsonl, export_routes
from hypothesis import given, settings

import cchybrid
from cchybrid.model import Schedule, Transfer
from tests.examples import examples
from tests.plugins.exchange.schedules import gathered_allreduce, made, schedule
from tests.random_instances import valid_schedules


@settings(max_examples=examples(60))
@given(valid_schedules())
def test_the_tables_lead_every_message_over_its_path(found):
    """In each step, walk through the tables from where messages begin to where they end."""
    rows = list(csv.DictReader(export_routes(found).splitlines()))
    table = {
        (row["step"], row["transfer"], row["node"]): (row["message"], row["from"], row["to"])
        for row in rows
    }
    assert len(table) == len(rows)
    for number, step in enumerate(found.steps, 1):
        walked = []
        for (at, transfer, node), (message, before, after) in table.items():
            if at == str(number) and before == "":
                path = [node]
                while after:
                    path.append(after)
                    same, came_from, after = table[at, transfer, after]
                    assert (same, came_from) == (message, path[-2])
                walked.append((int(message), tuple(map(int, path))))
        assert Counter(walked) == Counter(map(tuple, step))


def test_rows_are_in_the_order_of_nodes_and_have_their_names():
    network = cchybrid.network(nx.relabel_nodes(nx.path_graph(3), {0: "x", 1: "b", 2: "a"}))
    instance = cchybrid.instance(network, "broadcast", switching="store-and-forward")
    lines = export_routes(made(instance, 0)).splitlines()
    assert lines == [
        "node,step,transfer,message,from,to", "x,1,1,0,,b", "b,1,1,0,x,", "b,2,1,0,,a",
        "a,2,1,0,b,",
    ]  # fmt: skip


def again(text: str, found: Schedule) -> Schedule:
    steps, sums = [[] for _ in found.steps], [[] for _ in found.steps]
    for record in map(json.loads, text.splitlines()):
        path = tuple(record["path"])
        assert (record["from"], record["to"]) == (path[0], path[-1])
        steps[record["step"] - 1].append(Transfer(record["message"], path))
        sums[record["step"] - 1].append(tuple(record.get("sum", ())))
    return Schedule(
        found.instance, tuple(map(tuple, steps)), sums=tuple(map(tuple, sums)) if found.sums else ()
    )


@settings(max_examples=examples(60))
@given(valid_schedules())
def test_json_lines_have_the_whole_schedule(found):
    assert again(export_jsonl(found), found) == Schedule(found.instance, found.steps)


def test_json_lines_of_sums_and_chunks():
    found = gathered_allreduce("mesh-2x3", chunks=2)
    assert again(export_jsonl(found), found) == found
    first = json.loads(export_jsonl(schedule("ring-bi-4", "allgather", chunks=3)).splitlines()[0])
    assert first["chunk"] == first["message"] % 3
