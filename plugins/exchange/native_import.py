"""Schedule files of cchybrid, so that an audit takes them as any other file."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from cchybrid.model import Network, Schedule, Transfer
from cchybrid.model.collective import AnyMessage, one_and_many
from cchybrid.model.errors import InputError
from cchybrid.model.json_fields import parse_json
from cchybrid.plugin.imported import Imported, ImportRequest

from .message_table import at_nodes, match_messages
from .placement import nodes_by_name


def recognises_native(text: str) -> bool:
    """Return whether a text is a schedule file of cchybrid."""
    return re.search(r'"format"\s*:\s*"cchybrid-schedule/', text) is not None


def read_native(text: str, request: ImportRequest) -> Imported:
    """Return a schedule file of cchybrid, on another network or for another collective if asked.

    Nodes are found in the other network by their names, and messages in the other collective by
    their ends, as numbers may mean something else there.

    Raises
    ------
    InputError
        The file cannot be read, a message is none of the collective, or a node none of the network.
    """
    read = Schedule.from_json(parse_json(text))
    if request.network is not None:
        read = _on_network(read, request.network)
    instance, steps = read.instance, read.steps
    if request.collective is not None:
        listed: tuple[AnyMessage, ...] = instance.collective.messages
        collective, numbers = match_messages(
            request.collective, dict(enumerate(listed)), request.network
        )
        # A number that the file does not list is left to the referee.
        steps = tuple(
            tuple(Transfer(numbers.get(m, len(collective.messages)), path) for m, path in step)
            for step in steps
        )
        instance = replace(instance, collective=collective, name="")
    schedule = Schedule(instance, steps, sums=read.sums)
    places = {
        (s, t): f"step {s + 1}, transfer {t + 1}"
        for s, step in enumerate(read.steps)
        for t in range(len(step))
    }
    return Imported(instance, schedule, places=places)


def _on_network(read: Schedule, network: Network) -> Schedule:
    """Return a schedule on the nodes of another network that have the same names."""
    instance, steps, sums = read.instance, read.steps, read.sums
    collective, model = instance.collective, instance.model
    if network.node_names != instance.network.node_names:
        if model.table or isinstance(model.inject, tuple) or isinstance(model.accept, tuple):
            raise InputError(
                "ports of each node or a routing table, and the nodes have other names there",
                where="--topology", hint="name the network of the file",
            )  # fmt: skip
        messages: tuple[AnyMessage, ...] = collective.messages
        used = {node for one, many in map(one_and_many, messages) for node in (one, *many)}
        used |= {node for step in steps for _, path in step for node in path}
        names = {n: instance.network.node_name(n) for n in range(instance.network.nodes)}
        index = nodes_by_name({n: name for n, name in names.items() if n in used}, network)

        def there(nodes: Iterable[int]) -> tuple[int, ...]:
            # A node that the file does not list is left to the referee.
            return tuple(index.get(node, network.nodes) for node in nodes)

        steps = tuple(tuple(Transfer(m, there(path)) for m, path in step) for step in steps)
        sums = tuple(tuple(map(there, step)) for step in sums)
        moved: Any = tuple(at_nodes(message, index) for message in messages)
        collective = replace(collective, messages=moved)
    instance = replace(instance, network=network, collective=collective, name="")
    return Schedule(instance, steps, sums=sums)
