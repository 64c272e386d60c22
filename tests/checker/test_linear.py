"""Linear evidence: bounds by hand, and none above the true optimum of random instances."""

from __future__ import annotations

import copy
import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.checker import EvidenceError, Network, proven_steps
from cchybrid.checker.instance import TooLargeError
from cchybrid.checker.linear import group_payments, linear_rounds
from cchybrid.checker.payments import NEVER, Spread
from cchybrid.checker.prices import Prices
from cchybrid.model import Channel, Collective, CommunicationModel, Instance, Message, Reduction
from cchybrid.model import Network as ModelNetwork
from tests.checker.by_hand import HOPS
from tests.checker.by_hand import network as by_hand
from tests.checker.random_evidence import any_group, any_prices, any_sets
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import SEVERAL, valid_schedules


def climbed(network: Network, evidence: dict[str, Any], rng: random.Random) -> tuple[Any, bool]:
    """Change numbers of the evidence as long as it shows more; return it and whether it holds."""

    def surplus(candidate: dict[str, Any]) -> Any:
        prices = Prices(network, candidate, candidate["steps"] - 1)
        parts = group_payments(network, candidate, prices, any_rounds=False)
        try:
            return sum(paid for _, _, paid in parts) - prices.offered
        except EvidenceError:  # sets weigh more than a channel into them costs
            return -NEVER

    best = surplus(evidence)
    for _ in range(40):
        if best > 0:
            break
        changed = copy.deepcopy(evidence)
        lists = [changed[key] for key in ("channels", "inject", "accept")]
        lists += [group.get("worth", []) for group in changed["groups"]]
        rows = [row for rows in lists for row in rows]
        if not rows:
            break
        row = rng.choice(rows)
        row[-1] = max(0, row[-1] + rng.choice((-2, -1, 1, 1, 2)))
        gained = surplus(changed)
        if gained >= best:
            evidence, best = changed, gained
    return evidence, best > 0


@settings(max_examples=examples(60))
@given(valid_schedules(max_nodes=4, max_messages=4, **SEVERAL), st.integers(0, 2**32 - 1))
def test_no_evidence_shows_more_than_the_optimum(schedule, seed):
    optimum = fewest_steps(schedule.instance, len(schedule.steps))
    rng, record = random.Random(seed), schedule.instance.to_json()
    network = Network(record)
    for _ in range(4):
        evidence: dict[str, Any] = {"kind": "linear", "steps": optimum + 1}
        evidence |= any_prices(network, optimum, rng)
        some = [m for m in range(len(network.messages)) if rng.random() < 0.7]
        evidence["groups"] = [any_group(network, optimum, rng, some)] if some else []
        evidence, holds = climbed(network, evidence, rng)
        assert not holds, evidence
        with pytest.raises(EvidenceError, match="do not rule out"):
            proven_steps(record, evidence)


@settings(max_examples=examples(40))
@given(valid_schedules(max_nodes=4, max_messages=4, switchings=("tdm",)), st.integers(0, 2**32 - 1))
def test_no_evidence_shows_more_than_the_shortest_period(schedule, seed):
    optimum = fewest_steps(schedule.instance, len(schedule.steps))
    rng, record = random.Random(seed), schedule.instance.to_json()
    network = Network(record)
    for _ in range(6):
        evidence: dict[str, Any] = {"kind": "linear", "steps": optimum + 1}
        evidence |= any_prices(network, optimum, rng)
        some = [m for m in range(len(network.messages)) if rng.random() < 0.5]
        sets = any_sets(network, Prices(network, evidence, optimum), rng)
        evidence["groups"] = [{"messages": some, "sets": sets}] if some and sets else []
        with pytest.raises(EvidenceError, match="do not rule out"):
            proven_steps(record, evidence)


def test_time_slots_take_prices_for_all_slots_only():
    record = cchybrid.instance("ring-4", "AAS", switching="tdm").to_json()
    for part in ({"channels": [[0, 1, 1, 2, 1]]}, {"groups": [{"worth": [[0, 1]]}]}):
        with pytest.raises(EvidenceError, match=r"a step that is not there|in order"):
            proven_steps(record, {"kind": "linear", "steps": 3, **part})


