"""Collectives by name: the definitions, and every refusal."""

from typing import Any

import pytest

import cchybrid
from cchybrid.library.collectives import MAX_PAIRS, PATTERNS, canonical_name, collective
from cchybrid.library.topologies import fail, network
from cchybrid.model import (
    AllReduction,
    Collective,
    Exscan,
    Instance,
    Message,
    Network,
    Reduction,
    Scan,
)
from cchybrid.model.errors import InputError
from cchybrid.plugin.records import CollectiveInfo, Roles
from tests.refusals import refused

MESH = network("mesh-4x4")
RING = network("ring-bi-4")


def arrows(scatter: Collective) -> list[tuple[int, int]]:
    """Return source and destination of every message of a scatter-like collective."""
    assert all(len(message.destinations) == 1 for message in scatter.deliver_messages)
    return [(message.source, message.destinations[0]) for message in scatter.deliver_messages]


def test_one_to_all_and_all_to_one():
    assert collective("OAB", RING).messages == (Message(0, (1, 2, 3)),)
    assert collective("OAB", RING, root=2).messages == (Message(2, (0, 1, 3)),)
    assert arrows(collective("OAS", RING, root=1)) == [(1, 0), (1, 2), (1, 3)]
    assert arrows(collective("AOG", RING, root=1)) == [(0, 1), (2, 1), (3, 1)]
    assert collective("AOR", RING, root=1).messages == (Reduction((0, 2, 3), 1),)


def test_all_to_all():
    everybody = [Message(a, tuple(b for b in range(4) if a != b)) for a in range(4)]
    assert collective("AAB", RING).messages == tuple(everybody)
    ordered = [(a, b) for a in range(4) for b in range(4) if a != b]
    assert arrows(collective("AAS", RING)) == ordered
    assert arrows(collective("AAG", RING)) == [(b, a) for a, b in ordered]
    assert collective("AAR", RING).messages == tuple(
        Reduction(message.destinations, message.source) for message in everybody
    )


def test_many_to_many():
    roles = {"transmitters": [0, 1], "receivers": [1, 3]}
    assert collective("MNB", RING, **roles).messages == (Message(0, (1, 3)), Message(1, (3,)))
    assert arrows(collective("MNS", RING, **roles)) == [(0, 1), (0, 3), (1, 3)]


def test_modes_of_a_file_narrow_the_participants():
    assert collective("OAB", RING, modes=([3], [1, 3])).messages == (Message(3, (1,)),)
    assert arrows(collective("AOG", RING, modes=([0, 1], [2]))) == [(0, 2), (1, 2)]
    roles = {"transmitters": [0], "modes": ([1], [2, 3])}
    assert arrows(collective("MNS", RING, **roles)) == [(0, 2), (0, 3)]


USERS = {
    "root": "OAB, OAS, AOG, AOR or multicast", "transmitters": "MNB or MNS",
    "receivers": "MNB, MNS or multicast",
}  # fmt: skip


@pytest.mark.parametrize("info", PATTERNS, ids=lambda info: info.name)
@pytest.mark.parametrize("role", USERS)
def test_a_role_is_used_or_refused(info, role):
    argument = ARGUMENTS.get(info.name)
    name = info.name if argument is None else f"{info.name}:{argument}"
    given: dict[str, Any] = {role: 2 if role == "root" else [2, 3]}
    if role in info.roles:
        assert collective(name, RING, **given).messages != collective(name, RING).messages
        return
    line = f"{role}: {info.name} has no {role}; leave it out, or use {USERS[role]}"
    with refused(line):
        collective(name, RING, **given)


@pytest.mark.parametrize(
    ("name", "given", "line"),
    [
        ("multicast", {"transmitters": [0, 3], "receivers": [1, 2]},
         "transmitters: multicast has no transmitters; leave it out, or use MNB or MNS"),
        ("multicast:1", {"receivers": [2]},
         "receivers: multicast lists its receivers after the colon; drop one"),
        ("AAB", {"root": 1, "transmitters": [1]},
         "root: AAB has no root; leave it out, or use OAB, OAS, AOG, AOR or multicast"),
    ],
)  # fmt: skip
def test_the_pattern_that_uses_all_roles_is_named(name, given, line):
    with refused(line):
        collective(name, RING, **given)


