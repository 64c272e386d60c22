"""Real machines and backbones, as published; ``machines.json`` holds them with their sources.

The JSON object has for every name the ``summary``, the ``source`` (a paper or a program that
lists the links), the ``links`` as ``[node, node, capacity]`` and the ``positions`` of all nodes.
Links run both ways unless ``directed`` is true. The first nodes are endpoints if there are
``endpoints``; those after the first ``processors`` are switches. There may be ``node_names``, and a
``note`` says what the capacities mean. The positions are for drawing, not
geography. The accelerators are those of the papers on SCCL (PPoPP 2021), ForestColl (2024) and
TE-CCL (SIGCOMM 2024), the backbones those of the program rwa-wdm-sim.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from importlib import resources
from typing import Any

from cchybrid.library.records import TopologyInfo
from cchybrid.model import Network


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


def _read() -> dict[str, Any]:
    text = (resources.files(__package__) / "machines.json").read_text(encoding="utf-8")
    records: dict[str, Any] = json.loads(text)
    return records


FAMILIES = tuple(
    TopologyInfo(name, name, name, partial(machine, name, record), record["summary"], name)
    for name, record in _read().items()
)
