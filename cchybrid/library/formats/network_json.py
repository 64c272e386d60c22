"""The format ``cchybrid-network/1``: a network as JSON, with the record of its design if any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cchybrid.model import Network
from cchybrid.model.errors import InputError
from cchybrid.model.instance import FORMAT as INSTANCE_FORMAT
from cchybrid.model.instance import check_format
from cchybrid.model.json_fields import expect, only_keys, parse_json

NETWORK_FORMAT = "cchybrid-network/1"


def is_network(text: str) -> bool:
    """Return whether a text is a JSON object that declares this format."""
    try:
        record = parse_json(text)
    except InputError:
        return False
    return isinstance(record, dict) and record.get("format") == NETWORK_FORMAT


def read_network_json(text: str) -> Network:
    """Return the network in a text.

    Raises
    ------
    InputError
        If the text breaks the format.
    """
    record = expect(parse_json(text), dict, "")
    if record.get("format") == INSTANCE_FORMAT:
        raise InputError(
            "a JSON file of this format holds a whole instance, not a network alone",
            hint="solve it without a collective, or give the file of a network",
        )
    check_format(record, NETWORK_FORMAT)
    only_keys(record, ("format", "network", "design"), "")
    return Network.from_json(record.get("network"))


def network_record(network: Network, design: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the JSON object of a network, and of its ``cchybrid-design/1`` record if any."""
    record = {"format": NETWORK_FORMAT, "network": network.to_json()}
    return record if design is None else {**record, "design": dict(design)}
