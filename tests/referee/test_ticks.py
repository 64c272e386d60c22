"""Times of channels by hand: when channels and ports are busy, and when a message has arrived."""

from dataclasses import replace

import pytest

import cchybrid
from cchybrid.model import Collective, CommunicationModel, Instance, Message, Network, Transfer
from cchybrid.model.times import ChannelTime
from cchybrid.referee.verify import verify

LINE = Network.from_links("line", 3, [(0, 1), (1, 2)])
"""Channels 0->1, 1->0, 1->2, 2->1."""
TIMES = {(0, 1): (2, 1), (1, 0): (0, 1), (1, 2): (1, 3), (2, 1): (0, 1)}


def on_line(*messages: tuple[int, int], times=TIMES, **model: object) -> Instance:
    network = replace(LINE, times=tuple(times[c[:2]] for c in LINE.channels))
    collective = Collective("by hand", tuple(Message(a, (b,)) for a, b in messages))
    return Instance(network, collective, CommunicationModel(**model))


def at(ticks: int, *starts: tuple[int, int, tuple[int, ...]]):
    """Return a schedule of this many ticks from (tick from 0, message, path)."""
    steps = [[] for _ in range(ticks)]
    for tick, message, path in starts:
        steps[tick].append(Transfer(message, path))
    return tuple(map(tuple, steps))


def rules(instance: Instance, steps) -> list[tuple[str, int, int]]:
    return [(v.rule, v.step, v.transfer) for v in verify(instance, steps)]


def test_a_path_takes_its_latencies_and_its_largest_length():
    instance = on_line((0, 2))
    assert rules(instance, at(6, (0, 0, (0, 1, 2)))) == []
    assert rules(instance, at(9, (0, 0, (0, 1, 2)))) == []
    assert rules(instance, at(5, (0, 0, (0, 1, 2)))) == [("ends-too-late", 0, 0)]


def test_all_channels_of_a_path_are_busy_for_the_largest_length():
    instance = on_line((0, 2), (0, 1), (1, 2))
    long = (0, 0, (0, 1, 2))
    # Channel 0->1 is busy in ticks 0 to 2, channel 1->2 in ticks 2 to 4.
    for tick in range(3):
        broken = rules(instance, at(9, long, (tick, 1, (0, 1)), (5, 2, (1, 2))))
        assert broken == [("channel-overload", tick, int(tick == 0))]
    assert rules(instance, at(9, long, (3, 1, (0, 1)), (5, 2, (1, 2)))) == []
    for tick in range(5):
        broken = rules(instance, at(9, long, (3, 1, (0, 1)), (tick, 2, (1, 2))))
        assert [rule for rule, *_ in broken] == ["channel-overload"], tick


def test_ports_are_busy_at_the_start_and_after_all_latencies():
    inject = on_line((0, 2), (0, 1), inject=1, accept=9)
    assert rules(inject, at(9, (0, 0, (0, 1, 2)), (2, 1, (0, 1))))[-1] == ("inject-overload", 2, 0)
    times = {**TIMES, (2, 1): (0, 3)}
    # To node 1: from node 0 the port is busy in ticks 2 to 3, from node 2 for the lengths alone.
    accept = on_line((0, 1), (2, 1), inject=9, accept=1, times={**times, (0, 1): (2, 2)})
    for tick, fits in ((0, False), (1, False), (2, False), (3, False), (4, True)):
        broken = rules(accept, at(9, (0, 0, (0, 1)), (tick, 1, (2, 1))))
        assert (broken == []) == fits, tick
    early = on_line((0, 1), (2, 1), inject=9, accept=1, times={**TIMES, (0, 1): (2, 2)})
    assert rules(early, at(9, (0, 0, (0, 1)), (1, 1, (2, 1)))) == []


def test_a_message_is_sent_on_in_the_tick_after_its_arrival():
    instance = on_line((0, 2), switching="store-and-forward")
    arrived = (0, 0, (0, 1))  # in ticks 0 to 2
    assert rules(instance, at(7, arrived, (3, 0, (1, 2)))) == []
    assert rules(instance, at(7, arrived, (2, 0, (1, 2)))) == [("not-informed", 2, 0)]
    assert rules(instance, at(6, arrived, (3, 0, (1, 2)))) == [("ends-too-late", 3, 0)]


def test_reductions_stand_in_the_step_in_which_they_end():
    network = replace(LINE, times=tuple(TIMES[c[:2]] for c in LINE.channels))
    gather = cchybrid.instance(network, "reduce", root=2, switching="store-and-forward")
    # Node 0 sends in ticks 0 to 2, node 1 in ticks 3 to 6: they end in ticks 2 and 6.
    sent = at(7, (2, 0, (0, 1)), (6, 0, (1, 2)))
    assert rules(gather, sent) == []
    late = at(7, (3, 0, (0, 1)), (6, 0, (1, 2)))
    assert [rule for rule, *_ in rules(gather, late)] == ["not-informed"]
    begun = at(7, (1, 0, (0, 1)), (6, 0, (1, 2)))
    assert [rule for rule, *_ in rules(gather, begun)] == ["ends-too-late"]


def test_a_long_use_is_reported_where_it_exceeds_the_limit_and_once():
    times = dict.fromkeys(TIMES, (0, 5))
    instance = on_line((0, 1), (0, 1), (0, 1), times=times)
    three = at(20, (0, 0, (0, 1)), (3, 1, (0, 1)), (4, 2, (0, 1)))
    # The limit is exceeded from tick 3 on, until the second one ends.
    found = verify(instance, three)
    assert [(v.rule, v.step) for v in found] == [("channel-overload", 3)]
    assert "in tick 4" in found[0].text


@pytest.mark.parametrize("path", [(), (0,), (0, 0), (0, 7), (0, 2), (-1, 2**70)])
def test_paths_without_a_channel(path):
    """A schedule without any hop was a traceback."""
    assert rules(on_line((0, 2)), ((Transfer(0, path),),))
    assert rules(on_line((0, 2)), ()) == [("missing-destination", -1, -1)]


def test_ticks_beyond_32_bits():
    """The sum of the latencies had 32 bits: the message seemed to arrive before it was sent."""
    nodes = 2200
    line = Network.from_links("line", nodes, [(a, a + 1) for a in range(nodes - 1)])
    slow = replace(line, times=(ChannelTime(1_000_000, 1),) * len(line.channels))
    instance = cchybrid.instance(slow, [(0, [nodes - 1])])
    assert rules(instance, at(1, (0, 0, tuple(range(nodes))))) == [("ends-too-late", 0, 0)]


def test_times_of_a_step_are_no_times():
    plain = on_line((0, 2), times=dict.fromkeys(TIMES, (0, 1)))
    assert plain.network.times == ()
    assert rules(plain, at(2, (0, 0, (0, 1, 2)))) == [("empty-step", 1, -1)]
