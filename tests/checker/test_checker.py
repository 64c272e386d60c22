"""The checker proves only true bounds: random evidence against optimal schedules."""

from __future__ import annotations

import random
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.checker import EvidenceError, proven_steps, proves_infeasible
from cchybrid.model import (
    Channel,
    Collective,
    CommunicationModel,
    Instance,
    Message,
    Network,
    Reduction,
)
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import SEVERAL, list_schedule, models, networks, valid_schedules


def any_evidence(instance: Instance, rng: random.Random) -> dict[str, Any]:
    """Return evidence of the right form, whatever it proves."""
    network = instance.network
    kinds = ("growth", "regions", "cut", "cut", "prices", "prices", "arborescences", "step-prices")
    kind = rng.choice((*kinds, "nested-sets", "nested-sets", "cut-over-time"))
    message = rng.randrange(len(instance.collective.messages))
    some = [node for node in range(network.nodes) if rng.random() < 0.5]
    if kind == "growth":
        return {"kind": kind, "message": message}
    if kind == "regions":
        return {"kind": kind, "message": message, "nodes": some or [0]}
    if kind == "cut":
        return {
            "kind": kind,
            "nodes": some or [rng.randrange(network.nodes)],
            "both": rng.random() < 0.3,
        }
    if kind == "cut-over-time":
        return {"kind": kind, "nodes": some or [rng.randrange(network.nodes)]}
    if kind == "nested-sets":
        return {"kind": kind, "message": message, "sets": any_sets(instance, message, rng)}
    if kind == "step-prices":
        return any_step_prices(instance, rng)
    values = rng.choice(((0, 1), (0, 1, 2, "1/3"), (0, 0, 0, 5, "7/2")))
    ports = rng.choice(((0,), values))
    price = {channel[:2]: rng.choice(values) for channel in instance.forward.network.channels}
    for a, b in network.half_duplex:
        price[a, b] = price[b, a]
    return {
        "kind": kind,
        "channels": [[a, b, each] for (a, b), each in price.items()],
        "inject": [[node, rng.choice(ports)] for node in range(network.nodes)],
        "accept": [[node, rng.choice(ports)] for node in range(network.nodes)],
    }


def any_sets(instance: Instance, message: int, rng: random.Random) -> list[list[int]]:
    """Return nested sets without the source, a destination in each: unions of random parts."""
    source, destinations = instance.collective.deliver_messages[message]
    nodes = [node for node in range(instance.network.nodes) if node != source]
    rng.shuffle(nodes)
    parts: list[Any] = nodes
    while len(parts) > 1 and rng.random() < 0.8:
        size = rng.randint(1, min(3, len(parts)))
        parts = [parts[:size], *parts[size:]]
        rng.shuffle(parts)
    rows: list[list[int]] = []

    def add(part: Any, outer: int) -> None:
        if isinstance(part, int):
            if outer:
                rows[outer - 1].append(part)
            return
        number = outer
        if not destinations_in(part).isdisjoint(destinations):
            rows.append([outer])
            number = len(rows)
        for inner in part:
            add(inner, number)

    def destinations_in(part: Any) -> set[int]:
        return {part} if isinstance(part, int) else set().union(*map(destinations_in, part))

    for part in parts:
        add(part, 0)
    return rows or [[0, *nodes]]


def any_step_prices(instance: Instance, rng: random.Random) -> dict[str, Any]:
    """Return prices for random steps; a price is more probable in the last ones."""
    network, steps = instance.forward.network, rng.randint(1, 5)

    def priced(*ends: int) -> list[int]:
        first = rng.randint(1, steps)
        return [*ends, first, rng.randint(first, steps), rng.choice((1, 1, 2, 5))]

    return {
        "kind": "step-prices",
        "steps": steps + 1,
        "channels": [priced(*c[:2]) for c in network.channels if rng.random() < 0.4],
        "inject": [priced(v) for v in range(network.nodes) if rng.random() < 0.2],
        "accept": [priced(v) for v in range(network.nodes) if rng.random() < 0.2],
    }


