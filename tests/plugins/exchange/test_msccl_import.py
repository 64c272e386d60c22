"""MSCCL XML programs: what valid ones become, and where broken ones are broken."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from cchybrid_plugins.exchange.msccl_import import read_msccl

import cchybrid
from cchybrid.model import AllReduction, CommunicationModel, Message, Network, Reduction
from cchybrid.model.errors import InputError
from cchybrid.plugin.imported import Imported, ImportRequest
from cchybrid.referee.verify import verify_schedule
from tests.plugins.exchange.expected import given, sound
from tests.plugins.exchange.foreign_texts import (
    block,
    chain_reduce_scatter,
    pair_allreduce,
    pair_alltoall,
    program,
    ring_allgather,
    step,
)
from tests.plugins.exchange.memory import DeadlockError, RaceError, RefusedError
from tests.plugins.exchange.msccl_interpreter import Run, compare, parse
from tests.refusals import refused

REQUEST = ImportRequest("hand-made")


def read(text: str, network: Any = None, collective: Any = None) -> Imported:
    return read_msccl(text, ImportRequest("hand-made", network, collective))


def only_rule(text: str) -> tuple[str, str, str]:
    """Return rule, place and text of the first broken rule."""
    broken = read(text).broken
    assert broken
    return broken[0].rule, broken[0].place, broken[0].text


@pytest.mark.parametrize(
    ("text", "collective", "message", "steps", "transfers"),
    [
        (ring_allgather(4), "AAB deliver", Message(0, (1, 2, 3)), 3, 12),
        (pair_allreduce(), "allreduce allreduce", AllReduction((0, 1)), 1, 2),
        (chain_reduce_scatter(), "AAR combine", Reduction((1,), 0), 1, 2),
        # Between two GPUs, an all-to-all is an allgather.
        (pair_alltoall(), "AAB deliver", Message(0, (1,)), 1, 2),
    ],
)
def test_a_valid_program_becomes_a_valid_schedule(text, collective, message, steps, transfers):
    found = sound(read(text))
    performed = found.instance.collective
    assert (f"{performed.name} {performed.kind}", performed.messages[0]) == (collective, message)
    assert (len(found.steps), sum(map(len, found.steps))) == (steps, transfers)


def test_the_network_and_the_places_are_those_of_the_file():
    found = read(ring_allgather(3))
    assert set(found.instance.network.channels) == {(0, 1, 1), (1, 2, 1), (2, 0, 1)}
    places = {found.place(s, t) for s in (0, 1) for t in range(3)}
    assert places == {f"gpu {g}, tb 0, step {s}" for g in range(3) for s in (0, 1)}
    assert found.place(7, 7) == ""


def test_a_narrow_network_takes_more_rounds_than_the_program_has_steps():
    sends = step("s", ("i", 0), ("o", 0), count=4)
    gpus = [[block(0, 1, -1, sends)], [block(0, -1, 0, step("r", ("o", 0), ("o", 0), count=4))]]
    text = program("broadcast", (4, 4, 0), *gpus)
    for capacity, rounds in ((None, 1), (1, 4), (2, 2), (3, 2), (4, 1)):
        found = read(text, capacity and cchybrid.network([(0, 1, capacity)]))
        assert (found.length, len(sound(found).steps)) == (rounds, rounds)


def test_a_thread_block_does_one_thing_after_another():
    # Three sends of one thread block take three steps; of three thread blocks, one.
    chunks = [("i", k) for k in range(3)]
    one = [
        [block(0, 1, -1, *(step("s", c) for c in chunks))],
        [block(0, -1, 0, *(step("r", target=("o", k)) for k in range(3)))],
    ]
    three = [
        [block(k, 1, -1, step("s", c), channel=k) for k, c in enumerate(chunks)],
        [block(k, -1, 0, step("r", target=("o", k)), channel=k) for k in range(3)],
    ]
    lengths = [read(program("broadcast", (3, 3, 0), *gpus)).length for gpus in (one, three)]
    assert lengths == [3, 1]


def broadcast(sender: list[str], receiver: list[str]) -> str:
    return program("broadcast", (1, 1, 1), sender, receiver)


def chain(root: int, coll: str, count: int = 1, extra: str = "") -> str:
    """Return a broadcast, or a reduce, of two GPUs; ``root`` is where it begins, or ends."""
    source, goal = (root, 1 - root) if coll == "broadcast" else (1 - root, root)
    gpus: list[list[str]] = [[], []]
    takes = step("r") if coll == "broadcast" else step("rrc", ("i", 0))
    gpus[source] = [block(0, goal, -1, *[step("s", ("i", 0))] * count)]
    gpus[goal] = [block(0, -1, source, *[takes] * count)]
    return program(coll, (1, 1, 0), *gpus, extra=extra)


def exchange(count: int) -> str:
    """Return an allreduce of two GPUs that send a number of messages before they receive any."""
    sends = [step("s", ("i", k), ("i", k)) for k in range(count)]
    takes = [step("rrc", ("i", k), ("i", k)) for k in range(count)]
    gpus = [[block(0, 1 - g, 1 - g, *sends, *takes)] for g in (0, 1)]
    return program("allreduce", (count, count, 0), *gpus)


GOOD = block(0, 1, -1, step("s", ("i", 0)))
TAKES = block(0, -1, 0, step("r"))
CIRCLE = [
    block(0, 1, -1, step("s", ("i", 0), waits=(1, 0))),
    block(1, -1, -1, step("nop", waits=(0, 0))),
]
OTHER_SUM = [
    [block(0, 1, -1, step("s", ("i", 1)))], [block(0, -1, 0, step("rrc", ("i", 0), ("i", 0)))],
]  # fmt: skip
GOOD_OF_TWO = program(
    "broadcast", (2, 2, 0), [block(0, 1, -1, step("s", ("i", 0), count=2))], [TAKES]
)
PAST = ring_allgather(3).replace('o_chunks="3"', 'o_chunks="9"')


@pytest.mark.parametrize(
    ("text", "rule", "place", "words"),
    [
        (broadcast([GOOD], [block(0, -1, 0)]), "never-received", "gpu 0, tb 0, step 0", "gpu 1"),
        (broadcast([block(0, 1, -1)], [TAKES]), "deadlock", "gpu 1, tb 0, step 0", "never sent"),
        (broadcast([block(0, -1, -1, step("s", ("i", 0)))], [TAKES]),
         "no-such-peer", "gpu 0, tb 0, step 0", "no peer"),
        (broadcast([block(0, 9, -1, step("s", ("i", 0)))], [TAKES]),
         "no-such-peer", "gpu 0, tb 0", "gpu 9"),
        (broadcast([block(0, 1, -1, step("s", ("i", 0), waits=(4, 0)))], [TAKES]),
         "no-such-step", "gpu 0, tb 0, step 0", "tb 4, step 0"),
        (broadcast([block(0, 1, -1, step("s", ("i", 0), waits=(0, -1)))], [TAKES]),
         "no-such-step", "gpu 0, tb 0, step 0", "tb 0, step -1"),
        (broadcast([GOOD], [block(0, -1, 0, step("r"), channel=1)]),
         "no-such-peer", "gpu 0, tb 0", "gpu 1 has no thread block for it on channel 0"),
        (broadcast([block(0, 1, -1, step("s", ("i", 5)))], [TAKES]),
         "outside-buffer", "gpu 0, tb 0, step 0", "buffer 'i', which has 1"),
        (broadcast([block(0, 1, -1, step("s", ("q", 0)))], [TAKES]),
         "outside-buffer", "gpu 0, tb 0, step 0", "buffer 'q'"),
        (broadcast([block(0, 1, -1, step("s", ("s", 0)))], [TAKES]),
         "reads-nothing", "gpu 0, tb 0, step 0", "scratch chunk 0"),
        (broadcast([GOOD, block(1, 1, -1, step("s", ("i", 0)))], [TAKES]),
         "shared-connection", "gpu 0", "2 thread blocks send to gpu 1"),
        (broadcast([GOOD], [block(0, -1, 0, step("r", target=("s", 0)))]),
         "wrong-result", "gpu 1, output chunk 0", "it holds nothing in the end"),
        (broadcast(CIRCLE, [TAKES]), "deadlock", "gpu 0, tb 0, step 0", "waits for tb 1, step 0"),
        # NCCL's buffers hold eight messages.
        (exchange(9), "deadlock", "gpu 0, tb 0, step 8", "one of the 8 messages before"),
        (GOOD_OF_TWO, "count-mismatch", "gpu 1, tb 0, step 0",
         "1 chunks of the 2 that gpu 0, tb 0, step 0 sends"),
        (chain(1, "reduce", 2, 'root="1"'), "counted-twice", "gpu 1, tb 0, step 1",
         "the part of gpu 0 again"),
        (program("reduce", (2, 2, 0), *OTHER_SUM, extra='root="1"'), "wrong-sum",
         "gpu 1, tb 0, step 0", "it adds up chunks 1 and 0"),
        (PAST.replace('dstoff="2"', 'dstoff="8"', 1), "outside-buffer", "gpu 0, tb 0, step 1",
         "chunks 8 to 8 of buffer 'o', which has 3 (allgather)"),
    ],
)  # fmt: skip
def test_the_first_broken_rule_is_named_with_its_place(text, rule, place, words):
    found = only_rule(text)
    assert found[:2] == (rule, place)
    assert words in found[2]


def test_a_connection_holds_eight_messages():
    assert read(exchange(8)).broken == ()


def test_two_accesses_in_no_order_are_a_race_unless_one_waits():
    copies = [block(k, -1, -1, step("cpy", ("s", 0), ("o", 0), waits=(0, 1))) for k in (1, 2)]
    receiver = [block(0, -1, 0, step("r"), step("r", target=("s", 0)))]
    twice = [block(0, 1, -1, step("s", ("i", 0)), step("s", ("i", 0)))]
    assert read(broadcast(twice, [*receiver, copies[0]])).broken == ()
    # The program has the right result in every order of one block before the other.
    [race] = read(broadcast(twice, [*receiver, *copies])).broken
    assert (race.rule, race.place) == ("race", "gpu 1, tb 2, step 0")
    assert "gpu 1, tb 1, step 0 writes" in race.text


def swap(**options: Any) -> str:
    gpus = [
        [block(0, 1 - g, 1 - g, step("s", ("i", 0)), step("r", target=("o", 1 - g)))]
        for g in (0, 1)
    ]
    return program("allgather", (1, 2, 0), *gpus, **options)


def test_buffers_of_their_own_need_the_copies_that_in_place_ones_do_not():
    assert read(swap()).broken == ()
    assert only_rule(swap(in_place=False))[:2] == ("wrong-result", "gpu 0, output chunk 0")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<algo>", "not well-formed XML"),
        ("<program/>", "is no <algo>"),
        (program("allgather", (1, 1, 0)), "0 GPUs"),
        (program("allgather", (1, 1, 0), [block(0, -1, -1)]), "one GPU has nothing to send"),
        (program("custom", (1, 1, 0), [], []), "coll='custom' has no meaning here"),
        (program("alltoall", (3, 3, 0), [], []), "3 chunks for 2 GPUs"),
        (program("allreduce", (0, 0, 0), [], []), "i_chunks is 0"),
        (ring_allgather(3).replace('type="r"', 'type="x"'), "type='x' is no type"),
        (ring_allgather(3).replace('ngpus="3"', 'ngpus="4"'), "ngpus=4, and GPUs 0, 1, 2"),
        (ring_allgather(3).replace('cnt="1"', 'cnt="one"'), "line 4: cnt='one' is no whole number"),
        (ring_allgather(3).replace('cnt="1"', f'cnt="{10**12}"'), "is no whole number"),
        (ring_allgather(3).replace('i_chunks="1"', 'i_chunks="999999999"'), "999999999 chunks"),
        (ring_allgather(3).replace(' hasdep="0"', "", 1), "line 4: <step> has no hasdep"),
        (ring_allgather(3).replace('hasdep="0"', 'hasdep="2"', 1), "line 4: hasdep=2"),
        (ring_allgather(3).replace('inplace="1"', 'inplace="0"'), "outofplace=0 and inplace=0"),
        (ring_allgather(3).replace("</algo>", '<gpu id="0"/></algo>'), "and GPUs 0, 0, 1, 2"),
    ],
)
def test_what_cannot_be_meant_is_said_in_one_line(text, words):
    with refused(words):
        read(text)


def relay(*, flag: str) -> str:
    """Return a broadcast along three GPUs, in buffers of their own; GPU 1 has two thread blocks."""
    end = [block(0, -1, 1, step("r"))]
    middle = [
        block(0, -1, 0, step("r"), step("cpy", ("o", 0), ("s", 0)), channel=0),
        block(1, 2, -1, step("s", ("o", 0), waits=(0, 0))),
    ]
    first = [block(0, 1, -1, step("s", ("i", 0))), block(1, -1, -1, step("cpy", ("i", 0)))]
    text = program("broadcast", (1, 1, 1), first, middle, end, in_place=False, extra='root="0"')
    assert text.count('hasdep="1"') == 1
    return text.replace('hasdep="1"', f'hasdep="{flag}"')


def test_msccl_wait_for_a_step_without_hasdep_is_a_deadlock():
    text = relay(flag="0")
    assert read(relay(flag="1")).broken == ()
    assert only_rule(text) == (
        "deadlock", "gpu 1, tb 1, step 0",
        "it waits for tb 0, step 0, and neither it nor a later step signals its end (hasdep)",
    )  # fmt: skip
    # A later step of the thread block signals as well, and the wait is one for that step.
    copy = re.search('<step s="1" type="cpy" srcbuf="o".*', text)[0]
    later = text.replace(copy, copy.replace('hasdep="0"', 'hasdep="1"'))
    assert read(later).broken == ()
    # Executors drop a nop, and so its flag.
    dropped = later.replace('s="1" type="cpy" srcbuf="o"', 's="1" type="nop" srcbuf="o"')
    assert only_rule(dropped)[0] == "deadlock"


def pair_sum(**modes: int) -> str:
    """Return an allreduce of two GPUs: the first one adds, and sends the sum back."""
    gpus = [
        [block(0, -1, 1, step("rrc", ("i", 0))),
         block(1, 1, -1, step("s", ("o", 0), waits=(0, 0)))],
        [block(0, 0, -1, step("s", ("i", 0))),
         block(1, -1, 0, step("r", target=("o", 0), waits=(0, 0)))],
    ]  # fmt: skip
    text = program("allreduce", (1, 1, 0), *gpus)
    flags = " ".join(f'{name}="{value}"' for name, value in modes.items())
    return text.replace('inplace="1" outofplace="0"', flags)


def test_msccl_program_is_executed_in_place_and_out_of_place_if_it_is_for_both():
    # Out of place, GPU 1 adds its input to the sum of both; in place its input is that sum.
    twice = pair_sum(inplace=1, outofplace=1).replace('srcbuf="o"', 'srcbuf="i"')
    twice = twice.replace('type="r"', 'type="rrc"')
    both = read(twice)
    assert ([each.rule for each in both.broken], both.facts[-1]) == (["counted-twice"], "in place")
    assert read(twice.replace('inplace="1"', 'inplace="0"', 1)).broken == ()
    assert read(twice.replace('outofplace="1"', 'outofplace="0"')).broken == both.broken
    for modes in ({"inplace": 1, "outofplace": 1}, {"inplace": 1}, {"outofplace": 0, "inplace": 1}):
        good = read(pair_sum(**modes))
        assert good.broken == ()
        in_both = modes.get("outofplace") == 1
        assert ("executed in place and out of place" in good.facts) == in_both


def test_msccl_steps_that_are_not_in_the_order_of_their_numbers_are_refused():
    for old, new, numbers in (("0", "9", "9, 1, 2"), ("1", "0", "0, 0, 2"), ("2", "3", "0, 1, 3")):
        with refused(f"line 3: the steps of gpu 0, tb 0 are numbered {numbers}; write them in"):
            read(ring_allgather(3).replace(f'<step s="{old}"', f'<step s="{new}"', 1))


@pytest.mark.parametrize("coll", ["broadcast", "reduce"])
@pytest.mark.parametrize("root", [0, 1])
def test_msccl_root_is_that_of_the_file_or_the_one_that_the_outputs_show(root, coll):
    shown = read(chain(root, coll))
    assert shown.broken == ()
    assert f"the file names no root; the outputs show gpu {root}" in shown.facts
    assert read(chain(root, coll, extra='root="-1"')) == shown
    assert read(chain(root, coll, extra=f'root="{root}"')).broken == ()
    assert only_rule(chain(root, coll, extra=f'root="{1 - root}"'))
    with refused("no gpu 2, which is the root"):
        read(chain(root, coll, extra='root="2"'))


def test_msccl_transfers_are_placed_by_links_of_which_a_half_duplex_pair_is_one():
    wire = Network.from_links("wire", 2, [(0, 1)])
    for network, rounds in ((wire, 1), (replace(wire, half_duplex=((1, 0),)), 2)):
        assert len(sound(read(swap(), network)).steps) == rounds


RING_AND_SWITCH = Network(
    "ring and switch", 5,
    tuple(sorted((*((n, (n + 1) % 4, 1) for n in range(4)), *((n, 4, 3) for n in range(4)),
                  *((4, n, 3) for n in range(4))))),
    switches=(4,),
)  # fmt: skip


@pytest.mark.slow
def test_on_a_network_with_switches_the_bound_counts_paths_over_them():
    """A ring of three steps, where the switch allows one: no bound of 2 may stand beside it."""
    found = sound(read(ring_allgather(4), RING_AND_SWITCH))
    assert len(found.steps) == 3
    assert found.instance.model == CommunicationModel("wormhole", routing="any")
    assert cchybrid.bound(found.instance).lower_bound.steps == 1


def test_a_network_with_switches_has_no_relays():
    sends = [step("s", ("i", chunk), ("o", 0)) for chunk in (1, 2)]
    relay = program(
        "scatter", (3, 1, 1),
        [block(0, 1, -1, *sends), block(1, -1, -1, step("cpy", ("i", 0)))],
        [block(0, -1, 0, step("r", target=("o", 0)), step("r", target=("s", 0))),
         block(1, 2, -1, step("s", ("s", 0), waits=(0, 1)))],
        [block(0, -1, 1, step("r"))],
        in_place=False, extra='root="0"',
    )  # fmt: skip
    sound(read(relay, cchybrid.network("mesh-1x3")))
    on_switch = read(relay, RING_AND_SWITCH)
    assert on_switch.meaning_checked
    assert [each.rule for each in verify_schedule(on_switch.schedule)] == ["not-a-destination"]


def test_sums_that_executors_join_are_not_judged():
    sums = step("re", ("s", 0), count=2), step("re", ("s", 0))
    gpus = [[block(0, 1 - gpu, 1 - gpu, *sums)] for gpu in (0, 1)]
    with refused("step 1: a sum of 1 chunks into the place of one of 2"):
        read(program("allreduce", (2, 2, 2), *gpus))


def test_elements_that_executors_ignore_are_ignored():
    text = ring_allgather(3)
    assert read(text.replace("<gpu ", '<copy i_off="0" o_off="0"/><gpu ', 1)) == read(text)
    assert read(text.replace("<tb ", "<threadblock ").replace("</tb>", "</threadblock>")).broken


def test_a_copy_to_a_place_that_overlaps_is_a_race():
    def copied(place: int) -> str:
        copies = step("cpy", ("s", 0), ("s", place), count=2), step("cpy", ("s", place), count=2)
        return program(
            "broadcast", (2, 2, 3),
            [block(0, 1, -1, step("s", ("i", 0), count=2)),
             block(1, -1, -1, step("cpy", ("i", 0), count=2))],
            [block(0, -1, 0, step("r", target=("s", 0), count=2), *copies)],
            in_place=False, extra='root="0"',
        )  # fmt: skip

    rule, place, words = only_rule(copied(1))
    assert (rule, place) == ("race", "gpu 1, tb 0, step 1")
    assert "reads and writes scratch chunk 1 for different chunks" in words
    assert read(copied(0)).broken == ()


def test_msccl_sizes_that_executors_compute_are_checked():
    text = ring_allgather(3).replace("<algo ", '<algo nchunksperloop="{}" ')
    assert read(text.format(3)).broken == ()
    assert only_rule(text.format(4)) == (
        "wrong-size", "algo", "nchunksperloop is 4, and buffers have 3 chunks",
    )  # fmt: skip


SEEDS = [
    relay(flag="1"), pair_sum(inplace=1, outofplace=1), ring_allgather(3), chain(1, "reduce"),
    pair_allreduce(), chain_reduce_scatter(), pair_alltoall(),
]  # fmt: skip


OPTIONS = {
    "type": ("s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop"),
    "srcbuf": "ios", "dstbuf": "ios", "inplace": "01", "outofplace": "01",
    "s_chunks": "0123", "root": "01",
}  # fmt: skip


def performs(text: str) -> bool | None:
    """Return whether the interpreter gets the right result in each mode; ``None``: it cannot tell.

    It refuses what executors do, and sees no order of accesses by way of another GPU.
    """
    try:
        program_ = parse(text)
        if not program_.modes:
            return None
        root = re.search(r' root="(\d+)"', text)
        for in_place in program_.modes:
            run = Run(program_, given, slots=8, loops=1, in_place=in_place).perform()
            compare(run, int(root[1]) if root else 0)
    except RefusedError:
        return None
    except RaceError as error:
        return None if "while" in str(error) else False
    except (AssertionError, DeadlockError, TypeError):
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(len(SEEDS)))
def test_msccl_programs_with_one_attribute_changed_have_the_verdict_of_an_interpreter(seed):
    tree = ElementTree.fromstring(SEEDS[seed])
    sizes = [int(tree[0].get(key, "")) for key in ("i_chunks", "o_chunks")]
    name = tree.get("coll").replace("_", "")
    size = max(sizes) if name in ("allgather", "alltoall", "reducescatter") else min(sizes)
    tree.attrib |= {"coll": name, "nchunksperloop": str(size), "minBytes": "0", "maxBytes": "9"}
    if name in ("broadcast", "reduce"):
        tree.attrib.setdefault("root", "1")
    assert performs(ElementTree.tostring(tree, "unicode"))
    verdicts = Counter[bool | None]()
    fixed = ("name", "id", "proto", "coll", "ngpus", "i_chunks", "o_chunks")
    places = [(each, key) for each in tree.iter() for key in each.attrib if key not in fixed]
    for element, key in places:
        value = element.get(key)
        for other in OPTIONS.get(key, ("-1", "0", "1", "2", "3")):
            element.set(key, other)
            text = ElementTree.tostring(tree, "unicode")
            right = performs(text)
            verdicts[right] += 1
            try:
                broken = read(text).broken
            except InputError:
                assert not right, (key, value, other)
                continue
            if right is False:
                assert broken, (element.attrib, key, value, other)
            elif right and broken:
                # A value may be wrong where none reads it.
                rules = ("counted-twice", "wrong-sum", "reads-nothing")
                assert broken[0].rule in rules, (text, broken)
        element.set(key, value)
    assert min(verdicts[True], verdicts[False], verdicts[None]) > 5


def test_the_collective_can_be_named_and_must_fit():
    network = cchybrid.network("ring-bi-4")
    named = cchybrid.collective("AAB", network)
    assert sound(read(ring_allgather(4), network, named)).instance.collective is named
    with refused("the message from 0 to 1, 2, 3 is none of AAS"):
        read(ring_allgather(4), network, cchybrid.collective("AAS", network))
    with refused("mesh-1x2 has 2 nodes that send and receive, the program 4 GPUs"):
        read(ring_allgather(4), cchybrid.network("mesh-1x2"))


def test_msccl_channels_of_transfers_that_bring_nothing_new_belong_to_the_network():
    """A broadcast 0->1->2 with two more transfers, on whose channels one step would be enough."""
    again = step("r", ("i", 0), ("s", 0))
    gpus = [
        [block(0, 1, -1, step("cpy", ("i", 0)), step("s", ("i", 0))),
         block(1, 2, 2, again, step("s", ("i", 0), ("s", 0)))],
        [block(0, 2, 0, step("r", ("i", 0)), step("s"))],
        [block(0, -1, 1, step("r", ("i", 0))),
         block(1, 0, 0, step("s", ("o", 0), ("s", 0), waits=(0, 0)), again)],
    ]  # fmt: skip
    found = read(program("broadcast", (1, 1, 1), *gpus, in_place=False, extra='root="0"'))
    assert found.broken == ()
    assert "left out, as nothing new is in them: 2 transfers" in found.facts
    channels = [(a, b) for a, b, _ in found.schedule.instance.network.channels]
    assert channels == [(0, 1), (0, 2), (1, 2), (2, 0)]
    assert sum(map(len, found.schedule.steps)) == 2
