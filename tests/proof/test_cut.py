"""Cuts of sets of nodes: which sets are tried, and evidence of large networks."""

import pytest
from hypothesis import given, settings

import cchybrid
from cchybrid.checker import proven_steps
from cchybrid.model import Instance
from cchybrid.proof import cut, cut_prices
from cchybrid.proof.cut import cut_bounds
from tests.examples import drawn
from tests.named_instances import named
from tests.random_instances import instances


def shown(instance: Instance) -> int:
    """Return the most steps that a cut shows; assert that the checker accepts each."""
    best = 0
    for bound in cut_bounds(instance.forward):
        assert proven_steps(instance.forward.to_json(), bound.evidence) == bound.steps
        best = bound.steps
    return best


@pytest.mark.parametrize("name", ["rails-4x4", "cluster-4x4"])
def test_larger_sets_are_tried_around_switches(name, monkeypatch):
    """The switch of a box, and its GPUs, where balls around all nodes are too many."""
    instance = cchybrid.instance(name, "AAB")
    assert shown(instance) == 4
    nodes = instance.network.nodes
    monkeypatch.setattr(cut, "MAX_NEAR_SETS", nodes * nodes)
    assert shown(instance) == 4
    monkeypatch.setattr(cut, "MAX_NEAR_SETS", nodes)
    assert shown(instance) < 4


def shown_as_large(instance: Instance) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cut_prices, "MAX_ALONE", 0)
        patch.setattr(cut_prices, "MAX_ROUTED", 0)
        return shown(instance)


@pytest.mark.parametrize(
    "words",
    [
        "rails-4x4 AAB", "rails-4x4 AAS", "rails-4x4 AAB hops", "cluster-3x4 AAR", "b-tree-8 AAB",
        "mesh-3x4 AAB ports=1", "mesh-3x4 AAB hops ports=1", "kautz-12 AAB", "torus-4x4 AAB hops",
        "2-fat-mesh-2x2 AAB", "mesh-2x8 OAB", "mesh-2x8 AAB ports=2 hops",
    ],
)  # fmt: skip
def test_evidence_of_large_networks_shows_as_many_steps(words):
    instance = named(words)
    assert shown_as_large(instance) == shown(instance) > 0


@settings(drawn(100))
@given(instances())
def test_evidence_of_large_random_networks_shows_as_many_steps(instance):
    assert shown_as_large(instance) == shown(instance)
