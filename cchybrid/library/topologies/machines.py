"""Real machines and backbones, as published; ``machines.json`` holds them with their sources.

The JSON object has for every name the ``summary``, the ``source`` (a paper or a program that
lists the links), the ``links`` as ``[node, node, capacity]`` and the ``positions`` of all nodes.
Links run both ways unless ``directed`` is true. The first nodes are endpoints if there are
``endpoints``; those after the first ``processors`` are switches. There may be ``node_names``, and a
``note`` says what the capacities mean. The positions are for drawing, not geography. What an entry
lacks it has from that of the name ``like``, if any.

Accelerators have the ``bandwidth`` of a capacity of 1 in GB/s in each direction, the ``latency`` of
a link in microseconds, those of ``slow`` links, if any, and in ``figures`` the sources of both. A
``cluster`` has the bandwidth and the latency of the links of a NIC; its ``nics`` are pairs of the
GPUs that send and receive over one, by default one for each GPU; ``switches`` is their number, by
default 1, and ``adapters`` is true if NICs are nodes.

The accelerators are those of the papers on SCCL (PPoPP 2021), ForestColl (2024) and TE-CCL
(SIGCOMM 2024), and of data sheets, the backbones those of the program rwa-wdm-sim.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from importlib import resources
from typing import Any

from cchybrid.library.rates import Rates, common_divisor
from cchybrid.library.records import TopologyInfo
from cchybrid.library.topologies.clusters import cluster
from cchybrid.library.topologies.sizes import whole
from cchybrid.model import Channel, Network


def machine(name: str, record: Mapping[str, Any]) -> Network:
    """Return the network of one entry of ``machines.json``; parallel links are capacity."""
    arcs = [(a, b) for a, b, capacity in record["links"] for _ in range(capacity)]
    build = Network.from_arcs if record.get("directed") else Network.from_links
    nodes = len(record["positions"])
    names = record.get("node_names")
    return build(
        name,
        nodes,
        arcs,
        endpoints=tuple(range(record.get("endpoints", 0))),
        switches=tuple(range(record.get("processors", nodes), nodes)),
        node_names=None if names is None else tuple(names),
        positions=tuple((float(x), float(y)) for x, y in record["positions"]),
    )


def machine_rates(record: Mapping[str, Any], network: Network) -> Rates:
    """Return the bandwidths and latencies of one entry, which has some."""
    slow = record.get("slow", {"links": []})
    figures = []
    for a, b, capacity in network.channels:
        bandwidth = capacity * _decimal(record["bandwidth"])
        figures.append(slow if [a, b] in slow["links"] else {**record, "bandwidth": bandwidth})
    bandwidths, latencies = (
        tuple(_decimal(each[key]) for each in figures) for key in ("bandwidth", "latency")
    )
    rounded = bandwidths if slow["links"] else ()
    return Rates(_decimal(record["bandwidth"]), latencies, rounded, tuple(record["figures"]))


def cluster_of(
    machine_name: str, record: Mapping[str, Any], rails: str, boxes: str
) -> tuple[Network, Rates]:
    """Return the cluster of a number of machines, and its rates.

    With ``rails``, a word of the name, NIC k of every box is on switch k. Capacities are the
    bandwidths over their greatest common divisor.
    """
    joint = record["cluster"]
    box = machine(machine_name, record)
    gpus = range(len(box.terminals))
    nics = [(a, b) for a, b in joint.get("nics") or [(gpu, gpu) for gpu in gpus]]
    inner, outer = _decimal(record["bandwidth"]), _decimal(joint["bandwidth"])
    unit = common_divisor([outer, *(inner * channel.capacity for channel in box.channels)])
    scaled = [Channel(a, b, int(size * inner / unit)) for a, b, size in box.channels]
    network = cluster(
        f"{machine_name}{rails}-x{boxes}",
        replace(box, channels=tuple(scaled)),
        whole(boxes),
        nics,
        capacity=int(outer / unit),
        switches=len(nics) if rails else joint.get("switches", 1),
        adapters=not rails and joint.get("adapters", False),
    )
    return network, Rates(
        unit,
        tuple(_latency(network, record, *channel[:2]) for channel in network.channels),
        sources=(*record["figures"], *joint["figures"]),
    )


def _latency(network: Network, record: Mapping[str, Any], a: int, b: int) -> Fraction:
    kinds = {re.sub(r"[\d.]+", "", network.node_name(node)) for node in (a, b)}
    if "ib" in kinds:
        return _decimal(record["cluster"]["latency"])
    return Fraction(0) if "nic" in kinds else _decimal(record["latency"])


@cache
def _decimal(number: float) -> Fraction:
    return Fraction(str(number))


def _families() -> Iterator[TopologyInfo]:
    """Yield the family of every machine, and then those of clusters."""
    text = (resources.files(__package__) / "machines.json").read_text(encoding="utf-8")
    read: dict[str, Any] = json.loads(text)
    records = {
        name: {**read.get(record.get("like"), {}), **record} for name, record in read.items()
    }
    for name, record in records.items():
        info = TopologyInfo(
            name, name, name, partial(machine, name, record), record["summary"], name
        )
        rated = "bandwidth" in record
        yield replace(info, rates=partial(machine_rates, record)) if rated else info
    for name, record in records.items():
        joint = record.get("cluster")
        if joint:
            yield _cluster_family(name, record, "", joint["summary"])
        if joint and len(joint.get("nics", record["positions"])) > 1:
            yield _cluster_family(name, record, "-rails", "NIC k of each on switch k")


def _cluster_family(name: str, record: Mapping[str, Any], rails: str, summary: str) -> TopologyInfo:
    family = f"{name}{rails}-x"

    def rates(network: Network) -> Rates:
        boxes = network.name.removeprefix(family)
        return cluster_of(name, record, rails, boxes)[1]

    return TopologyInfo(
        family,
        f"{family}N",
        rf"{family}(\d+)",
        lambda boxes: cluster_of(name, record, rails, boxes)[0],
        f"N {name}: {summary}",
        f"{family}{4 if name == 'ndv2' else 2}",
        rates=rates,
    )


FAMILIES = tuple(_families())
