"""Runs on prefix sums, from the result to its certificate."""

import itertools

import pytest

import cchybrid
from cchybrid.checker import proves_infeasible
from cchybrid.host.compositions import Halves
from cchybrid.model import Channel, Collective, CommunicationModel, Instance, Network, Scan
from cchybrid.model.errors import InputError
from cchybrid.referee.verify import verify_schedule
from tests.named_instances import named

HOPS = "store-and-forward"


@pytest.mark.slow
def test_a_mesh_gets_a_schedule_and_a_certified_bound():
    result = cchybrid.solve("mesh-3x3", "scan", time_limit=30)
    assert (result.steps, result.certified_bound.steps) == (3, 2)
    assert verify_schedule(result.schedule) == ()


@pytest.mark.parametrize("collective", ["scan", "exscan"])
@pytest.mark.parametrize(
    "words", ["mesh-3x4", "kautz-12 ports=1 chunks=2", "ring-uni-7 hops", "omega-8"]
)
def test_greedy_schedules_of_blocks_are_valid(words, collective):
    network, _, more = words.partition(" ")
    halves = Halves(named(f"{network} {collective} {more}"))
    blocks, best = halves.of_blocks(lambda: False), halves.greedy(lambda: False)
    assert verify_schedule(blocks) == verify_schedule(best) == ()
    assert best.cost <= blocks.cost


def test_rounds_are_refused():
    with pytest.raises(InputError, match=r"model.rounds: not available for exscan"):
        cchybrid.solve(cchybrid.instance("ring-bi-4", "exscan", rounds=[2, 1]))


def test_blocks_take_few_steps_where_ports_are_few():
    """Blocks of 1, 2, 4 and 8 take 1, 2, 3 and 4 steps; every part alone takes 15."""
    halves = Halves(cchybrid.instance("complete-16", "scan", ports=1))
    assert len(halves.of_blocks(lambda: False).steps) <= 10


def line(order: tuple[int, ...], form: type[Scan] = Scan) -> Instance:
    """Return a scan on a directed line, on which nodes reach only the nodes after them."""
    channels = tuple(Channel(a, a + 1) for a in range(3))
    return Instance(Network("line", 4, channels), Collective("prefixes", (form(order),)))


@pytest.mark.parametrize("switching", [HOPS, "wormhole"])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_member_that_earlier_ones_do_not_reach(order, switching):
    instance = line(order).with_model(switching=switching)
    result = cchybrid.bound(instance, time_limit=5)
    assert (result.status == "infeasible") == (order != (0, 1, 2))
    if result.status == "infeasible":
        assert "(message 0): no path leads there" in result.sentence
        proves_infeasible(instance.to_json(), result.lower_bound.evidence)


def test_a_later_member_may_have_to_forward():
    """Node 0 reaches node 1 over node 2 alone, which is an endpoint."""
    channels = tuple(Channel(a, b) for a, b in ((0, 2), (2, 0), (2, 1), (1, 2)))
    network = Network("line", 3, channels, endpoints=(2,))
    instance = Instance(network, Collective("prefixes", (Scan((0, 1, 2)),)))
    result = cchybrid.solve(instance, engines=[], time_limit=20)
    assert (result.engine, result.steps, result.certified) == ("host greedy", 2, True)


def test_parts_in_wormhole_switching_are_those_that_every_schedule_contains():
    """A later member may forward to an earlier one, which no reduction to the latter allows."""
    network = cchybrid.network("complete-4")
    instance = Instance(network, Collective("prefixes", (Scan((2, 0, 3)),)))
    assert instance.part_from(2).collective.messages[0].destinations == (0, 3)
    assert instance.part_from(0).collective.messages[0].destinations == (3,)
    assert instance.part_to(3).collective.messages[0].sources == (2, 0)
    for part, node in ((instance.part_from, 3), (instance.part_to, 2), (instance.part_to, 0)):
        with pytest.raises(InputError, match=f"node {node} has no such part"):
            part(node)
    hops = instance.with_model_of(CommunicationModel(switching=HOPS))
    assert hops.part_to(0).collective.messages[0].sources == (2,)
