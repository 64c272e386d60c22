"""Draw the suite ``general``: ``python instances/write_general.py``.

120 instances of the kinds of ``KINDS``, drawn with a fixed seed: the sample on which the strength
of the solver on unseen networks is measured. Every other instance is of the training half, from
which priors may be set; the others are the test half. What has a name becomes a line of
``general/general.csv``; half duplex, capacities and switches become instance files beside it.
"""

from __future__ import annotations

import csv
import io
import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import networkx as nx

from cchybrid.library.collectives import collective
from cchybrid.library.node_lists import format_nodes
from cchybrid.library.topologies import fail, network
from cchybrid.model import Instance, Network
from cchybrid.model.instance import write_text

SEED = 2026
COLUMNS = (
    "topology", "collective", "root", "transmitters", "receivers", "routing", "switching", "ports",
    "fail_links", "fail_nodes", "note",
)  # fmt: skip
REGULAR_SIZES = (16, 20, 24, 28, 32, 40, 48, 64)
TRAINING, TEST = "training", "test"

Line = dict[str, str]
Draw = Callable[[random.Random], "Line | Instance"]


def regular(draw: random.Random) -> Line:
    """Draw a collective on a random regular network."""
    topology = _regular(draw, REGULAR_SIZES, (3, 4, 5))
    return {"topology": topology, "collective": draw.choice(("AAB", "AAS", "OAB", "OAS"))}


def regular_broadcast(draw: random.Random) -> Line:
    """Draw all-to-all broadcast on a random network of degree 3."""
    return {"topology": _regular(draw, range(18, 66, 2), (3,)), "collective": "AAB"}


def large_scatter(draw: random.Random) -> Line:
    """Draw all-to-all scatter on a network of 63 to 128 nodes."""
    topology = draw.choice(
        (
            f"{draw.choice(('mesh', 'torus'))}-{draw.randint(7, 9)}x{draw.randint(9, 12)}",
            _regular(draw, (80, 96, 112, 128), (4, 5)),
        )
    )
    return {"topology": topology, "collective": "AAS"}


def data_centre(draw: random.Random) -> Line:
    """Draw a collective on a network of a data centre."""
    topology = draw.choice(
        (
            "dragonfly-3x2", "dragonfly-4x2", "dragonfly-4x3", "slim-fly-3", "slim-fly-5",
            "slim-fly-7", "hyperx-3x3x3", "hyperx-3x5", "hyperx-4x5", "de-bruijn-2-5",
            "de-bruijn-3-3", "kautz-36", "ccc-3", "ccc-4", "3-ary-2-tree", "3-ary-3-tree",
            "4-ary-2-tree",
        )
    )  # fmt: skip
    return {"topology": topology, "collective": draw.choice(("AAB", "AAS"))}


def irregular(draw: random.Random) -> Line:
    """Draw a collective on an irregular network."""
    return {"topology": _irregular(draw), "collective": draw.choice(("AAB", "AAS", "OAB"))}


def odd_grid(draw: random.Random) -> Line:
    """Draw a collective on a mesh or torus with odd sides, or of three dimensions."""
    kind = draw.choice(("mesh", "torus"))
    sides = draw.choice(
        (
            f"{draw.choice((5, 7))}x{draw.choice((5, 7, 9))}",
            f"{draw.choice((5, 7))}x{draw.choice((6, 8))}",
            f"3x{draw.choice((3, 4))}x{draw.choice((4, 5))}",
        )
    )
    return {"topology": f"{kind}-{sides}", "collective": draw.choice(("AAB", "AAS"))}


def faulty(draw: random.Random) -> Line:
    """Draw a collective on a grid or hypercube with failed links or nodes that stays connected."""
    topology = draw.choice(("torus-6x6", "torus-5x5", "mesh-6x6", "mesh-5x7", "hypercube-32"))
    whole = network(topology)
    while True:
        links: list[str] = []
        nodes: list[int] = []
        if draw.random() < 0.6:
            pairs = sorted({(min(a, b), max(a, b)) for a, b, _ in whole.channels})
            links = [f"{a}-{b}" for a, b in sorted(draw.sample(pairs, draw.randint(2, 4)))]
        else:
            nodes = sorted(draw.sample(range(whole.nodes), draw.randint(1, 3)))
        graph = nx.DiGraph((a, b) for a, b, _ in fail(whole, links, nodes).channels)
        if len(graph) == whole.nodes - len(nodes) and nx.is_strongly_connected(graph):
            return {
                "topology": topology,
                "collective": draw.choice(("AAB", "AAS")),
                "fail_links": " ".join(links),
                "fail_nodes": format_nodes(nodes) if nodes else "",
            }


