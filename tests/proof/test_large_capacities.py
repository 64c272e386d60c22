"""Bounds of networks with capacities that need more than 64 bits."""

from typing import Any

import pytest

import cchybrid
from cchybrid.checker import proven_steps
from cchybrid.model import Channel, Network
from cchybrid.plugin.registry import load_registry
from cchybrid.proof.asking import bounds_of

HUGE = 1 << 100
PAIRS = [(a, b) for a in range(4) for b in range(4) if a != b]
WIDE = Network("wide", 4, tuple(Channel(a, b, HUGE if (a + b) % 3 else 1) for a, b in PAIRS))
SHARED = Network(
    "shared", 4, tuple(Channel(a, b, HUGE) for a, b in PAIRS), half_duplex=((0, 1), (2, 3))
)


@pytest.mark.parametrize("network", [WIDE, SHARED], ids=lambda network: network.name)
@pytest.mark.parametrize(
    ("collective", "more"),
    [
        ("AAS", {}),
        ("OAB", {}),
        ("AAB", {"switching": "store-and-forward"}),
        ("AAB", {"chunks": 2, "rounds": [3, 4]}),
    ],
)
def test_every_bound_is_found_and_holds(
    network: Network, collective: str, more: dict[str, Any]
) -> None:
    instance = cchybrid.instance(network, collective, **more)
    for provider in load_registry().bounds.values():
        for bound in bounds_of(provider, instance):
            assert proven_steps(instance.to_json(), bound.evidence) == bound.steps == 1
