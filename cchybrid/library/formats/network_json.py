"""The formats ``cchybrid-network``: a network as JSON.

Version 1 has the record of the network's design, if any; version 2 the bandwidth of every channel
in GB/s, from which its capacity follows, and perhaps its latency in microseconds.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from cchybrid.library.formats.network_file import NetworkFile
from cchybrid.library.rates import Rates, common_divisor
from cchybrid.model import Channel, Network
from cchybrid.model.errors import InputError
from cchybrid.model.instance import FORMAT as INSTANCE_FORMAT
from cchybrid.model.instance import check_format
from cchybrid.model.json_fields import expect, only_keys, parse_json, take_list

NETWORK_FORMAT, NETWORK_FORMAT_2 = "cchybrid-network/1", "cchybrid-network/2"


_RATES = "bandwidth", "latency"


def read_number(value: Any, where: str) -> Fraction:
    """Return a number by the decimals that it shows."""
    return Fraction(str(expect(value, float, where)))


def is_network(text: str) -> bool:
    """Return whether a JSON text is an object that declares this format."""
    record = parse_json(text)
    return isinstance(record, dict) and record.get("format") in (NETWORK_FORMAT, NETWORK_FORMAT_2)


def read_network_json(text: str) -> NetworkFile:
    """Return the network in a text, with its rates if it has them.

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
    with_rates = record.get("format") == NETWORK_FORMAT_2
    if not with_rates:
        check_format(record, NETWORK_FORMAT)
    only_keys(record, ("format", "network", *(_RATES if with_rates else ("design",))), "")
    network = Network.from_json(record.get("network"))
    if network.times or network.tick is not None:
        raise InputError(
            "a network alone has no ticks",
            where="network.times",
            hint=f'give "format": "{NETWORK_FORMAT_2}" with bandwidth and latency',
        )
    return _with_rates(network, record) if with_rates else NetworkFile.of(network)


def _with_rates(network: Network, record: Mapping[str, Any]) -> NetworkFile:
    """Return a network whose capacities are its bandwidths over their greatest common divisor."""
    numbers = {key: take_list(record, key, read_number, "", []) for key in _RATES}
    bandwidths, latencies = numbers["bandwidth"], numbers["latency"]
    for key, values in numbers.items():
        if len(values) != len(network.channels) and (values or key == "bandwidth"):
            raise InputError(
                f"{len(values)} numbers for {len(network.channels)} channels",
                where=key,
                hint="give one per channel",
            )
    if any(each <= 0 for each in bandwidths) or any(each < 0 for each in latencies):
        raise InputError("a number below 0, or no bandwidth", where="bandwidth", hint="correct it")
    if any(channel.capacity > 1 for channel in network.channels):
        raise InputError(
            "capacities beside bandwidths", where="network.channels", hint="leave the former out"
        )
    unit = common_divisor(bandwidths)
    channels = tuple(
        Channel(a, b, int(each / unit))
        for (a, b, _), each in zip(network.channels, bandwidths, strict=True)
    )
    return NetworkFile.of(replace(network, channels=channels), Rates(unit, latencies))


def network_record(network: Network, design: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the JSON object of a network, and of its ``cchybrid-design/1`` record if any."""
    record = {"format": NETWORK_FORMAT, "network": network.to_json()}
    return record if design is None else {**record, "design": dict(design)}