ARGUMENTS = {"permutation": "reverse", "pairs": "0>1"}


def test_only_terminals_take_part():
    star = Network.from_links("star", 4, [(0, 3), (1, 3), (2, 3)], endpoints=(0, 1, 2))
    assert collective("AAB", star).messages[0] == Message(0, (1, 2))
    broken = fail(RING, nodes=[0])
    assert collective("OAB", broken).messages == (Message(1, (2, 3)),)


def test_multicast():
    assert collective("multicast:1,4-6", MESH).messages == (Message(0, (1, 4, 5, 6)),)
    assert collective("Multicast: 4-6,1", MESH).name == "multicast:1,4-6"
    assert collective("multicast", RING).messages == (Message(0, (1, 2, 3)),)
    assert collective("multicast:0-2", RING, root=1).messages == (Message(1, (0, 2)),)
    assert collective("multicast", RING, receivers=[2]).messages == (Message(0, (2,)),)
    assert collective("multicast", RING, receivers=[1, 3], root=1).messages == (Message(1, (3,)),)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("reverse", [(0, 3), (1, 2), (2, 1), (3, 0)]),
        ("shift", [(0, 2), (1, 3), (2, 0), (3, 1)]),
        ("transpose", [(1, 2), (2, 1)]),
        ("bit-reversal", [(1, 2), (2, 1)]),
        ("0>3,3>1", [(0, 3), (3, 1)]),
        ("0>0,3>1", [(3, 1)]),
    ],
)
def test_permutation(kind, expected):
    found = collective(f"PERMUTATION:{kind.upper()}", RING)
    assert arrows(found) == expected
    assert found.name == f"permutation:{kind}"


def test_permutations_count_the_participants_not_the_nodes():
    star = Network.from_links("s", 6, [(1, 0), (3, 0), (4, 0), (5, 0)], endpoints=(1, 3, 4, 5))
    assert arrows(collective("permutation:shift", star)) == [(1, 4), (3, 5), (4, 1), (5, 3)]


def test_pairs_from_a_file(tmp_path):
    path = tmp_path / "Traffic.csv"
    path.write_text("source,destination\n0,3\n0,3\n")
    found = collective(f"pairs:@{path}", RING)
    assert arrows(found) == [(0, 3), (0, 3)]
    assert found.name == "pairs:@Traffic.csv"


@pytest.mark.parametrize("info", PATTERNS, ids=lambda info: info.name)
@pytest.mark.parametrize("name", ["mesh-2x2", "kautz-12", "complete-2"])
def test_every_pattern_makes_an_instance(info, name):
    argument = {"permutation": ":reverse", "pairs": ":0>1", "multicast": ":1"}.get(info.name, "")
    net = network(name)
    found = collective(info.name.swapcase() + argument, net)
    assert found.name == info.name + argument
    Instance(net, found)
    assert info.usage.startswith(info.name)
    assert info.summary


@pytest.mark.parametrize(
    ("letters", "spellings"),
    [
        ("OAB", "broadcast Bcast BROADCAST"),
        ("AAB", "allgather all-gather AllGather all_gather"),
        ("OAS", "scatter Scatter"),
        ("AAS", "alltoall all-to-all AllToAll all_to_all"),
        ("AOG", "gather GATHER"),
        ("AOR", "reduce Reduce"),
        ("AAR", "reduce-scatter ReduceScatter reduce_scatter reducescatter"),
        ("AAG", "aag A-A-G"),
    ],
)
def test_the_names_of_mpi_are_accepted_in_any_spelling(letters, spellings):
    for name in spellings.split():
        assert collective(name, RING) == collective(letters, RING)
        assert canonical_name(name) == letters
        assert cchybrid.instance("ring-bi-4", name) == cchybrid.instance("ring-bi-4", letters)


@pytest.mark.parametrize("name", ["allreduce", "All-Reduce", "all_reduce"])
def test_an_allreduce_is_one_sum_of_all_parts(name):
    assert collective(name, RING).messages == (AllReduction((0, 1, 2, 3)),)
    among = cchybrid.instance("ring-bi-4", name, participants=[1, 3], chunks=2).collective
    assert among.messages == (AllReduction((1, 3)),) * 2