def best(record: dict[str, Any], evidence: dict[str, Any]) -> int:
    """Return the largest number of steps that evidence shows, with its steps put there."""
    shown = 0
    while True:
        try:
            shown = proven_steps(record, {**evidence, "kind": "linear", "steps": shown + 1})
        except EvidenceError:
            return shown


def on_ring(nodes: int, *messages: Message | Reduction, **model: Any) -> dict[str, Any]:
    network = ModelNetwork.from_links("ring", nodes, [(v, (v + 1) % nodes) for v in range(nodes)])
    return Instance(network, Collective("by hand", messages), CommunicationModel(**model)).to_json()


def growth(record: dict[str, Any], goals: range | tuple[int, ...] = range(16)) -> int:
    return best(record, {"groups": [{"worth": [[node, 1] for node in goals]}]})


def test_spreading_in_wormhole_counts_ports():
    everyone = Message(0, tuple(range(1, 16)))
    assert growth(on_ring(16, everyone)) == 3  # 1, 3, 9, 27
    assert growth(on_ring(16, everyone, inject=1, accept=1)) == 4
    never = on_ring(16, everyone, inject=(0,) * 16, accept=(1,) * 16)
    spread = {"kind": "linear", "groups": [{"worth": [[1, 1]]}]}
    assert proven_steps(never, {**spread, "steps": 1 << 40}) == 1 << 40
    # Of 1, 4, 7, 10, ... nodes only one is strong: a charge for it makes that count.
    strong = on_ring(16, everyone, inject=(1, 3, *[0] * 14), accept=(1,) * 16)
    values = [[node, 1] for node in range(1, 16)]
    charged = {"worth": values, "once": [[1, 1, 1, 9], [1, 2, 2, 6], [1, 3, 3, 3]]}
    evidence = {"kind": "linear", "steps": 5, "groups": [charged]}
    assert proven_steps(strong, evidence) == 5


def test_spreading_hop_by_hop_knows_distances_and_the_informing_neighbour():
    assert growth(on_ring(16, Message(0, tuple(range(1, 16))), **HOPS)) == 8
    assert growth(on_ring(16, Message(0, (5,)), **HOPS)) == 5
    assert growth(on_ring(16, Reduction(tuple(range(1, 16)), 0), **HOPS)) == 8
    # 1, 3, 5, 7: a node sends to one neighbour, as the other one informed it.
    assert growth(on_ring(8, Message(0, tuple(range(1, 8))), **HOPS), range(8)) == 4


def test_reductions_exchange_the_ports():
    reduce_ = Reduction(tuple(range(1, 16)), 0)
    wide, narrow = (2,) * 16, (1,) * 16
    assert growth(on_ring(16, reduce_, inject=wide, accept=narrow)) == 4
    assert growth(on_ring(16, reduce_, inject=narrow, accept=wide)) == 3


def test_messages_have_to_enter_a_set():
    to_zero = [Message(v, (0,)) for v in range(1, 6)]
    cut = {"channels": [[1, 0, 1], [5, 0, 1]]}
    assert best(on_ring(6, *to_zero), cut) == 3
    assert best(on_ring(6, *to_zero), {**cut, "groups": [{"sets": [[1, 0]]}]}) == 3
    assert best(on_ring(6, *to_zero, inject=1, accept=1), {"accept": [[0, 1]]}) == 5
    # Broadcasts pay once, however many destinations they have inside.
    everyone = [Message(v, tuple(u for u in range(6) if u != v)) for v in range(6)]
    assert best(on_ring(6, *everyone), {"channels": [[0, 1, 1], [3, 2, 1]]}) == 2


