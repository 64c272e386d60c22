"""Farkas bounds: duals of the time-expanded relaxation that the checker accepts as prices."""

import json

import pytest

import cchybrid
from cchybrid.checker import Network, proven_steps
from cchybrid.model import Instance
from cchybrid.proof.contradiction import find_contradiction
from cchybrid.proof.farkas import MAX_TERMS, farkas_bounds, refute, refuting_rows
from cchybrid.proof.relaxation import Relaxation


def refuted(instance: Instance, steps: int) -> int:
    """Return the steps that evidence against a number of steps shows, 0 if there is none."""
    record = instance.to_json()
    evidence = refute(record, steps, MAX_TERMS)
    return 0 if evidence is None else proven_steps(record, json.loads(json.dumps(evidence)))


def mnb(topology: str, senders: range, receivers: range, **more: object) -> Instance:
    return cchybrid.instance(topology, "MNB", transmitters=senders, receivers=receivers, **more)


@pytest.mark.parametrize(
    ("topology", "senders", "receivers", "steps"),
    [
        ("spidergon-8", range(4, 8), range(4, 8), 2),
        ("hypercube-8", range(4), range(4), 2),  # only with minimal routing
        pytest.param("mesh-4x4", range(8), range(8, 16), 5, marks=pytest.mark.long),
    ],
)
def test_optima_that_no_cheaper_kind_shows(
    topology: str, senders: range, receivers: range, steps: int
) -> None:
    instance = mnb(topology, senders, receivers)
    assert [bound.steps for bound in farkas_bounds(instance)] == [steps]
    assert not refuted(instance, steps)


def test_what_a_node_has_sent_before_counts() -> None:
    """Without the rows ``sent``, a fraction is sent to the same neighbour again and again."""
    instance = cchybrid.instance(
        "random-links-18-18-26", "OAB", switching="store-and-forward", ports=1
    )
    relaxation = Relaxation(Network(instance.to_json()), 6)
    assert find_contradiction(relaxation, relaxation.all_keys(), MAX_TERMS) is None
    assert refuted(instance, 6) == 7
    assert not refuted(instance, 7)


def test_steps_of_different_rounds() -> None:
    instance = cchybrid.instance(
        "dgx-1", "AAB", switching="store-and-forward", chunks=3, rounds=(1, 1, 2)
    )
    assert refuted(instance, 2) == 3
    assert not refuted(instance, 3)


def test_a_scatter_is_left_to_prices() -> None:
    assert not list(farkas_bounds(cchybrid.instance("mesh-3x3", "AAS")))


@pytest.mark.slow
def test_rows_with_whole_multipliers_contradict_each_other() -> None:
    """For programs that read rows instead of prices."""
    record = cchybrid.instance("mesh-3x3", "AAB").to_json()
    found = refuting_rows(record, 3, MAX_TERMS, 60.0)
    assert found is not None
    relaxation, multipliers = found
    total: dict[tuple[object, ...], int] = {}
    sides = 0
    for key, times in multipliers.items():
        terms, side = relaxation.row(key)
        sides += times * side
        for column, coefficient in terms.items():
            total[column] = total.get(column, 0) + times * coefficient
    assert sum(relaxation.max_value(c) * max(0, times) for c, times in total.items()) < sides
    assert refuting_rows(record, 4, MAX_TERMS, 60.0) is None
