"""The network of a schedule, and what goes over its channels: GraphML, DOT, BookSim's anynet."""

import re
from collections import defaultdict
from itertools import pairwise

from cchybrid.model import Network, Schedule
from cchybrid.model.errors import InputError
from cchybrid.model.text import printable

NOT_IN_XML = "[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""A character that XML does not have or, as a carriage return, does not keep."""
ChannelUses = dict[tuple[int, int], list[tuple[int, str]]]
"""Per channel the steps, from 1, and the words for the messages that use it."""


def export_graphml(schedule: Schedule) -> str:
    """Return the network as GraphML with the attributes that cchybrid reads.

    The label of an edge has the steps in which the channel is used, its description the messages,
    of an allreduce with their sums; the attributes of the graph are its name and the rounds.

    Raises
    ------
    InputError
        All nodes of the network are endpoints: in a graph file none would be; or the name of a
        node has a character that XML lacks.
    """
    import networkx as nx

    network, uses = schedule.instance.network, _uses(schedule)
    if len(network.endpoints) == network.nodes:
        raise InputError(
            "as a graph file, a network whose nodes are all endpoints would have none",
            where=network.name,
            hint="use another format, such as --to jsonl or csv",
        )
    shared = {ends for pair in network.half_duplex for ends in (pair, pair[::-1])}
    graph = nx.DiGraph(**_stated(schedule))
    for node in range(network.nodes):
        data: dict[str, str | bool | float] = {}
        if network.node_names is not None:
            data["label"] = name = network.node_name(node)
            if re.search(NOT_IN_XML, name):
                raise InputError(
                    f"XML lacks a character of the node {printable(name)[:40]}",
                    where=network.name, hint="use another format, such as --to jsonl",
                )  # fmt: skip
        if network.endpoints:
            data["endpoint"] = node in network.endpoints
        if network.switches:
            data["switch"] = node in network.switches
        if network.positions is not None:
            data |= dict(zip("xyz", map(float, network.positions[node]), strict=False))
        graph.add_node(node, **data)
    for source, target, capacity in network.channels:
        edge: dict[str, str | int] = {"capacity": capacity}
        if (source, target) in shared:
            edge["duplex"] = "half"
        if found := uses.get((source, target)):
            edge["label"] = " ".join(map(str, sorted({step for step, _ in found})))
            edge["description"] = "; ".join(f"step {step}: {message}" for step, message in found)
        graph.add_edge(source, target, **edge)
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def export_dot(schedule: Schedule) -> str:
    """Return the network for Graphviz: at every channel the steps in which it is used."""
    network, uses = schedule.instance.network, _uses(schedule)
    lines = [f"digraph {_quoted(schedule.instance.name)} {{"]
    stated = "; ".join(f"{key}: {text}" for key, text in _stated(schedule).items())
    lines.append(f"  graph [label={_quoted(stated)}];")
    for node in range(network.nodes):
        shape = "box" if node in network.switches else "ellipse"
        lines.append(f"  {node} [label={_quoted(network.node_name(node))}, shape={shape}];")
    for source, target, capacity in network.channels:
        found = uses.get((source, target), [])
        steps = ",".join(str(step) for step in sorted({step for step, _ in found}))
        hint = ", ".join(f"step {step}: {message}" for step, message in found)
        style = "solid" if found else "dotted"
        lines.append(
            f"  {source} -> {target} [label={_quoted(steps)}, penwidth={capacity}, "
            f"style={style}, tooltip={_quoted(hint)}];"
        )
    return "\n".join([*lines, "}"]) + "\n"


def export_anynet(schedule: Schedule) -> str:
    """Return the network as a topology file of BookSim: a router per node, a line per router.

    Processors are BookSim's nodes, numbered from 0, each at its router; switches have none.

    Raises
    ------
    InputError
        The network has what BookSim has not: one-way channels, channels of capacities above 1,
        half-duplex links, endpoints with several neighbours.
    """
    network = schedule.instance.network
    _check_anynet(network)
    numbers = {node: number for number, node in enumerate(network.terminals)}
    lines = []
    for router, others in enumerate(network.successors):
        words = [f"router {router}"]
        if router in numbers:
            words.append(f"node {numbers[router]}")
        lines.append(" ".join([*words, *(f"router {other}" for other in others)]))
    return "\n".join(lines) + "\n"


def _check_anynet(network: Network) -> None:
    sizes = sorted({channel.capacity for channel in network.channels})
    reason = ""
    if network.half_duplex:
        reason = "half-duplex links"
    elif not all((b, a) in network.channel_index for a, b, _ in network.channels):
        reason = "channels of one direction"
    elif sizes != [1]:
        reason = f"channels of a capacity ({', '.join(map(str, sizes))})"
    elif any(len(network.successors[node]) > 1 for node in network.endpoints):
        reason = "endpoints with several neighbours, which messages would pass"
    if reason:
        raise InputError(
            f"BookSim's anynet has no {reason}", where=network.name, hint="use --to graphml or dot"
        )


def _uses(schedule: Schedule) -> ChannelUses:
    found: defaultdict[tuple[int, int], list[tuple[int, str]]] = defaultdict(list)
    for number, step in enumerate(schedule.steps, 1):
        for place, (message, path) in enumerate(step):
            words = f"message {message}"
            if schedule.sums:
                words += f" sum {'+'.join(map(str, schedule.parts(number - 1, place)))}"
            for ends in pairwise(path):
                found[ends].append((number, words))
    return found


def _stated(schedule: Schedule) -> dict[str, str]:
    """Return what belongs to the whole schedule: its name, and the rounds of its steps."""
    stated = {"name": printable(schedule.instance.full_name)}
    if schedule.instance.model.rounds:
        stated["rounds"] = " ".join(map(str, schedule.rounds))
    return stated


def _quoted(text: str) -> str:
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