def ports(draw: random.Random) -> Line:
    """Draw a collective with one or two ports."""
    return {
        "topology": _regular_or_irregular(draw),
        "collective": draw.choice(("AAB", "AAS", "OAB")),
        "ports": draw.choice("12"),
    }


def routing(draw: random.Random) -> Line:
    """Draw a collective with any routing, or with paths of one more hop than the shortest."""
    return {
        "topology": _regular(draw, (16, 20, 24), (3,)),
        "collective": draw.choice(("AAB", "AAS")),
        "routing": draw.choice(("any", "1")),
    }


def hop_by_hop(draw: random.Random) -> Line:
    """Draw a collective with store-and-forward switching and all ports."""
    return {
        "topology": _regular_or_irregular(draw),
        "collective": draw.choice(("AAB", "AAS", "OAB")),
        "switching": "store-and-forward",
    }


def one_port_hop_by_hop(draw: random.Random) -> Line:
    """Draw a collective with store-and-forward switching and one port."""
    topology = draw.choice((_regular_or_irregular(draw), "mesh-4x5", "mesh-5x5", "mesh-4x6"))
    return {
        "topology": topology,
        "collective": draw.choice(("AAB", "AAB", "AAS", "OAB")),
        "switching": "store-and-forward",
        "ports": "1",
    }


def combining(draw: random.Random) -> Line:
    """Draw a reduction."""
    return {
        "topology": _regular_or_irregular(draw),
        "collective": draw.choice(("AAR", "AOR")),
        "switching": draw.choice(("wormhole", "store-and-forward")),
    }


