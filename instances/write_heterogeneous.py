"""Write the files of the suite ``heterogeneous``: ``python instances/write_heterogeneous.py``.

The clusters are those with which TE-CCL computes (github.com/microsoft/TE-CCL, teccl/topologies),
without start-up times, which do not count in its epochs. Where a switch joins the boxes, GPUs are
endpoints: a message crosses the switch within a transfer and is stored by the next GPU.

The meshes are those of TACOS' unit tests (github.com/astra-sim/tacos, tests), where a channel is
busy until a message has arrived, so the latency is a part of the length. They are instances, as
these times belong to one size of messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import NamedTuple

from cchybrid_plugins.exchange.epoch_networks import EpochNetwork, dgx2, ndv2

import cchybrid
from cchybrid.library.rates import common_divisor
from cchybrid.model import Network
from cchybrid.model.instance import write_text
from cchybrid.model.times import ChannelTime

FOLDER = Path(__file__).parent / "heterogeneous"


class Mesh(NamedTuple):
    """A test of TACOS: sides, GiB/s in rows and columns, microseconds of latency, chunks, GiB."""

    sides: tuple[int, int]
    rates: tuple[int, int]
    latency: str
    chunks: int
    size: int
    parts: int | None = None
    """Ticks of the fast channels, if the times have no common divisor that is large enough."""


MESHES = (
    Mesh((5, 5), (50, 75), "1/2", 1, 1),
    Mesh((8, 5), (80, 35), "1", 2, 1),
    Mesh((7, 10), (16, 73), "3/2", 3, 4, 500),
)


def cluster(name: str, given: EpochNetwork) -> None:
    """Write a cluster of TE-CCL, with the bandwidths of its channels in GB/s."""
    links = sorted(given.links)
    gpus, switches = (tuple(sorted(nodes)) for nodes in (given.gpus, given.switches))
    ends = gpus if switches else ()
    network = Network.from_arcs(name, len(given.nodes), links, switches=switches, endpoints=ends)
    write(name, {
        "format": "cchybrid-network/2",
        "network": network.to_json(),
        "bandwidth": [float(given.links[link]) for link in links],
    })  # fmt: skip


def mesh(test: Mesh) -> None:
    """Write the allgather of a test of TACOS."""
    network = cchybrid.network("mesh-{}x{}".format(*test.sides))
    chunk = Fraction(test.size * 10**6, network.nodes * test.chunks)
    slow = [chunk / rate + Fraction(test.latency) for rate in test.rates]
    tick = common_divisor(slow) if test.parts is None else min(slow) / test.parts
    lengths = [ceil(each / tick) for each in slow]
    times = tuple(ChannelTime(0, lengths[abs(a - b) > 1]) for a, b, _ in network.channels)
    name = "tacos-mesh-{}x{}".format(*test.sides)
    timed = replace(network, name=name, times=times, tick=tick)
    instance = cchybrid.instance(
        timed, "AAB", switching="store-and-forward", chunks=test.chunks if test.chunks > 1 else None
    )
    write(name, instance.to_json())


def write(name: str, record: dict[str, object]) -> None:
    """Write a JSON object, one key a line."""
    lines: Iterable[str] = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in record.items())
    write_text("{" + ",\n ".join(lines) + "}\n", FOLDER / f"{name}.json")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for boxes in (2, 4):
        cluster(f"teccl-ndv2-x{boxes}", ndv2(boxes))
    cluster("teccl-dgx2-x2", dgx2())
    for each in MESHES:
        mesh(each)