@settings(max_examples=examples(120))
@given(valid_schedules(**SEVERAL), st.integers(0, 2**32 - 1))
def test_nothing_is_proven_that_a_schedule_refutes(schedule, seed):
    check_evidence(schedule.instance, seed, len(schedule.steps))


@settings(max_examples=examples(40))
@given(valid_schedules(max_nodes=5, max_messages=5, **SEVERAL), st.integers(0, 2**32 - 1))
def test_nothing_is_proven_above_the_optimum(schedule, seed):
    check_evidence(schedule.instance, seed, fewest_steps(schedule.instance, len(schedule.steps)))


@settings(max_examples=examples(30))
@given(networks(max_nodes=5), st.data())
def test_nothing_is_proven_above_the_optimum_of_broadcasts(network, data):
    """Every message has many destinations, so that late entries into a set count in part."""
    sources = data.draw(st.lists(st.integers(0, network.nodes - 1), min_size=2, max_size=5))
    everyone = range(network.nodes)
    messages = tuple(Message(s, tuple(v for v in everyone if v != s)) for s in sources)
    model = data.draw(models(network.nodes))
    instance = Instance(network, Collective("broadcasts", messages), model)
    greedy = len(list_schedule(instance, 0))
    check_evidence(instance, data.draw(st.integers(0, 2**32 - 1)), fewest_steps(instance, greedy))


def check_evidence(instance: Instance, seed: int, steps: int) -> None:
    """Assert that no random evidence proves more than ``steps``."""
    record, rng = instance.to_json(), random.Random(seed)
    for _ in range(20):
        evidence = any_evidence(instance, rng)
        refused = evidence["kind"] == "prices" and free(evidence)
        expected: AbstractContextManager[object] = (
            pytest.raises(EvidenceError) if refused else nullcontext()
        )
        # Refused where some message has not all nodes, where too little is paid, in wormhole.
        if evidence["kind"] in ("arborescences", "step-prices", "cut-over-time"):
            expected = suppress(EvidenceError)
        with expected:
            assert proven_steps(record, evidence) <= steps


def free(prices: dict[str, Any]) -> bool:
    return all(row[-1] == 0 for key in ("channels", "inject", "accept") for row in prices[key])


def on_ring(nodes: int, *messages: Message | Reduction, **model: Any) -> dict[str, Any]:
    network = Network.from_links("ring", nodes, [(v, (v + 1) % nodes) for v in range(nodes)])
    return Instance(network, Collective("by hand", messages), CommunicationModel(**model)).to_json()


def growth(record: dict[str, Any]) -> int:
    return proven_steps(record, {"kind": "growth", "message": 0})


def test_growth_in_wormhole_counts_ports():
    everyone = Message(0, tuple(range(1, 16)))
    assert growth(on_ring(16, everyone)) == 3  # 1, 3, 9, 27
    assert growth(on_ring(16, everyone, inject=1, accept=1)) == 4
    # The node with the most ports is assumed to be informed first.
    strong = (1, 3, *[0] * 14)
    assert growth(on_ring(16, everyone, inject=strong, accept=(1,) * 16)) == 6  # 1 2 5 8 11 14 17
    with pytest.raises(EvidenceError, match="does not grow"):
        growth(on_ring(16, everyone, inject=(0,) * 16, accept=(1,) * 16))


def test_growth_in_store_and_forward_knows_distances():
    hops = {"switching": "store-and-forward"}
    assert growth(on_ring(16, Message(0, tuple(range(1, 16))), **hops)) == 8
    assert growth(on_ring(16, Message(0, (5,)), **hops)) == 5
    assert growth(on_ring(4, Message(0, (1, 2, 3)), inject=1, accept=1, **hops)) == 2
    reduce_ = Reduction(tuple(range(1, 16)), 0)
    assert growth(on_ring(16, reduce_, **hops)) == 8


