"""Reading of files by the checker: every field that it relies on is validated."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network

INSTANCE_FORMATS = "cchybrid-instance/1", "cchybrid-instance/2"
SCHEDULE_FORMAT, SUMS_FORMAT = "cchybrid-schedule/1", "cchybrid-schedule/2"
LABELS = "name", "positions", "node_names", "switches"
"""Fields of networks and collectives that restrict no schedule."""
_MAX_NODES = 1 << 20
_MAX_MESSAGES = 1 << 22
_MAX_ROUNDS = 1_000_000
_MAX_NUMBER = 1 << 128
"""Larger numbers are refused: their products could have more digits than Python writes."""


def read_network(record: Any, routing: str | int | None = None) -> Network:
    """Return the network of an object of the instance format.

    Parameters
    ----------
    record
        The object, from any source.
    routing
        Replaces the instance's own routing rule.

    Raises
    ------
    EvidenceError
        If the object is not well-formed.
    """
    try:
        _check_instance(record)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise EvidenceError("the instance is not well-formed") from None
    if routing is not None:
        record = {**record, "model": {**record.get("model", {}), "routing": routing}}
    return Network(record)


def read_steps(record: Any) -> list[list[tuple[int, tuple[int, ...]]]]:
    """Return the transfers of every step of an object of the schedule format."""
    formats = SCHEDULE_FORMAT, SUMS_FORMAT
    if not isinstance(record, Mapping) or record.get("format") not in formats:
        raise EvidenceError(f"this is no {' or '.join(formats)}")
    try:
        return [
            [(whole(move["message"]), tuple(map(whole, list_of(move["path"])))) for move in step]
            for step in list_of(record["steps"])
        ]
    except (KeyError, TypeError, ValueError):
        raise EvidenceError("the steps of the schedule are not well-formed") from None


def read_sums(record: Any) -> list[list[frozenset[int]]]:
    """Return, per step and transfer, the members whose parts are added up; else an error."""
    if record["format"] != SUMS_FORMAT:
        raise EvidenceError(f"the schedule of an allreduce is no {SUMS_FORMAT}")
    try:
        sums = [[[*map(whole, list_of(move["sum"]))] for move in step] for step in record["steps"]]
    except (KeyError, TypeError, ValueError):
        raise EvidenceError("the sums of the schedule are not well-formed") from None
    if any(len(set(parts)) != len(parts) for step in sums for parts in step):
        raise EvidenceError("a sum counts a part twice")
    return [list(map(frozenset, step)) for step in sums]


def read_json(text: str) -> Any:
    """Parse JSON; a repeated key or a value such as NaN is an error.

    Raises
    ------
    ValueError
        If the text is not such JSON.
    """

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a key is listed twice in one object")
        return found

    def refuse(word: str) -> float:
        raise ValueError(f"{word} is no number")

    def finite(word: str) -> float:
        number = float(word)
        return number if abs(number) < math.inf else refuse(word)

    return json.loads(text, object_pairs_hook=distinct, parse_constant=refuse, parse_float=finite)


def _check_instance(record: Any) -> None:
    """Raise one of Python's errors unless the instance is well-formed."""
    only(record, "format", "name", "network", "collective", "model")
    _require(record["format"] in INSTANCE_FORMATS)
    parted = record["format"] == INSTANCE_FORMATS[1]
    network, collective, model = record["network"], record["collective"], record.get("model", {})
    only(network, "nodes", "channels", "half_duplex", "endpoints", *LABELS)
    nodes = whole(network["nodes"])
    _require(0 < nodes <= _MAX_NODES)
    channels: dict[tuple[int, int], int] = {}
    for row in list_of(network["channels"]):
        a, b, *rest = map(whole, list_of(row))
        _require(a < nodes and b < nodes and a != b and (a, b) not in channels and len(rest) < 2)
        channels[a, b] = rest[0] if rest else 1
        _require(channels[a, b] > 0)
    pairs: set[tuple[int, int]] = set()
    for pair in list_of(network.get("half_duplex", [])):
        a, b = map(whole, list_of(pair))
        _require(channels[a, b] == channels[b, a] and not {(a, b), (b, a)} & pairs)
        pairs.add((a, b))
    _require(all(whole(node) < nodes for node in list_of(network.get("endpoints", []))))
    only(collective, "name", "kind", "messages", *["chunks"][:parted])
    all_reduce = parted and collective["kind"] == "allreduce"
    back = all_reduce or {"deliver": False, "combine": True}[collective["kind"]]
    one, many = ("destination", "sources") if back else ("source", "destinations")
    count = len(list_of(collective["messages"]))
    _require(0 < count * max(1, whole(collective.get("chunks", 1))) <= _MAX_MESSAGES)
    _require(collective.get("chunks", 1) > 0)
    for message in collective["messages"]:
        if all_reduce:
            only(message, "members")
            ends = list(map(whole, list_of(message["members"])))
        else:
            only(message, one, many)
            ends = [whole(message[one]), *map(whole, list_of(message[many]))]
        _require(len(ends) > 1 and len(set(ends)) == len(ends) and max(ends) < nodes)
    only(model, "switching", "ports", "routing", *["rounds"][:parted])
    _require(all(0 < whole(number) <= _MAX_ROUNDS for number in list_of(model.get("rounds", []))))
    _require(model.get("switching", "wormhole") in ("wormhole", "store-and-forward"))
    routing = model.get("routing", "minimal")
    _require(routing in ("minimal", "any") or whole(routing) >= 0)
    ports = model.get("ports", "all")
    if isinstance(ports, dict):
        only(ports, "inject", "accept")
    for limit in (ports["inject"], ports["accept"]) if isinstance(ports, dict) else (ports,):
        each = limit if isinstance(limit, list) else [limit] * nodes
        _require(limit == "all" or (len(each) == nodes and all(whole(k) >= 0 for k in each)))


def only(record: Any, *keys: str) -> None:
    """Raise ``ValueError`` unless this is an object without other keys."""
    _require(isinstance(record, dict) and set(record) <= set(keys))


def list_of(value: Any) -> list[Any]:
    """Return a list; raise ``TypeError`` for anything else."""
    if not isinstance(value, list):
        raise TypeError
    return value


def whole(value: Any) -> int:
    """Return a whole number from 0 to ``_MAX_NUMBER``; raise ``TypeError`` for anything else."""
    if type(value) is not int or not 0 <= value <= _MAX_NUMBER:
        raise TypeError
    return value


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError
