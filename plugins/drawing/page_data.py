"""The data of a schedule's page: plain numbers, texts and lists, for JSON."""

import json
from collections import Counter
from typing import Any

import numpy as np

from cchybrid.model import Instance, Network, Schedule
from cchybrid.model.collective import one_and_many
from cchybrid.model.errors import InputError
from cchybrid.model.shown import counted

from .artists import symbol
from .bound_picture import bound_picture, bound_sentence
from .link_curves import link_curves
from .positions import nearest_distances, positions
from .step_arrows import MessageKeys

MAX_CHARACTERS = 12_000_000
"""Length of the transfers in JSON; later steps are left out of the page, which says so."""
MAX_NODES = 4096
UNIT = 100.0
"""Length of one unit of positions in the page's coordinates."""
MIN_RADIUS, MAX_RADIUS = 2.0, 19.0


def page_data(schedule: Schedule) -> dict[str, Any]:
    """Return all that the page of a valid schedule shows.

    Returns
    -------
    dict
        ``network``: the nodes with name, place and symbol, the channels as ``[source, target,
        capacity]``, the half-duplex pairs, the lines between nodes that are not straight.
        ``messages``: lists of the source and the destinations (of a reduction: the destination and
        the sources; of an allreduce: the members). ``steps``: per step its transfers, each the
        message and the nodes of its path. ``sums``: of an allreduce, per step and transfer the
        members whose parts it adds up. ``rounds``: those of every step. ``all_steps``: the number
        of steps, also of those left out. ``keys``: the key of every message, which gives its
        colour. ``limits``: the messages that each node can inject, accept and pass on in a round.
        ``bound``: the picture of the lower bound. ``status``: the verdict in words, and whether the
        schedule is certified as optimal.

    Raises
    ------
    InputError
        The network or the collective is too large for a page.
    """
    instance = schedule.instance
    network, messages = instance.network, instance.collective.messages
    if network.nodes > MAX_NODES:
        raise InputError(
            f"{network.nodes:,} nodes are too many for a page",
            where=instance.name,
            hint=f"draw networks of at most {MAX_NODES:,} nodes",
        )
    members = [[one, *many] for one, many in map(one_and_many, messages)]
    room = MAX_CHARACTERS - sum(map(len, members)) * 5
    if room < 0:
        raise InputError(
            f"{len(messages):,} messages with {sum(map(len, members)):,} ends are too many "
            "for a page",
            where=instance.name,
            hint="draw a chart: --chart channels",
        )
    steps = _steps_that_fit(schedule, room)
    if not steps:
        raise InputError(
            "the first step is too large for a page",
            where=instance.name,
            hint="draw a chart: --chart channels",
        )
    keys = MessageKeys(schedule)
    bound, evidence_error = _bound(schedule)
    return {
        "kind": instance.collective.kind,
        "model": _model_words(instance),
        "rounds": list(schedule.rounds),
        "hopByHop": instance.model.hop_by_hop,
        "network": _network(network),
        "messages": members,
        "keys": keys.keys,
        "keyWords": keys.title[0].upper() + keys.title[1:],
        "keysAreNodes": keys.shared != "",
        "steps": steps,
        "sums": [list(map(list, parts)) for parts in schedule.sums[: len(steps)]],
        "allSteps": len(schedule.steps),
        "limits": _limits(instance),
        "bound": bound,
        "status": _status(schedule, evidence_error),
    }


def _steps_that_fit(schedule: Schedule, room: int) -> list[list[list[int]]]:
    """Return the transfers of the first steps, as many as fit into a number of characters."""
    steps: list[list[list[int]]] = []
    for step in schedule.steps:
        lists = [[message, *path] for message, path in step]
        room -= len(json.dumps(lists, separators=(",", ":")))
        if room < 0:
            break
        steps.append(lists)
    return steps


def _network(network: Network) -> dict[str, Any]:
    places = np.array(positions(network)) * (UNIT, -UNIT)
    nearest = nearest_distances(places, places)
    gap = float(min(nearest.min(), UNIT))
    radius = min(MAX_RADIUS, max(MIN_RADIUS, 0.24 * gap))
    pairs = sorted({(min(channel[:2]), max(channel[:2])) for channel in network.channels})
    curves = link_curves(pairs, places, 1.35 * radius)
    return {
        "name": network.name,
        "radius": round(radius, 2),
        "gap": round(gap, 2),
        "nodes": [
            {
                "name": network.node_name(node),
                "x": round(float(x), 1),
                "y": round(float(y), 1),
                "symbol": symbol(network, node),
            }
            for node, (x, y) in enumerate(places)
        ],
        "channels": [list(channel) for channel in network.channels],
        "halfDuplex": [list(pair) for pair in network.half_duplex],
        "curves": [
            [a, b, np.round(curve, 1).tolist()]
            for (a, b), curve in curves.items()
            if len(curve) > 2
        ],
    }