def many_to_many(draw: random.Random) -> Line:
    """Draw a many-to-many collective between two parts of a network."""
    topology = draw.choice((_regular_or_irregular(draw), "mesh-5x5", "mesh-5x6", "torus-6x6"))
    nodes = network(topology).nodes
    split = draw.randint(nodes // 4, nodes // 2)
    return {
        "topology": topology,
        "collective": draw.choice(("MNB", "MNB", "MNS")),
        "transmitters": format_nodes(range(split)),
        "receivers": format_nodes(range(split, nodes)),
    }


def group(draw: random.Random) -> Line:
    """Draw a collective among some of the nodes; the others pass messages on."""
    topology = draw.choice((_regular(draw, (24, 32, 48), (3, 4)), "torus-6x6", "mesh-6x6"))
    nodes = network(topology).nodes
    members = format_nodes(sorted(draw.sample(range(nodes), draw.randint(8, nodes // 2))))
    return {
        "topology": topology,
        "collective": draw.choice(("MNB", "MNS")),
        "transmitters": members,
        "receivers": members,
        "switching": draw.choice(("wormhole", "store-and-forward")),
    }


def multicast(draw: random.Random) -> Line:
    """Draw a multicast to about a third of the nodes."""
    topology = _regular(draw, (32, 48, 64), (3, 4))
    nodes = network(topology).nodes
    chosen = sorted(draw.sample(range(1, nodes), nodes // 3))
    return {"topology": topology, "collective": f"multicast:{format_nodes(chosen)}", "root": "0"}


def permutation(draw: random.Random) -> Line:
    """Draw a random permutation."""
    topology = draw.choice(("torus-7x7", "mesh-6x6", _regular(draw, (48, 64), (4,))))
    return {"topology": topology, "collective": f"permutation:random-{draw.randint(1, 999)}"}


def half_duplex(draw: random.Random) -> Instance:
    """Draw a collective on a network whose links carry one direction at a time."""
    plain = network(draw.choice((_regular(draw, (14, 16, 18, 20), (3,)), "mesh-4x5")))
    pairs = tuple(sorted({(min(a, b), max(a, b)) for a, b, _ in plain.channels}))
    name = f"half-duplex-{plain.name}"
    return _instance(replace(plain, name=name, half_duplex=pairs), draw)


def capacities(draw: random.Random) -> Instance:
    """Draw a collective on a network some of whose links carry two messages per step."""
    plain = network(_regular(draw, (16, 20, 24), (3, 4)))
    double = {(min(a, b), max(a, b)) for a, b, _ in plain.channels if draw.random() < 0.2}
    channels = tuple(
        channel._replace(capacity=1 + ((min(channel[:2]), max(channel[:2])) in double))
        for channel in plain.channels
    )
    return _instance(replace(plain, name=f"capacities-{plain.name}", channels=channels), draw)


def switches(draw: random.Random) -> Instance:
    """Draw a collective on a network of leaf and spine switches."""
    leaves, spines, hosts = draw.randint(3, 5), draw.randint(2, 3), draw.randint(3, 5)
    terminals = leaves * hosts
    links = [(host, terminals + host // hosts) for host in range(terminals)]
    links += [
        (terminals + leaf, terminals + leaves + spine)
        for leaf in range(leaves)
        for spine in range(spines)
    ]
    plain = Network.from_links(
        f"leaf-spine-{leaves}x{spines}x{hosts}",
        terminals + leaves + spines,
        links,
        endpoints=tuple(range(terminals)),
    )
    return _instance(plain, draw)


KINDS: Mapping[str, tuple[int, Draw]] = {
    "random regular": (16, regular),
    "random regular AAB": (8, regular_broadcast),
    "large AAS": (6, large_scatter),
    "data centre": (14, data_centre),
    "irregular": (9, irregular),
    "odd grid": (9, odd_grid),
    "faults": (7, faulty),
    "ports": (8, ports),
    "routing": (3, routing),
    "store-and-forward": (8, hop_by_hop),
    "one port, hop by hop": (5, one_port_hop_by_hop),
    "reductions": (4, combining),
    "many-to-many": (7, many_to_many),
    "groups": (4, group),
    "multicast": (2, multicast),
    "permutations": (2, permutation),
    "half duplex": (4, half_duplex),
    "capacities": (2, capacities),
    "switches": (2, switches),
}
"""The kinds, in the proportions of two earlier samples of 116 instances: how many, and by what."""


def _regular(draw: random.Random, sizes: range | tuple[int, ...], degrees: tuple[int, ...]) -> str:
    return f"random-regular-{draw.choice(sizes)}-{draw.choice(degrees)}-{draw.randint(1, 9999)}"


def _irregular(draw: random.Random) -> str:
    nodes, seed = draw.randint(18, 36), draw.randint(1, 9999)
    name = draw.choice(
        (
            f"random-geometric-{nodes}-8-{seed}",
            f"random-links-{nodes}-{2 * nodes}-{seed}",
            f"scale-free-{nodes}-2-{seed}",
            f"small-world-{nodes}-4-{seed}",
        )
    )
    return network(name).name


def _regular_or_irregular(draw: random.Random) -> str:
    return draw.choice((_regular(draw, (16, 20, 24, 28, 32), (3, 4)), _irregular(draw)))


def _instance(net: Network, draw: random.Random) -> Instance:
    return Instance(net, collective(draw.choice(("AAB", "AAS")), net))


def write(folder: Path) -> list[Path]:
    """Write the suite's table and instance files into ``folder`` / ``general``; return them."""
    target = folder / "general"
    target.mkdir(parents=True, exist_ok=True)
    draw = random.Random(SEED)
    lines: list[Line] = []
    written: list[Path] = []
    for kind, (count, draw_one) in KINDS.items():
        seen: set[str] = set()
        while len(seen) < count:
            half = TRAINING if len(lines) % 2 else TEST
            drawn = draw_one(draw)
            if isinstance(drawn, Instance):
                path = target / f"{drawn.name.replace(' ', '-')}.json"
                if path not in written:
                    drawn.save(path)
                    written.append(path)
                drawn = {"topology": f"../{target.name}/{path.name}"}  # from the suite
            text = " ".join(drawn.values())
            if text not in seen:
                seen.add(text)
                lines.append({**drawn, "note": f"{half}: {kind}"})
    out = io.StringIO()
    out.write("# Written by write_general.py: unseen instances, drawn at random by kind.\n")
    table = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(lines)
    write_text(out.getvalue(), target / "general.csv")
    return [target / "general.csv", *written]


if __name__ == "__main__":
    files = write(Path(__file__).parent)
    print(f"{len(files)} files, {sum(path.stat().st_size for path in files) // 1024} KiB")
    sys.exit(0)
