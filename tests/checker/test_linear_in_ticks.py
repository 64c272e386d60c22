"""Linear evidence about ticks: none is above the optimum, and no valid schedule pays less."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid import model
from cchybrid.checker import EvidenceError, Network, proven_steps
from cchybrid.checker.payments import paid_for_routes, paid_for_sets
from cchybrid.checker.prices import Prices
from cchybrid.model import Collective, Instance, Message, Reduction, Schedule
from cchybrid.model.steps import reverse_steps
from cchybrid.proof.ticks import cuts_in_ticks
from tests.checker.plain_payments import paid_in
from tests.checker.random_evidence import any_prices, any_sets
from tests.checker.test_linear import best, climbed
from tests.examples import examples
from tests.exhaustive.mutation import mutants
from tests.proof.optimum import fewest_steps
from tests.random_instances import TICKS, list_schedule, valid_schedules

SEEDS = st.integers(0, 2**32 - 1)
SMALL: dict[str, Any] = {**TICKS, "chunks": (1, 2), "max_nodes": 4, "max_messages": 4}


def linear(network: Network, steps: int, rng: random.Random) -> dict[str, Any]:
    """Return random prices in some ticks of ``steps``, and sets for some messages."""
    evidence: dict[str, Any] = {"kind": "linear", "steps": steps + 1}
    evidence |= any_prices(network, steps, rng)
    some = [m for m in range(len(network.messages)) if rng.random() < 0.5]
    sets = any_sets(network, Prices(network, evidence, steps), rng)
    evidence["groups"] = [{"messages": some, "sets": sets}] if some and sets else []
    return evidence


@settings(max_examples=examples(60))
@given(valid_schedules(**SMALL), SEEDS)
def test_no_evidence_shows_more_than_the_fewest_ticks(schedule: Schedule, seed: int) -> None:
    optimum = fewest_steps(schedule.instance, len(schedule.steps))
    rng, record = random.Random(seed), schedule.instance.to_json()
    network = Network(record)
    for _ in range(4):
        evidence, holds = climbed(network, linear(network, optimum, rng), rng)
        assert not holds, evidence
        with pytest.raises(EvidenceError, match="do not rule out"):
            proven_steps(record, evidence)


@settings(max_examples=examples(60))
@given(valid_schedules(**SMALL), SEEDS)
def test_changed_evidence_of_cuts_shows_no_more(schedule: Schedule, seed: int) -> None:
    instance, rng = schedule.instance, random.Random(seed)
    optimum = fewest_steps(instance, len(schedule.steps))
    record = instance.to_json()
    for bound in cuts_in_ticks(instance.forward):
        assert proven_steps(record, bound.evidence) == bound.steps <= optimum
        more = [{**bound.evidence, "steps": optimum + 1}, linear(Network(record), optimum, rng)]
        for evidence in mutants(bound.evidence, more, 20, rng):
            for changed in (evidence, {**evidence, "steps": optimum + 1}):
                try:
                    assert proven_steps(record, changed) <= optimum, changed
                except EvidenceError:
                    continue


@settings(max_examples=examples(100))
@given(valid_schedules(**{**SMALL, "max_nodes": 6}), SEEDS)
def test_no_valid_schedule_pays_less(schedule: Schedule, seed: int) -> None:
    instance, rng = schedule.instance, random.Random(seed)
    network, backwards = Network(instance.to_json()), schedule.instance.collective.kind == "combine"
    for _ in range(4):
        steps = list_schedule(instance, rng.randrange(1 << 32))
        read = reverse_steps(steps) if backwards else steps
        moves = [(t, message, path) for t, step in enumerate(read, 1) for message, path in step]
        evidence = any_prices(network, len(steps), rng)
        prices = Prices(network, evidence, len(steps))
        paid = paid_in(network, prices, moves)
        assert paid.total() <= prices.offered, evidence
        sets = any_sets(network, prices, rng)
        for message in range(len(network.messages)):
            assert paid_for_routes(network, prices, [message]) <= paid[message], evidence
            assert paid_for_sets(network, prices, sets, [message]) <= paid[message], evidence


def chain(*messages: Message | Reduction, times: Any = ((2, 3), (1, 2)), **model: Any) -> Any:
    """Return the file of an instance on the channels 0->1 and 1->2, with times of these."""
    channels = [[0, 1], [1, 2]]
    network = {"name": "chain", "nodes": 3, "channels": channels, "times": [*map(list, times)]}
    collective = Collective("by hand", messages).to_json()
    model = {"switching": "wormhole", "ports": "all", "routing": "minimal", **model}
    record = {"format": "cchybrid-instance/2", "network": network, "collective": collective}
    return Instance.from_json({**record, "name": "by hand", "model": model}).to_json()


def test_one_message_takes_its_ticks() -> None:
    assert best(chain(Message(0, (2,))), {}) == 5  # heads move on; the checker adds one length
    assert best(chain(Message(0, (2,)), switching="store-and-forward"), {}) == 8
    assert best(chain(Message(0, (1, 2))), {}) == 5


def test_a_channel_begins_once_in_its_length() -> None:
    """Messages begin in ticks 1, 4 and 7; the last one takes five ticks."""
    three = chain(*[Message(0, (1,))] * 3)
    assert best(three, {"channels": [[0, 1, 1]]}) == 7
    late = {"kind": "linear", "steps": 11, "channels": [[0, 1, 1, 6, 1]]}
    assert proven_steps(three, late) == 11
    with pytest.raises(EvidenceError, match="do not rule out"):
        proven_steps(three, {**late, "steps": 12, "channels": [[0, 1, 1, 7, 1]]})
    with pytest.raises(EvidenceError, match="do not rule out"):
        proven_steps(three, {**late, "channels": [[0, 1, 1, 5, 1]]})


def test_ports_are_used_for_the_shortest_length_that_they_serve() -> None:
    three = chain(*[Message(1, (2,))] * 3, ports=1)
    assert best(three, {"inject": [[1, 1]]}) == 5
    assert best(three, {"accept": [[2, 1]]}) == 5
    reduced = chain(*[Reduction((1,), 2)] * 3, ports=1)
    assert best(reduced, {"accept": [[1, 1]]}) == 5


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"inject": [[0, 1, 1, 1]]}, "a step that is not there"),
        ({"accept": [[0, 1, 2, 1]]}, "a step that is not there"),
        ({"channels": [[0, 1, 1, 4, 1]]}, "a step that is not there"),
        ({"channels": [[0, 1, 0, 1, 1]]}, "a step that is not there"),
        ({"groups": [{"worth": [[1, 1]]}]}, "not proved for times"),
    ],
)
def test_what_is_not_proved_is_refused(part: dict[str, Any], text: str) -> None:
    with pytest.raises(EvidenceError, match=text):
        proven_steps(chain(Message(0, (2,))), {"kind": "linear", "steps": 4, **part})


@pytest.mark.parametrize("kind", ["nested-sets", "refutation", "rows", "part"])
def test_other_kinds_of_evidence_are_refused(kind: str) -> None:
    with pytest.raises(EvidenceError):
        proven_steps(chain(Message(0, (2,))), {"kind": kind, "steps": 9})


def test_prices_in_some_ticks_are_avoided_by_others() -> None:
    """Hop by hop, a message waits at node 1 until channel 1->2 costs nothing."""
    hops = chain(Message(0, (2,)), Message(0, (2,)), switching="store-and-forward")
    network = Network(hops)
    for first, last in ((6, 8), (6, 7), (1, 9), (7, 9), (6, 6), (1, 5)):
        prices = Prices(network, {"channels": [[1, 2, first, last, 1]]}, 9)
        # It is at node 1 before tick 6, and begins in tick 7 at the latest.
        assert paid_for_routes(network, prices, [0]) == (first <= 6 and last >= 7)


@pytest.mark.parametrize(
    "shared", [{}, {"groups": (((0, 2), (1, 3)),)}, {"half_duplex": ((2, 0),)}, {"groups": ()}]
)
def test_channels_that_share_a_capacity_are_one_in_cuts(shared: dict[str, Any]) -> None:
    """Two boxes of two; of two messages that share an adapter, one begins ten ticks later."""
    fast, slow = [(0, 1), (1, 0), (2, 3), (3, 2)], [(0, 2), (1, 3), (2, 0), (3, 1)]
    network = model.Network(
        "boxes", 4, tuple(model.Channel(*hop) for hop in fast + slow),
        times=((0, 1),) * 4 + ((1, 10),) * 4, **shared,
    )  # fmt: skip
    messages = (Message(0, (2, 3)), Message(1, (2, 3)))
    [bound] = cuts_in_ticks(Instance(network, Collective("two", messages)))
    assert bound.steps == (21 if shared.get("groups") else 11)