def _limits(instance: Instance) -> list[list[float]]:
    """Return the messages that every node can inject, accept, and pass on, per round.

    Of what is passed on it may be half a message, which several rounds make whole.
    """
    network = instance.network
    out = [0] * network.nodes
    into = list(out)
    links: list[Counter[int]] = [Counter() for _ in out]  # per node: capacity by neighbour
    for source, target, capacity in network.channels:
        out[source] += capacity
        into[target] += capacity
        links[source][target] += capacity
        links[target][source] += capacity
    for a, b in network.half_duplex:
        for node, other in ((a, b), (b, a)):
            links[node][other] -= network.channels[network.channel_index[a, b]].capacity
    model = instance.model
    limits: list[list[float]] = []
    for rates, limit in ((out, model.inject_limit), (into, model.accept_limit)):
        ports = [limit(node) for node in range(len(rates))]
        limits.append(
            [
                rate if port is None else min(rate, port)
                for rate, port in zip(rates, ports, strict=True)
            ]
        )
    # Ports do not limit what is passed on, which takes the links to two neighbours.
    passed: list[float] = []
    for node, link in enumerate(links):
        total, largest = link.total(), max(link.values(), default=0)
        smallest = min(into[node], out[node], total / 2, total - largest)
        passed.append(0 if node in network.endpoints else smallest)
    return [*limits, passed]


def _model_words(instance: Instance) -> str:
    """Return the communication model in words."""
    model = instance.model
    words = {
        "wormhole": "wormhole switching: a message uses its whole path in one step",
        "store-and-forward": "store-and-forward switching: a message moves one hop per step",
    }[model.switching]
    if model.inject is None:
        ports = "all ports"
    elif isinstance(model.inject, int) and isinstance(model.accept, int):
        one = model.inject == model.accept == 1
        ports = "one port" if one else f"{model.inject} injection, {model.accept} acceptance ports"
    else:
        ports = "ports by node"
    if model.hop_by_hop:
        return f"{words}; {ports}"
    routes = {"minimal": "shortest paths", "any": "any paths"}.get(str(model.routing))
    if model.table is not None:
        routes = str(model.table)
    return f"{words}; {ports}; {routes or f'paths of up to {model.routing} extra hops'}"


def _bound(schedule: Schedule) -> tuple[dict[str, Any] | None, str]:
    """Return the picture of the lower bound, and what is wrong with its evidence."""
    stated = schedule.lower_bound
    if stated is None:
        return None, ""
    size = counted(stated.steps, "step")
    try:
        picture = bound_picture(schedule.instance, stated)
        sentence = bound_sentence(schedule.instance, stated)
    except InputError as error:
        text = f"{error.what[:1].upper()}{error.what[1:]}."
        return {"heading": f"The stated lower bound of {size}", "sentence": text}, error.what
    holds = stated.steps <= len(schedule.steps)
    heading = f"Why at least {size}?" if holds else f"The stated lower bound of {size}"
    record: dict[str, Any] = {"heading": heading, "sentence": sentence}
    if picture is not None:
        index = schedule.instance.network.channel_index
        record |= {
            "kind": picture.kind,
            "inside": sorted(picture.inside),
            "channels": [
                [index[hop], round(weight, 4)]
                for hop, weight in sorted(picture.channels.items())
                if hop in index
            ],
            "layers": [list(layer) for layer in picture.layers],
        }
    return record, ""


def _status(schedule: Schedule, evidence_error: str) -> dict[str, Any]:
    """Return the verdict in words."""
    steps, stated = len(schedule.steps), schedule.lower_bound
    optimal = False
    if stated is None:
        text = "; no lower bound is known"
    elif evidence_error:
        text = "; the lower bound is not proven"
    elif stated.steps > steps:
        text = f"; the stated lower bound {stated.steps} is false"
    else:
        certified = bool(stated.evidence) or stated.steps <= 1
        word = "certified" if certified else "claimed"
        optimal = certified and stated.steps == steps
        text = f"; at least {stated.steps} are needed ({word})"
        if stated.steps == steps:
            text = f", optimal ({word})"
    return {"text": counted(steps, "step") + text, "optimal": optimal}