@pytest.mark.parametrize(("name", "form"), [("Scan", Scan), ("exscan", Exscan)])
def test_a_scan_is_in_the_order_of_the_node_numbers(name, form):
    found = collective(name, RING, participants=[3, 1])
    assert (found.name, found.messages) == (f"{name.lower()} among 1,3", (form((1, 3)),))


REFUSALS = {
    "scan:3": "scan takes no argument; write scan",
    "AABB": "unknown collective 'AABB'; did you mean AAB or allgather? `cchybrid",
    "permutatoin:reverse": "did you mean permutation:KIND?",
    "": "unknown collective ''; `cchybrid collectives` lists the names",
    "AAB:3": "AAB takes no argument; write AAB",
    "multicast:77": "multicast on ring-bi-4: node 77 takes no part; use some of 0-3",
    "multicast:0": "the root alone is listed; list the nodes that it sends to",
    "permutation": "no permutation is named; use reverse, shift",
    "permutation:foo": "unknown permutation 'foo'; use reverse, shift",
    "permutation:0>1,2>1": "node 1 receives twice; use pairs:",
    "permutation:0>1,0>2": "node 0 sends twice; use pairs:",
    "permutation:1>1": "every node stays where it is",
    "pairs": "a pair is missing; write SOURCE>DESTINATION",
    "pairs:0-3": "'0-3' is no pair; write SOURCE>DESTINATION, such as 0>3,2>5, or @FILE",
    "pairs:2>2": "node 2 would send to itself; drop 2>2",
    "pairs:0>4": "node 4 takes no part; use some of 0-3",
    "pairs:@nowhere.csv": "nowhere.csv: cannot be read: No such file or directory",
}


@pytest.mark.parametrize(
    ("among", "name", "roles", "message"),
    [
        *((RING, name, {}, message) for name, message in REFUSALS.items()),
        (network("ring-bi-5"), "permutation:transpose", {}, "5 participants are no square"),
        (network("ring-bi-6"), "permutation:bit-reversal", {}, "6 participants are no power"),
        (network("complete-2"), "permutation:bit-reversal", {}, "every node stays where it is"),
        (RING, "OAB", {"root": 99}, "OAB on ring-bi-4: root 99 is no terminal; use one of 0-3"),
        (RING, "OAB", {"root": 0, "modes": ([1], [2])}, "node 0 takes no part; use some of 1"),
        (RING, "MNB", {"transmitters": [4]}, "transmitter 4 is no terminal; use one of 0-3"),
        (RING, "MNB", {"transmitters": []}, "no transmitters; name at least one"),
        (RING, "MNB", {"transmitters": [1], "receivers": [1]}, "too few participants (1)"),
        (fail(RING, nodes=[0]), "OAB", {"root": 0}, "root 0 is no terminal; use one of 1-3"),
        *(
            (Network("dot", 1, ()), name, {}, "too few participants")
            for name in ("OAB", "AAB", "AAS", "AAR", "MNB", "permutation:reverse")
        ),
        *(
            (network("ring-uni-4096"), name, {}, f"at most {MAX_PAIRS} pairs")
            for name in ("AAB", "AAS", "AAG", "AAR", "MNB", "MNS")
        ),
    ],
)
def test_refusals(among, name, roles, message):
    with refused(message):
        collective(name, among, **roles)


def test_other_patterns_can_be_given():
    def build(roles: Roles) -> Collective:
        return Collective("hello", (Message(roles.root, (1,)),))

    pattern = CollectiveInfo("Hello", "Hello[:X]", build, "says hello")
    assert collective("HELLO", RING, patterns=[pattern]).name == "hello"
    with pytest.raises(InputError, match="unknown collective 'AAB'"):
        collective("AAB", RING, patterns=[pattern])


def test_a_collective_of_other_nodes_than_the_participants_is_refused():
    fixed = CollectiveInfo("fixed", "fixed", lambda _: Collective("f", (Message(0, (1,)),)), "-")
    with refused("fixed on ring-bi-4: participants: it uses nodes that take no part: 0-1; add"):
        collective("fixed", RING, participants=[2, 3], patterns=[fixed])


def test_a_collective_has_the_name_of_its_record():
    lie = CollectiveInfo("half", "half", lambda _: Collective("AAB", (Message(0, (1,)),)), "-")
    assert collective("half", RING, patterns=[lie]).name == "half"
    assert collective("half", RING, participants=[0, 1], patterns=[lie]).name == "half among 0-1"