@pytest.mark.parametrize(
    ("arcs", "goals", "ports", "steps"),
    [
        # Around a ring of 8 with one port: 1, 2, 4, 7 (no farther than 3 hops), 8.
        ([arc for v in range(8) for arc in ((v, (v + 1) % 8), ((v + 1) % 8, v))], 7, 1, 4),
        # Two one-way chains: a node informed by one that it cannot reach keeps all neighbours.
        ([(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 6)], 6, 1, 3),
        # Node 4 wants nothing itself, yet it may pass on to all three.
        ([(0, 4), (4, 1), (4, 2), (4, 3)], 3, None, 2),
    ],
)
def test_growth_hop_by_hop(arcs, goals, ports, steps):
    network = Network.from_arcs("by hand", 1 + max(b for _, b in arcs), arcs)
    model = CommunicationModel("store-and-forward", ports, ports)
    message = Message(0, tuple(range(1, 1 + goals)))
    assert growth(Instance(network, Collective("OAB", (message,)), model).to_json()) == steps


def regions(record: dict[str, Any], nodes: list[int]) -> int:
    return proven_steps(record, {"kind": "regions", "message": 0, "nodes": nodes})


def test_regions_hold_growth_back():
    # A binary tree of 15, from a child of its root: 1, 4, 16 would do in two steps. Into the
    # other half leads one channel: there it is 0, 1, then 1 + 1 + 3 of 7 at best.
    tree = Network.from_links("tree", 15, [((v - 1) // 2, v) for v in range(1, 15)])
    to_all = Collective("OAB", (Message(1, (0, *range(2, 15))),))
    record = Instance(tree, to_all).to_json()
    assert growth(record) == 2
    half = [2, 5, 6, 11, 12, 13, 14]
    assert regions(record, half) == 3
    assert regions(record, sorted(set(range(15)) - set(half))) == 3  # the complement says the same
    assert regions(record, [14]) == 2


def test_regions_know_that_the_strong_nodes_are_elsewhere():
    record = on_ring(16, Message(0, tuple(range(1, 16))))
    assert regions(record, [0]) == growth(record)
    mesh = [(5 * r + c, 5 * r + c + 1) for r in range(5) for c in range(4)]
    mesh += [(5 * r + c, 5 * r + c + 5) for r in range(4) for c in range(5)]
    network = Network.from_links("mesh-5x5", 25, mesh)
    message = Message(12, tuple(v for v in range(25) if v != 12))
    record = Instance(network, Collective("OAB", (message,))).to_json()
    # Two steps would need 4 strong nodes first, and then 16 messages over the 12 channels outwards.
    border = [v for v in range(25) if v // 5 in (0, 4) or v % 5 in (0, 4)]
    assert growth(record) == 2
    assert regions(record, border) == 3


def test_regions_hop_by_hop_know_distances():
    hops = {"switching": "store-and-forward"}
    record = on_ring(16, Message(0, tuple(range(1, 16))), **hops)
    assert regions(record, list(range(8))) == 8
    assert regions(on_ring(16, Message(0, (5,)), **hops), [5]) == 5


def test_reductions_exchange_the_ports():
    reduce_ = Reduction(tuple(range(1, 16)), 0)
    wide, narrow = (2,) * 16, (1,) * 16
    assert growth(on_ring(16, reduce_, inject=wide, accept=narrow)) == 4
    assert growth(on_ring(16, reduce_, inject=narrow, accept=wide)) == 3


def test_cut_takes_the_narrowest_of_channels_and_ports():
    to_zero = [Message(v, (0,)) for v in range(1, 6)]
    cut = {"kind": "cut", "nodes": [0]}
    assert proven_steps(on_ring(6, *to_zero), cut) == 3
    assert proven_steps(on_ring(6, *to_zero, inject=1, accept=1), cut) == 5
    # Two messages of one sender; the others could send more.
    from_one = [Message(1, (0,)), Message(1, (5,))]
    ports = {"inject": (2, 1, 2, 2, 2, 2), "accept": (2,) * 6}
    assert proven_steps(on_ring(6, *from_one, **ports), {"kind": "cut", "nodes": [0, 5]}) == 2
    # A node that gets the message passes it on under store-and-forward, so anybody may send it.
    ports["switching"] = "store-and-forward"
    assert proven_steps(on_ring(6, *from_one, **ports), {"kind": "cut", "nodes": [0, 5]}) == 1


def test_cut_of_half_duplex_links_counts_both_directions():
    network = Network("two ways", 2, (Channel(0, 1, 2), Channel(1, 0, 2)), half_duplex=((0, 1),))
    messages = (Message(0, (1,)), Message(0, (1,)), Message(1, (0,)), Message(1, (0,)))
    record = Instance(network, Collective("swap", messages)).to_json()
    assert proven_steps(record, {"kind": "cut", "nodes": [0]}) == 1
    assert proven_steps(record, {"kind": "cut", "nodes": [0], "both": True}) == 2
    one_price = {"kind": "prices", "channels": [[0, 1, 1], [1, 0, 1]]}
    assert proven_steps(record, one_price) == 2
    with pytest.raises(EvidenceError, match="half-duplex"):
        proven_steps(record, {"kind": "prices", "channels": [[0, 1, 1]]})


def test_prices_follow_the_routing():
    """The short path from 0 to 1 is expensive; the long one is allowed only by some routings."""
    expensive = {"kind": "prices", "channels": [[0, 1, 1]]}
    messages = [Message(0, (1,)), Message(0, (1,))]
    assert proven_steps(on_ring(6, *messages), expensive) == 2
    assert proven_steps(on_ring(6, *messages, routing=3), expensive) == 2
    assert proven_steps(on_ring(6, *messages, routing=4), expensive) == 0
    assert proven_steps(on_ring(6, *messages, routing="any"), expensive) == 0
    assert proven_steps(on_ring(6, *messages, switching="store-and-forward"), expensive) == 0


def test_prices_do_not_pass_endpoints_except_hop_by_hop():
    network = Network.from_links("square", 4, [(0, 1), (1, 2), (2, 3), (3, 0)], endpoints=(1,))
    instance = Instance(network, Collective("two", (Message(0, (2,)), Message(0, (2,)))))
    prices = {"kind": "prices", "channels": [[0, 3, 1]]}
    for routing in ("minimal", 1, "any"):
        assert proven_steps(instance.with_model(routing=routing).to_json(), prices) == 2
    hop_by_hop = instance.with_model(switching="store-and-forward")
    assert proven_steps(hop_by_hop.to_json(), prices) == 0


def test_prices_of_ports():
    """Ports are paid at both ends, and at every node on the way in store-and-forward."""
    ports = {"inject": 1, "accept": 1}
    every = [[node, 1] for node in range(6)]
    far = [Message(v, ((v + 3) % 6,)) for v in range(6)]
    for side in ("inject", "accept"):
        evidence = {"kind": "prices", side: every}
        assert proven_steps(on_ring(6, *far, **ports), evidence) == 1
        assert proven_steps(on_ring(6, *far, **ports, switching="store-and-forward"), evidence) == 3


def test_prices_count_deliveries():
    """Twelve deliveries over four half-duplex links, or from four ports: three steps."""
    links = [(v, (v + 1) % 4) for v in range(4)]
    channels = [Channel(a, b, 1) for link in links for a, b in (link, link[::-1])]
    network = Network("ring", 4, tuple(channels), half_duplex=tuple(links))
    everyone = [Message(v, tuple(u for u in range(4) if u != v)) for v in range(4)]
    instance = Instance(network, Collective("AAB", tuple(everyone)))
    carried = {"kind": "prices", "channels": [[a, b, 1] for a, b, _ in channels]}
    assert proven_steps(instance.to_json(), carried) == 3
    assert fewest_steps(instance, len(list_schedule(instance, 0))) == 3
    injected = {"kind": "prices", "inject": [[v, 1] for v in range(4)]}
    ports = instance.with_model(inject=1, accept=2)
    assert proven_steps(ports.to_json(), injected) == 3


def test_prices_of_deliveries_know_who_may_send():
    """From node 0 down a one-way chain."""
    chain = Network.from_arcs("chain", 4, [(0, 1), (1, 2), (2, 3)])
    prices = {"kind": "prices", "channels": [[0, 1, 1], [1, 2, 1], [2, 3, 1]]}
    for goals, switching, paid in (
        ((3,), "wormhole", 3),
        ((3,), "store-and-forward", 3),
        ((1, 2, 3), "wormhole", 3),  # one hop each
        ((1, 3), "wormhole", 3),  # one hop and two hops, from node 1
        ((1, 3), "store-and-forward", 2),  # node 2 may have it, too
    ):
        instance = Instance(
            chain, Collective("some", (Message(0, goals),) * 2), CommunicationModel(switching)
        )
        assert proven_steps(instance.to_json(), prices) == -(-2 * paid // 3)


def entering(record: dict[str, Any], nodes: list[int], **more: Any) -> int:
    return proven_steps(record, {"kind": "cut", "nodes": nodes, **more})


def two_halves(**model: Any) -> Instance:
    """Return two complete networks of four nodes with a link, and a broadcast from each node."""
    links = [(a, b) for a in range(8) for b in range(a) if a // 4 == b // 4] + [(3, 4)]
    network = Network.from_links("two halves", 8, links)
    everyone = [Message(v, tuple(u for u in range(8) if u != v)) for v in range(8)]
    return Instance(network, Collective("AAB", tuple(everyone)), CommunicationModel(**model))


def test_cut_counts_late_entries_in_part():
    """Four messages enter one by one; each must reach four nodes."""
    half = [4, 5, 6, 7]
    assert entering(two_halves().to_json(), half) == 5  # shares 1/4, 1
    ports = two_halves(inject=1, accept=2).to_json()
    assert entering(ports, half) == 6  # shares 1/4, 2/4, 1
    hop_by_hop = two_halves(switching="store-and-forward")
    assert entering(hop_by_hop.to_json(), half) == 5
    # The pipeline of a one-port broadcast: a step per message, and doubling after the last.
    network = Network.from_links("all", 8, [(a, b) for a in range(8) for b in range(a)])
    pipeline = Collective("chunks", (Message(0, tuple(range(1, 8))),) * 5)
    chunks = Instance(network, pipeline, CommunicationModel(inject=1, accept=1))
    assert entering(chunks.to_json(), list(range(1, 8))) == 7


def test_cut_of_two_halves_is_the_optimum():
    """Three nodes on each side, one link: the cut alone says 3."""
    links = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]
    network = Network.from_links("two triangles", 6, links)
    everyone = [Message(v, tuple(u for u in range(6) if u != v)) for v in range(6)]
    instance = Instance(network, Collective("AAB", tuple(everyone)))
    assert entering(instance.to_json(), [3, 4, 5]) == 4
    assert fewest_steps(instance, len(list_schedule(instance, 0))) == 4


def test_cut_takes_the_best_number_of_destinations():
    """A message for one node inside does not weaken what those for four prove."""
    record = two_halves().to_json()
    wide = record["collective"]["messages"]
    one = {"source": 0, "destinations": [7]}
    assert entering({**record, "collective": {"kind": "deliver", "messages": [*wide, one]}}, [
        4, 5, 6, 7,
    ]) == 5  # fmt: skip


def test_unreachable():
    network = Network.from_arcs("one way", 3, [(0, 1), (1, 2)])
    record = Instance(network, Collective("back", (Message(0, (2,)), Message(2, (0,))))).to_json()
    proves_infeasible(record, {"kind": "unreachable", "message": 1})
    with pytest.raises(EvidenceError, match="can be reached"):
        proves_infeasible(record, {"kind": "unreachable", "message": 0})
    proves_infeasible(record, {"kind": "unreachable", "message": 1, "destination": 0})
    for destination in (1, 2, 3, -1, 0.0, False, "0", None, [0]):
        with pytest.raises(EvidenceError, match="destination"):
            proves_infeasible(
                record, {"kind": "unreachable", "message": 1, "destination": destination}
            )
    with pytest.raises(EvidenceError):
        proves_infeasible(record, {"kind": "growth", "message": 1})
