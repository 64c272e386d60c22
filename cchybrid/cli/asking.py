"""The arguments by which several commands name an instance."""

from __future__ import annotations

from typing import Annotated

import typer

from cchybrid.library.instance_spec import InstanceSpec
from cchybrid.library.node_lists import parse_nodes

Topology = Annotated[
    str,
    typer.Argument(
        metavar="TOPOLOGY|FILE",
        show_default=False,
        help="A topology such as mesh-4x4, a network file, or an instance file.",
    ),
]
CollectiveName = Annotated[
    str | None,
    typer.Argument(
        metavar="COLLECTIVE",
        show_default=False,
        help="A collective such as AAS; not with an instance file.",
    ),
]
Root = Annotated[int | None, typer.Option(help="The node of one-to-all and all-to-one.")]
Routing = Annotated[
    str | None, typer.Option(metavar="R", help="minimal, any, or a number of extra hops.")
]
Switching = Annotated[str | None, typer.Option(metavar="W", help="wormhole or store-and-forward.")]
PortsText = Annotated[
    str | None, typer.Option("--ports", metavar="K", help="all, K per node, or INJECT,ACCEPT.")
]
FailLink = Annotated[
    list[str] | None,
    typer.Option(metavar="A-B", help="Remove a link (A>B: one direction). May be repeated."),
]
FailNode = Annotated[
    list[int] | None, typer.Option(metavar="N", help="Remove a node's links. May be repeated.")
]
Transmitters = Annotated[
    str | None, typer.Option(metavar="NODES", help="Who sends in MNB and MNS: 0-3,7.")
]
Receivers = Annotated[
    str | None, typer.Option(metavar="NODES", help="Who receives in MNB and MNS: 4-6.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def question(
    topology: str,
    collective: str | None,
    root: int | None,
    routing: str | None,
    switching: str | None,
    ports: str | None,
    fail_link: list[str] | None,
    fail_node: list[int] | None,
    transmitters: str | None,
    receivers: str | None,
) -> InstanceSpec:
    """Return what the user asked, as the interface takes it."""
    return InstanceSpec(
        topology=topology,
        collective=collective,
        root=root,
        routing=routing,
        switching=switching,
        ports=ports,
        fail_links=tuple(fail_link or ()),
        fail_nodes=tuple(fail_node or ()),
        transmitters=None if transmitters is None else parse_nodes(transmitters),
        receivers=None if receivers is None else parse_nodes(receivers),
    )
