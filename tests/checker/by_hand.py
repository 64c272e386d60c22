"""Instances by hand, as the checker reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cchybrid.checker.instance import Network

HOPS = {"switching": "store-and-forward"}
ENDS = {"deliver": ("source", "destinations"), "combine": ("destination", "sources")}


def record(
    channels: Iterable[Sequence[int]], *messages: Any, kind: str = "deliver", nodes: int = 0,
    half_duplex: Iterable[Sequence[int]] = (), endpoints: Iterable[int] = (), chunks: int = 1,
    **model: Any,
) -> dict[str, Any]:  # fmt: skip
    """Return an instance.

    A message is its source and destinations, its destination and sources, or its members.
    """
    listed: list[dict[str, Any]] = [{"members": list(members)} for members in messages]
    if kind in ENDS:
        one, many = ENDS[kind]
        listed = [{one: node, many: list(others)} for node, others in messages]
    rows = [list(channel) for channel in channels]
    return {
        "format": "cchybrid-instance/2", "name": "by hand",
        "network": {
            "name": "by hand", "channels": rows,
            "nodes": nodes or 1 + max(node for row in rows for node in row[:2]),
            "half_duplex": [list(pair) for pair in half_duplex], "endpoints": list(endpoints),
        },
        "collective": {"name": kind, "kind": kind, "chunks": chunks, "messages": listed},
        "model": model,
    }  # fmt: skip


def network(*arguments: Any, **more: Any) -> Network:
    """Return the instance of ``record`` as the checker reads it."""
    return Network(record(*arguments, **more))