def test_late_entries_count_in_part():
    """Two complete networks of four nodes with a link: four messages enter one by one."""
    links = [(a, b) for a in range(8) for b in range(a) if a // 4 == b // 4] + [(3, 4)]
    network = ModelNetwork.from_links("two halves", 8, links)
    record = cchybrid.instance(network, "AAB").to_json()
    assert best(record, {"channels": [[3, 4, 1]]}) == 4
    groups = [{"messages": [0, 1, 2, 3], "worth": [[v, 1] for v in (4, 5, 6, 7)]}]
    channels = [[3, 4, 1, 3, 4], [3, 4, 4, 4, 1]]
    evidence = {"kind": "linear", "steps": 5, "channels": channels, "groups": groups}
    assert proven_steps(record, evidence) == 5


def test_messages_from_far_away_enter_late():
    """Hop by hop on a chain of four: the last node gets three messages, the last of them late."""
    chain = ModelNetwork.from_links("chain", 4, [(0, 1), (1, 2), (2, 3)])
    from_zero = Collective("chunks", (Message(0, (3,)),) * 3)
    instance = Instance(chain, from_zero, CommunicationModel("store-and-forward"))
    late = {"kind": "linear", "channels": [[2, 3, 3, 4, 1]], "steps": 5}
    assert proven_steps(instance.to_json(), late) == 5
    assert best(instance.to_json(), {"channels": [[2, 3, 1]]}) == 3
    assert fewest_steps(instance, 9) == 5


def test_half_duplex_links_have_one_price():
    network = ModelNetwork("two ways", 2, (Channel(0, 1, 2), Channel(1, 0, 2)), ((0, 1),))
    messages = (Message(0, (1,)), Message(0, (1,)), Message(1, (0,)), Message(1, (0,)))
    record = Instance(network, Collective("swap", messages)).to_json()
    assert best(record, {"channels": [[0, 1, 1]]}) == 2
    assert best(record, {"channels": [[1, 0, 1]]}) == 2


def test_prices_follow_the_routing():
    """The short path from 0 to 1 is expensive; the long one is allowed only by some routings."""
    expensive = {"channels": [[0, 1, 1]]}
    messages = [Message(0, (1,)), Message(0, (1,))]
    # One step is needed in any case.
    for routing, steps in (("minimal", 2), (3, 2), (4, 1), ("any", 1), (10**15, 1)):
        assert best(on_ring(6, *messages, routing=routing), expensive) == steps
    hops = on_ring(6, *messages, **HOPS)
    assert best(hops, expensive) == 2  # the long way takes five steps


def test_prices_do_not_pass_endpoints_but_a_chain_of_paths_may_stop_there():
    network = ModelNetwork.from_links("square", 4, [(0, 1), (1, 2), (2, 3), (3, 0)], endpoints=(1,))
    instance = Instance(network, Collective("two", (Message(0, (2,)), Message(0, (2,)))))
    prices = {"channels": [[0, 3, 1]]}
    for routing in ("minimal", 1, "any"):
        assert best(instance.with_model(routing=routing).to_json(), prices) == 2
    assert best(instance.with_model(**HOPS).to_json(), prices) == 2
    both = Instance(network, Collective("two", (Message(0, (1, 2)), Message(0, (1, 2)))))
    assert best(both.to_json(), prices) == 1  # by way of node 1, which may send it on


def test_prices_of_ports_are_paid_at_both_ends_and_hop_by_hop_at_every_node():
    ports = {"inject": 1, "accept": 1}
    every = [[node, 1] for node in range(6)]
    far = [Message(v, ((v + 3) % 6,)) for v in range(6)]
    for side in ("inject", "accept"):
        assert best(on_ring(6, *far, **ports), {side: every}) == 1
        assert best(on_ring(6, *far, **ports, **HOPS), {side: every}) == 3


def test_deliveries_over_links_and_ports_are_counted_by_value():
    links = [(v, (v + 1) % 4) for v in range(4)]
    network = ModelNetwork.from_links("ring", 4, links, half_duplex=tuple(links))
    instance = cchybrid.instance(network, "AAB")
    spread = {"groups": [{"worth": [[node, 1] for node in range(4)]}]}
    assert best(instance.to_json(), {"channels": [[a, b, 1] for a, b in links], **spread}) == 3
    assert fewest_steps(instance, 9) == 3
    ports = instance.with_model(inject=1, accept=2).to_json()
    assert best(ports, {"inject": [[v, 1] for v in range(4)], **spread}) == 3


def test_one_step_is_needed_where_something_is_sent():
    record = on_ring(4, Message(0, (1,)))
    assert proven_steps(record, {"kind": "linear", "steps": 1}) == 1
    network = Network(record)
    ((_, _, paid),) = group_payments(network, {}, Prices(network, {}, 0), False)
    assert paid == NEVER


RING = on_ring(6, *(Message(a, (b,)) for a in range(6) for b in range(6) if a != b))
MALFORMED: tuple[dict[str, Any], ...] = (
    {}, {"steps": 0}, {"steps": True}, {"steps": "2"}, {"steps": 2.0}, {"steps": 1 << 41},
    {"steps": 2, "more": 1}, {"steps": 2, "channels": {}}, {"steps": 2, "channels": ["011"]},
    {"steps": 2, "channels": [[0, 1, "1"]]}, {"steps": 2, "channels": [[0, 1, 1.0]]},
    {"steps": 2, "channels": [[False, 1, 1]]},
    {"steps": 2, "channels": [[0, 1, -1]]}, {"steps": 2, "channels": [[0, 2, 1]]},
    {"steps": 2, "inject": [[6, 1]]}, {"steps": 2, "accept": [[-1, 1]]},
    {"steps": 2, "groups": {}}, {"steps": 2, "groups": [[]]}, {"steps": 2, "groups": [{}]},
    {"steps": 2, "groups": [7]}, {"steps": 2, "groups": [["worth"]]},
    {"steps": 2, "groups": [{"worth": [[0, 1]], "more": 1}]},
    {"steps": 2, "groups": [{"worth": [[0, 1]], "sets": [[1, 0]]}]},
    {"steps": 2, "groups": [{"sets": [[1, 0]]}]}, {"steps": 2, "groups": [{"sets": 1}]},
    {"steps": 2, "groups": [{"sets": [[1]]}]}, {"steps": 2, "groups": [{"sets": [[1, 6]]}]},
    {"steps": 2, "groups": [{"worth": [[6, 1]]}]}, {"steps": 2, "groups": [{"worth": [[0, -1]]}]},
    {"steps": 2, "groups": [{"worth": [[0, 1], [0, 1]]}]}, {"steps": 2, "groups": [{"worth": 1}]},
    {"steps": 2, "groups": [{"worth": [[0, 1, 1]]}]},
    {"steps": 3, "groups": [{"worth": [[0, 1]], "once": [[0, 1, 1, 1, 1]]}]},
    {"steps": 2, "groups": [{"worth": [[0, 1]], "messages": [30]}]},
    {"steps": 2, "groups": [{"worth": [[0, 1]], "messages": [0, 0]}]},
    {"steps": 2, "groups": [{"worth": [[0, 1]], "messages": [True]}]},
    {"steps": 2, "groups": [{"worth": [[0, 1]]}, {"worth": [[0, 1]], "messages": [0]}]},
    {"steps": 2, "groups": [{"worth": [[0, 1]], "blocks": [[0, 1], [1]]}]},
    {"steps": 2, "groups": [{"worth": [[0, 1]], "blocks": [[]]}]},
    {"steps": 2, "groups": [{"worth": [[0, 1]], "blocks": [[6]]}]},
    {"steps": 2, "groups": [{"worth": [[0, 1]], "blocks": 1}]},
    {"steps": 2, "groups": [{"worth": [[0, 1]], "once": [[0, 1, 1, 1]]}]},
    {"steps": 3, "groups": [{"worth": [[0, 1]], "once": [[0, 2, 1, 1]]}]},
    {"steps": 3, "groups": [{"worth": [[0, 1]], "once": [[6, 1, 1, 1]]}]},
    {"steps": 3, "groups": [{"worth": [[0, 1]], "once": [[0, 1]]}]},
)  # fmt: skip


@pytest.mark.parametrize("evidence", MALFORMED, ids=str)
def test_malformed_evidence_is_refused(evidence):
    with pytest.raises(EvidenceError) as raised:
        proven_steps(RING, {"kind": "linear", **evidence})
    assert len(str(raised.value)) < 200
    assert "do not rule out" not in str(raised.value)


def test_too_much_work_is_refused():
    record = cchybrid.instance("hypercube-64", "OAB", ports=1).to_json()
    rows = [[a, b, t, t, 1] for a, b, *_ in record["network"]["channels"] for t in range(1, 400)]
    with pytest.raises(TooLargeError):
        proven_steps(record, {"kind": "linear", "steps": 401, "channels": rows})


def test_many_steps_take_no_longer_than_few():
    """Steps of the same prices in which nothing changes are counted together."""
    record = cchybrid.instance("hypercube-8", "AAB", ports=1).to_json()
    nodes = range(8)
    evidence = {"kind": "linear", "steps": 1 << 39, "accept": [[v, 1] for v in nodes]}
    evidence["groups"] = [{"worth": [[v, 1] for v in nodes]}]
    with pytest.raises(EvidenceError, match="do not rule out"):
        proven_steps(record, evidence)


def test_rounds_per_chunk_and_throughput():
    scatter = cchybrid.instance("ring-bi-4", "AAS", **HOPS)
    network = Network(scatter.to_json())
    equal = {"kind": "linear", "channels": [[a, b, 1] for a, b in network.channels]}
    # 8 pairs at distance 1 and 4 at distance 2, over 8 channels.
    assert linear_rounds(network, equal, None) == 2
    assert linear_rounds(network, equal, 5) == 2
    # In two steps, what goes two hops arrives in the second one.
    late = {"kind": "linear", "channels": [[a, b, 2, 2, 1] for a, b in network.channels]}
    assert linear_rounds(network, late, 2) == Fraction(4, 8)
    nothing = [{}, {"channels": []}, {"channels": [[0, 1, 0]]}, {"steps": 2}]
    others = None, [], {**equal, "kind": "rows"}, {"channels": equal["channels"]}
    for wrong, steps, text in (
        *(({"kind": "linear", **each}, 2, "shows no number|no object of kind") for each in nothing),
        *((each, 2, "is of the kind linear; make it anew") for each in others),
        (late, None, "for a step that is not there"),
        ({**equal, "groups": [{"worth": [[0, 1]]}]}, None, "for a number of steps"),
        (equal, 1, "shows no number of rounds"),  # some destinations cannot be reached
    ):
        with pytest.raises(EvidenceError, match=text):
            linear_rounds(network, wrong, steps)


def star(**model: Any) -> Network:
    """Return a broadcast from the centre of a star to three nodes."""
    links = [[a, b] for node in (1, 2, 3) for a, b in ((0, node), (node, 0))]
    return by_hand(links, (0, [1, 2, 3]), **model)


def test_rounds_are_proved_for_fewer_features() -> None:
    """Version 0.9.0 had false optima of throughput of an allreduce, and with rounds."""
    evidence = {"kind": "linear", "channels": [[0, 1, 3]]}
    assert linear_rounds(star(**HOPS, ports=1), evidence, 2) == 1
    assert linear_rounds(star(), evidence, None) == 1
    assert linear_rounds(star(), evidence, 2) == 1
    nodes = star().nodes
    by_table = star(routing={"next": [[0] * nodes] * nodes})
    with pytest.raises(EvidenceError, match=r"^rounds per chunk: not proved for routing table$"):
        linear_rounds(by_table, evidence, 2)
    summed = by_hand([[0, 1], [1, 0]], [0, 1], kind="allreduce")
    for network, feature in (
        (star(**HOPS, ports=1), "limited ports"), (star(rounds=[2, 1]), "rounds"),
        (star(chunks=2), "chunks"), (summed, "allreduce"),
    ):  # fmt: skip
        with pytest.raises(EvidenceError, match=f"^throughput: not proved for {feature}$"):
            linear_rounds(network.with_any_routing(), evidence, None)


def test_rounds_by_the_price_of_one_destination() -> None:
    """In one step of any number of rounds node 0 informs all, and pays 1 for one of them."""
    network = star(**HOPS, ports=1)
    groups = [{"worth": [[1, 1], [2, 1], [3, 1]]}]
    evidence = {"kind": "linear", "channels": [[0, 1, 1]], "groups": groups}
    assert linear_rounds(network, evidence, 1) == 1
    # No message uses channels into the centre; ports of none offer nothing.
    never = Network(on_ring(4, Message(0, (1,)), inject=(0,) * 4, accept=(1,) * 4, **HOPS))
    for shown, wrong in ((network, {"channels": [[1, 0, 1]]}), (never, {"inject": [[0, 1]]})):
        with pytest.raises(EvidenceError, match="shows no number of rounds"):
            linear_rounds(shown, {"kind": "linear", **wrong}, 1)


def test_ports_do_not_limit_steps_of_any_number_of_rounds():
    """The rows ``hold`` of version 0.9.0 were false there: 1000 rounds where 2 suffice."""
    network = star(**HOPS, ports=1)
    group = {"worth": [[node, 1] for node in range(network.nodes)]}
    prices = Prices(network, {}, 3)
    everyone = [*range(len(network.messages))]
    assert Spread(network, prices, group, any_rounds=True).paid(everyone) == 0
