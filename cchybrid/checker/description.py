"""Lines for people on an instance, derived from its content.

Names are no part of the content, which alone a certificate is about. They prove nothing, so they
come last, as the file's own words.
"""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from cchybrid.checker.certificate import fingerprint, own_scope

_MAX_SHOWN = 60
"""Characters of a list or a name that are shown."""


def describe(instance: Mapping[str, Any]) -> list[str]:
    """Return lines on a well-formed instance: network, messages, model, hash, names in ASCII."""
    network, collective = instance["network"], instance["collective"]
    model, messages = instance.get("model", {}), collective["messages"]
    capacities = {channel[2] if len(channel) > 2 else 1 for channel in network["channels"]}
    ports, end = model.get("ports", "all"), ", last first" * (collective["kind"] == "combine")
    sides = ports if isinstance(ports, dict) else {"inject": ports, "accept": ports}
    sent, got = (_cut(sides[side]) for side in ("inject", "accept"))
    names = [ascii(_cut([part.get("name", "")])) for part in (instance, network, collective)]
    return [
        f"network: {network['nodes']} nodes, counted from 0, {len(network['channels'])} channels "
        f"of capacity {_cut(sorted(capacities))}, {len(network.get('half_duplex', []))} half-"
        f"duplex pairs{_groups(network)}; endpoints: {_nodes(network.get('endpoints', []))}"
        f"{_times(network)}",
        f"messages: {len(messages)} of kind {collective['kind']}, chunks of each: "
        f"{collective.get('chunks', 1)}; {'; '.join(_ends(messages))}",
        f"model: {model.get('switching', 'wormhole')}, {own_scope(instance)}, ports: {sent} to "
        f"inject and {got} to accept; rounds of the steps{end}: {_cut(model.get('rounds') or [1])}",
        f"SHA-256 of the instance: {fingerprint(instance)}",
        f"names in the file: {names[0]}; network {names[1]}, collective {names[2]}",
    ]


def _groups(network: Mapping[str, Any]) -> str:
    """Return the groups of channels that share one capacity, if there are any."""
    groups = network.get("groups", [])
    return f", {len(groups)} groups that share a capacity: {_cut(groups)}" * bool(groups)


def _times(network: Mapping[str, Any]) -> str:
    """Return the latencies and lengths of channels where steps are ticks, else nothing."""
    times = network.get("times", [])
    found = [_cut(sorted({time[place] for time in times})) for place in (0, 1)]
    return f"; latencies {found[0]} and lengths {found[1]} in ticks" * bool(times)


def _ends(messages: list[Mapping[str, Any]]) -> Iterable[str]:
    """Yield the nodes at both ends of the messages, and the number of different pairs."""
    *alone, many = sorted(messages[0], key=lambda end: end[-1] == "s")
    lists: dict[Any, list[list[int]]] = {}
    for message in messages:
        lists.setdefault(message[alone[0]] if alone else 0, []).append(message[many])
    sizes = sorted({len(message[many]) for message in messages})
    # The order of the members is the meaning of a scan.
    orders = [m[many] for m in messages if many == "members" and m[many] != sorted(m[many])]
    order = f", in the order {_cut(orders)}" * bool(orders)
    yield f"{many}: {_nodes(chain(*chain(*lists.values())))}, {_cut(sizes)} per message{order}"
    for end in alone:
        yield f"{end}: {_nodes(lists)}, 1 per message"
        yield f"{sum(len(set(chain(*each))) for each in lists.values())} different pairs"


def _nodes(nodes: Iterable[int]) -> str:
    """Return the number of different nodes, and their ranges."""
    found = set(nodes)
    firsts, lasts = (sorted(node for node in found if node + by not in found) for by in (-1, 1))
    ranges = [f"{a}" if a == b else f"{a}-{b}" for a, b in zip(firsts, lasts, strict=True)]
    return f"{len(found)} ({_cut(ranges)})" if found else "none"


def _cut(items: Any) -> str:
    """Return a value, or a list of values, as text, cut off where it is long."""
    text = ",".join(map(str, items)) if isinstance(items, list) else str(items)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
