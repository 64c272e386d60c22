"""The words of every violation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cchybrid.model import AllReduction, Collective, Instance, Network
from cchybrid.referee.verify import verify
from cchybrid.referee.violations import Report
from tests.broken_schedules import (
    MISTAKES,
    REDUCE,
    SCATTER,
    VALID,
    changed,
    deliver,
    ring,
    steps_of,
)

WORDS = """
message number too high
  step 2, transfer 1: there is no message 3, the collective has 0 to 2
  message 1 never reaches its destination 3
empty path
  step 2, transfer 1: the path of message 1 has too few nodes (0), it takes two or more
  message 1 never reaches its destination 3
node beyond the last
  step 1, transfer 1: the path of message 0 names node 5, the network has 0 to 4
no channel across the ring
  step 2, transfer 1: the path of message 1 takes channel 1->3, which the network does not have
back to where it came from
  step 2, transfer 4: the path of message 0 visits node 2 twice
through a terminal
  step 3, transfer 1: the path of message 1 passes node 5, which is an endpoint and cannot switch
detour
  step 2, transfer 1: the path of message 1 has 3 hops, the routing allows 2
off the table
  step 1, transfer 1: the path of message 0 is not the one that the routing table gives
two hops at once
  step 2, transfer 1: the path of message 0 has 2 hops, store-and-forward allows one in a step
one channel for two
  step 1, transfer 3: channel 1->2 carries 2 messages, 1 at most (messages 0, 1)
  step 1, transfer 3: channel 2->3 carries 2 messages, 1 at most (messages 2, 1)
  step 2: nothing is sent
both ways over a half-duplex link
  step 1, transfer 3: half-duplex link 1-0 carries 2 messages, 1 at most (messages 0, 1)
  step 2: nothing is sent
two sent with one port
  step 1, transfer 2: node 0 injects 2 messages, 1 at most (messages 0, 0)
two received with one port
  step 1, transfer 4: node 0 accepts 2 messages, 1 at most (messages 0, 1)
  step 2: nothing is sent
sent on in the step of its arrival
  step 1, transfer 3: node 1 sends message 0 but receives it only in step 1
sent without having it
  step 2, transfer 1: node 4 sends message 1 but never receives it
partial result received in the step of leaving
  step 2, transfer 3: node 1 receives a part of message 0 but sends its own in step 2
an unrequested stop
  step 2, transfer 2: node 1 receives message 2 but is no destination of it
an unrequested source
  step 1: nothing is sent
  step 2, transfer 2: node 2 sends a part of message 0 but is no source of it
from both sides in one step
  step 2, transfer 4: channel 1->2 carries 2 messages, 1 at most (messages 0, 0)
  step 2, transfer 4: node 3 receives message 0 more than once
back to its source
  step 2, transfer 4: node 0 receives message 0 but is its source
a part sent twice
  step 1, transfer 1: node 2 sends its part of message 0 more than once
  step 2, transfer 3: channel 1->0 carries 2 messages, 1 at most (messages 0, 0)
a destination left out
  message 0 never reaches its destination 3
a source left out
  source 5 never sends its part of message 0
"""
"""The report of mistakes, below their names: every sentence once."""


def test_words():
    texts = []
    for mistake in (line for line in WORDS.split("\n") if line and line[0] != " "):
        name, changes, _ = MISTAKES[mistake]
        instance, raw = VALID[name]
        texts += [mistake, *(f"  {text}" for text in verify(instance, changed(raw, changes)))]
    assert texts == WORDS.strip().split("\n")


def test_words_of_many_messages_and_long_numbers():
    everything = Instance(Network.from_links("pair", 2, [(0, 1)]), deliver(*[(0, (1,))] * 7))
    for count, shown in ((6, "0, 1, 2, 3, 4, 5"), (7, "0, 1, 2, 3, 4, 5, ...")):
        texts = [
            str(v) for v in verify(everything, steps_of([[(m, (0, 1)) for m in range(count)]]))
        ]
        assert texts[0] == (
            f"step 1, transfer 2: channel 0->1 carries {count} messages, 1 at most"
            f" (messages {shown})"
        )
    for number, shown in ((2**64 - 1, str(2**64 - 1)), (2**64, "(a number of 65 bits)")):
        found = verify(SCATTER, steps_of([[(number, (0, 1))]]))
        assert found[0].place == f"message {shown}"


def test_nodes_have_their_names_and_other_numbers_none() -> None:
    named = replace(SCATTER.network, node_names=tuple("abcde"))
    report = Report(replace(SCATTER, network=named), ())
    assert [report.node(node) for node in (-1, 0, 4, 5)] == ["-1", "a", "e", "5"]


@pytest.mark.parametrize(
    ("instance", "path", "rule", "text"),
    [
        # Hops to and from nodes that do not exist are no missing channels, nor are they visits.
        (
            SCATTER,
            (1, 9, 0, 2),
            "no-such-channel",
            "the path of message 0 takes channel 0->2, which the network does not have",
        ),
        (SCATTER, (1, 5, 5, 1), "path-not-simple", "the path of message 0 visits node 1 twice"),
        (
            REDUCE,
            (0, 1),
            "received-twice",
            "node 0 sends a part of message 0 but is its destination",
        ),
        (
            Instance(ring(4), Collective("sum", (AllReduction((0, 1)),))),
            (0, 3),
            "not-a-destination",
            "node 3 receives the sum of the parts of 0 of message 0, not all of which it needs",
        ),
    ],
)
def test_words_of_one_transfer(instance, path, rule, text):
    sums = (((0,),),) if instance.collective.kind == "allreduce" else ()
    found = verify(instance, steps_of([[(0, path)]]), sums)
    assert [str(v) for v in found if v.rule == rule] == [f"step 1, transfer 1: {text}"]
