"""``network``: what a network is, as it was read."""

import json
from pathlib import Path
from typing import Annotated

from cchybrid.cli import arguments
from cchybrid.library.formats import NetworkFile
from cchybrid.library.graphs import EXACT
from cchybrid.library.instance_spec import find_file, noting
from cchybrid.library.network_facts import diameter_text, network_facts
from cchybrid.library.routing_tables import dependency_cycle
from cchybrid.model import Collective, Instance, Message, Network
from cchybrid.model.errors import with_context
from cchybrid.model.instance import FORMAT, FORMAT_2, read_json
from cchybrid.view.screen import print_lines

MAX_EXACT = 10**14
"""Number of automorphisms from which on it is approximate."""
_MAX_SHOWN = 8
"""Nodes of a kind that are shown by name."""
_USUAL = ("groups", "none"), ("ticks of a message", "none")
"""Lines that are left out."""


def network(
    source: str,
    ignore_attributes: arguments.IgnoreAttributes = False,
    unit: arguments.Unit = None,
    routing: Annotated[str | None, arguments.option_of_instance("routing")] = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Show what a network is: nodes, channels, capacities, roles, diameter, automorphisms.

    Arguments
    ---------
    source : TOPOLOGY|FILE
        A topology such as mesh-4x4, or the file of a network or an instance.
    """
    from cchybrid.cli.plugin_loading import load_plugins

    arguments.check_graph_options(source, ignore_attributes, unit)
    notes: list[str] = []
    read = noting(notes.append, ignore_attributes=ignore_attributes, unit=unit or EXACT)
    file = _of_instance(source) or find_file(source, load_plugins(), read)
    found = file.network
    modes = {
        role: [found.node_name(node) for node in nodes]
        for role, nodes in (("transmitters", file.transmitters), ("receivers", file.receivers))
    }
    automorphisms = _automorphisms(found)
    facts = {**network_facts(found), **modes, "automorphisms": automorphisms, "notes": notes}
    if routing is not None:
        facts["dependency_cycle"] = dependency_cycle(routing, found)
    if as_json:
        print(json.dumps(facts))
        return
    low, high = facts["out_degree"]
    shown = {
        "capacities": ", ".join(map(str, facts["capacities"])) or "none",
        "half-duplex pairs": _some([f"{a} - {b}" for a, b in facts["half_duplex"]]),
        "groups": _some([" ".join(f"{a}->{b}" for a, b in group) for group in facts["groups"]]),
        "ticks of a message": _some(list(map(str, facts["ticks"]))),
        "endpoints": _some(facts["endpoints"]),
        "switches": _some(facts["switches"]),
        "terminals": str(len(facts["terminals"])),
        "out-degree": str(low) if low == high else f"{low} to {high}",
        "diameter": diameter_text(found, facts["diameter"]),
        "automorphisms": _counted(facts["automorphisms"]),
    }  # fmt: skip
    if routing is not None:
        shown[f"cycle of channels by {routing}"] = facts["dependency_cycle"] or "none: no deadlock"
    if file.modes != (None, None):
        shown.update((role, _some(nodes)) for role, nodes in modes.items())
    lines = [f"{found.name}: {found.nodes} nodes, {len(found.channels)} channels"]
    if found.node_names is not None:
        lines.append(f"  node names: {_some(list(found.node_names))}")
    lines += [f"  {key}: {text}" for key, text in shown.items() if (key, text) not in _USUAL]
    print_lines([*lines, *(f"  note: {note}" for note in notes)])


def _of_instance(source: str) -> NetworkFile | None:
    """Return the network of an instance file, or ``None`` for anything else."""

    if Path(source).suffix.lower() != ".json":
        return None
    record = read_json(source)
    with with_context(source):
        if not isinstance(record, dict) or record.get("format") not in (FORMAT, FORMAT_2):
            return None
        return NetworkFile.of(Instance.from_json(record).network)


def _some(names: list[str]) -> str:
    """Return the number of names and the first ones."""
    if not names:
        return "none"
    rest = ", ..." if len(names) > _MAX_SHOWN else ""
    return f"{len(names)} ({', '.join(names[:_MAX_SHOWN])}{rest})"


def _counted(order: float | None) -> str:
    if order is None:
        return "not computed"
    return str(order) if isinstance(order, int) else f"about {order:.6g}"


def _automorphisms(network: Network) -> int | float | None:
    """Return the number of automorphisms of a network; ``None`` if it is too large.

    From ``MAX_EXACT`` on it is a float of six digits.
    """
    from cchybrid.problem.symmetry.automorphisms import MAX_VERTICES, automorphisms

    nodes = network.terminals
    if len(nodes) < 2 or network.nodes + len(network.channels) > MAX_VERTICES:
        return None
    # A broadcast from every terminal to all others restricts no automorphism of the network.
    messages = tuple(
        Message(node, tuple(other for other in nodes if other != node)) for node in nodes
    )
    order = automorphisms(Instance(network, Collective("AAB", messages))).order
    # nauty counts in floating point.
    return int(order) if order < MAX_EXACT else float(f"{order:.6g}")
