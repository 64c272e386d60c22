"""The features of the instance that a row names, as columns of tables."""

from collections.abc import Mapping
from typing import Any

from cchybrid.library.roles import listed, senders_and_receivers
from cchybrid.model import Instance
from cchybrid.plugin.benchmark import shown_collective

from .row import SPEC_FIELDS, Row, shown_nodes

NONE, UNKNOWN = "none", "unknown"
"""Values where an instance has nothing of the kind, and where the instance is not known."""


def facts_of(instance: Instance) -> dict[str, Any]:
    """Return the features that do not depend on the words by which an instance was named.

    Nodes are given by their names, where they have any. ``root`` is the only sender, else the only
    receiver, else ``none``; ``routing`` is ``none`` in store-and-forward switching; ports are ``by
    node`` where they differ from node to node.
    """
    network, model = instance.network, instance.model
    names = network.node_names or range(network.nodes)
    senders, receivers = senders_and_receivers(instance.collective)
    hops = model.hop_by_hop
    ports = (model.inject, model.accept)
    sides = [{type(None): "all", int: str(k)}.get(type(k), "by node") for k in ports]
    return {
        "collective": instance.collective.name, "with_sums": instance.collective.with_sums,
        "root": next((names[nodes[0]] for nodes in (senders, receivers) if len(nodes) == 1), NONE),
        "transmitters": listed(senders, network), "receivers": listed(receivers, network),
        "switching": model.switching,
        "routing": NONE if hops else "minimal" if model.routing == 0 else str(model.routing),
        "ports": ",".join(dict.fromkeys(sides)),
        "participants": listed((*senders, *receivers), network),
        "chunks": instance.collective.chunks,
        "rounds": ",".join(map(str, model.rounds or (1,))),
        "nodes": network.nodes, "channels": len(network.channels),
    }  # fmt: skip


def features(row: Row, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for every part of a row's specification, and numbers of nodes and channels.

    Parameters
    ----------
    facts
        The result of ``facts_of`` for the row's instance; where it is unknown an empty mapping:
        then values are ``unknown``, and the numbers ``None``.
    """
    spec = row.spec
    return {
        **dict.fromkeys(SPEC_FIELDS, UNKNOWN), "nodes": None, "channels": None, **facts,
        "topology": row.topology, "fail_links": " ".join(spec.fail_links) or NONE,
        "fail_nodes": shown_nodes(spec.fail_nodes, spec.topology) or NONE,
        **({"collective": shown_collective(spec.collective)} if spec.collective else {}),
    }  # fmt: skip
