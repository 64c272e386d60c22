"""The checker of throughput files: evidence by hand, malformed files, two hundred mutants each."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cchybrid.checker import EvidenceError, throughput
from cchybrid.checker.instance import Network as CheckedNetwork
from cchybrid.checker.linear import linear_rounds
from cchybrid.checker.throughput import check_throughput
from cchybrid.library.schemas import schema
from tests.checker.by_hand import record as by_hand
from tests.checker.mutants import truncated, with_change, without
from tests.checker.plain_throughput import assert_true
from tests.fuzz.reader import read_corpus

CASES = ("trees", "switch", "backwards", "broadcast", "routes", "endpoints")


def read(case: str) -> Any:
    return read_corpus(f"throughput-{case}")


def ring() -> dict[str, Any]:
    """Return an allgather of three nodes in a one-way ring, by hand."""
    everyone = [(a, [b for b in range(3) if b != a]) for a in range(3)]
    return {
        "format": "cchybrid-throughput/1",
        "rounds_per_chunk": "2",
        "chunks": 1,
        "rounds": 2,
        "instance": by_hand([[0, 1], [1, 2], [2, 0]], *everyone, routing="any"),
        "bound": "2",
        "evidence": {"kind": "linear", "channels": [[0, 1, 1]]},
        "trees": [
            {"root": a, "chunks": 1, "paths": [[a, (a + 1) % 3], [(a + 1) % 3, (a + 2) % 3]]}
            for a in range(3)
        ],
    }


def test_an_instance_with_a_routing_rule_is_refused() -> None:
    # The trees and the bound are over any routes, so they are not those of the instance.
    for routing, words in (("minimal", "minimal routing"), (1, "at most 1 extra hops")):
        record = ring()
        record["instance"]["model"]["routing"] = routing
        with pytest.raises(EvidenceError, match=f"any routes, the instance has {words}"):
            check_throughput(record)
        record["instance"]["model"]["switching"] = "store-and-forward"
        assert check_throughput(record).optimal


def test_trees_and_prices_by_hand() -> None:
    verdict = check_throughput(ring())  # two messages enter node 1 over one channel
    assert (verdict.rounds_per_chunk, verdict.bound, verdict.kind) == (2, 2, "linear")
    assert verdict.optimal
    slower = {**ring(), "rounds": 5, "rounds_per_chunk": "5"}
    assert not check_throughput(slower).optimal


def test_a_path_ends_at_its_last_node() -> None:
    record = {
        **ring(), "instance": by_hand([[0, 1], [1, 2]], (0, [2]), routing="any"),
        "rounds": 1, "rounds_per_chunk": "1", "bound": "1",
        "trees": [{"root": 0, "chunks": 1, "paths": [[0, 1, 2]]}],
    }  # fmt: skip
    assert check_throughput(record).optimal
    record["trees"][0]["paths"] *= 2
    with pytest.raises(EvidenceError, match="begins or ends where it must not"):
        check_throughput(record)
    record["trees"][0]["paths"].pop()
    record["instance"]["collective"]["messages"][0]["destinations"] = [1]
    with pytest.raises(EvidenceError, match="has the destinations of a tree"):
        check_throughput(record)


def test_who_made_a_file_is_not_checked() -> None:
    assert check_throughput({**ring(), "made_by": "someone"}) == check_throughput(ring())


def test_equal_messages_have_their_chunks_each() -> None:
    record = ring()
    twice = {"rounds": 4, "rounds_per_chunk": "4", "bound": "4", "trees": record["trees"] * 2}
    record["instance"]["collective"]["messages"] *= 2
    assert check_throughput({**record, **twice}).optimal
    with pytest.raises(EvidenceError, match="more or fewer chunks"):
        check_throughput({**record, **twice, "trees": record["trees"]})


def test_a_bound_above_the_trees_is_an_error_of_the_checker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(throughput, "linear_rounds", lambda *_: Fraction(5, 2))
    with pytest.raises(EvidenceError, match="the trees refute the bound"):
        check_throughput({**ring(), "bound": "5/2"})


def test_endpoints_without_a_part_carry_nothing() -> None:
    pairs = [[0, 1], [0, 3], [3, 1], [0, 2], [2, 1]]
    instance = by_hand(pairs, (0, [1]), endpoints=[0, 1, 3])
    wormhole = CheckedNetwork(instance).with_any_routing()
    entries = {"kind": "linear", "channels": [[0, 1, 1], [2, 1, 1]]}
    assert linear_rounds(wormhole, entries, None) == Fraction(1, 2)  # not over endpoint 3
    instance["model"]["switching"] = "store-and-forward"
    hop_by_hop = CheckedNetwork(instance).with_any_routing()
    with pytest.raises(EvidenceError, match="shows no number"):
        linear_rounds(hop_by_hop, entries, None)
    entries["channels"] += [[3, 1, 1]]
    assert linear_rounds(hop_by_hop, entries, None) == Fraction(1, 3)


Change = Callable[[dict[str, Any]], Any]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda r: r.update(format="cchybrid-throughput/2"), "this is no"),
        (lambda r: r.update(note=""), "other parts"),
        (lambda r: r.pop("bound"), "other parts"),
        (lambda r: r.update(instance=[]), "not well-formed"),
        (lambda r: r.update(instance={"format": "cchybrid-instance/1"}), "not well-formed"),
        (lambda r: r.update(rounds=1, rounds_per_chunk="1"), "carries more than its capacity"),
        (lambda r: r.update(rounds=3), "rounds_per_chunk is 3"),
        (lambda r: r.update(rounds=True), "not well-formed"),
        (lambda r: r.update(chunks=0), "number of chunks or rounds is 0"),
        (lambda r: r.update(rounds=0), "number of chunks or rounds is 0"),
        (lambda r: r.update(rounds=10**41), "rounds or trees are not well-formed"),
        (lambda r: r.update(bound="\ud800\n1"), r"the file says '\\ud800\\n1'"),
        (lambda r: r["instance"]["network"]["channels"][0].append(10**4000), "not well-formed"),
        (lambda r: r.update(bound="1"), "bound is 2, the file says '1'"),
        (lambda r: r.update(bound="4/2"), "bound is 2"),
        (lambda r: r.update(bound=2), "bound is 2"),
        (lambda r: r.update(evidence={"kind": "cut", "nodes": [1]}), "of the kind linear; make it"),
        (lambda r: r.update(evidence={"kind": "nested-sets"}), "is of the kind linear"),
        (lambda r: r.update(evidence={"kind": "linear"}), "shows no number of rounds"),
        (lambda r: r["evidence"].update(steps=2), "no object of kind, channels"),
        (lambda r: r["evidence"].update(channels=[]), "shows no number of rounds"),
        (lambda r: r["evidence"].update(channels=[[0, 1, 1, 2, 1]]), "a step that is not there"),
        (lambda r: r["evidence"].update(channels=[[1, 0, 1]]), "for something that is not there"),
        (lambda r: r["evidence"].update(groups=[{"worth": [[1, 1]]}]), "a number of steps"),
        (lambda r: r["evidence"].update(groups=[{"sets": [[2, 1]]}]), "weigh more than a channel"),
        (lambda r: r.update(trees={}), "trees are not well-formed"),
        (lambda r: r.update(trees=[[]]), "trees are not well-formed"),
        (lambda r: r["trees"][0].update(chunks=0), "number of chunks or rounds is 0"),
        (lambda r: r["trees"].pop(), "more or fewer chunks"),
        (lambda r: r["trees"].append(r["trees"][0]), "more or fewer chunks"),
        (lambda r: r["trees"][0].update(chunks=2), "more or fewer chunks"),
        (lambda r: r["trees"][0].update(root=1), "begins or ends where it must not"),
        (lambda r: r["trees"][0].update(root=7), "begins or ends where it must not"),
        (lambda r: r["trees"][0].update(size=1), "trees are not well-formed"),
        (lambda r: r["trees"][0]["paths"].pop(), "has the destinations of a tree"),
        (lambda r: r["trees"][0]["paths"].reverse(), "begins or ends where it must not"),
        (lambda r: r["trees"][0]["paths"].append([0, 1]), "begins or ends where it must not"),
        (lambda r: r["trees"][0]["paths"].append([2, 0]), "begins or ends where it must not"),
        (lambda r: r["trees"][0].update(paths=[[0, 2], [2, 1]]), r"path \[0, 2\] of a tree"),
        (lambda r: r["trees"][0].update(paths=[[0, 1, 2, 0, 1]]), "of a tree is not allowed"),
        (lambda r: r["trees"][0].update(paths=[[0], [0, 1]]), "of a tree is not allowed"),
        (lambda r: r["trees"][0].update(paths=[[0, 1.0], [1, 2]]), "trees are not well-formed"),
        (lambda r: r["instance"]["model"].update(ports=1), "limited ports"),
        (lambda r: r["instance"]["network"].update(nodes=2), "not well-formed"),
    ],
)
def test_what_is_no_proof_is_refused(change: Change, error: str) -> None:
    record = ring()
    change(record)
    with pytest.raises(EvidenceError, match=error):
        check_throughput(record)


@pytest.mark.parametrize("record", [None, [], "", 1, {}, {"format": 3}])
def test_other_things_are_refused(record: Any) -> None:
    with pytest.raises(EvidenceError, match="this is no cchybrid-throughput/1"):
        check_throughput(record)


def test_a_path_over_an_endpoint_is_refused() -> None:
    record = read("endpoints")
    record["instance"]["network"]["endpoints"] = [*range(12)]
    with pytest.raises(EvidenceError):
        check_throughput(record)


# Mutants: most are refused, and what is accepted must be true.


def mutants(case: str, count: int) -> Iterator[tuple[str, Any]]:
    changes = {
        "a number": with_change,
        "a number of the trees": lambda r, m: with_change(r, m, "trees"),
        "a number of the network": lambda r, m: with_change(r, m, "instance", "network"),
        "a number of the collective": lambda r, m: with_change(r, m, "instance", "collective"),
        "a part dropped": without,
        "fewer rounds": _fewer_rounds,
        "a higher bound": lambda r, m: {
            **m,
            "bound": str(Fraction(m["bound"]) * Fraction(r.randint(1, 9), 7)),
        },
        "another instance": lambda r, m: {**m, "instance": read(r.choice(CASES))["instance"]},
        "a message more": _message_more,
        "truncated": truncated,
    }
    for number in range(count):
        name = list(changes)[number % len(changes)]
        yield name, changes[name](random.Random(number), read(case))


def _fewer_rounds(rng: random.Random, record: Any) -> Any:
    rounds = rng.randint(1, record["rounds"])
    ratio = str(Fraction(rounds, record["chunks"]))
    return {**record, "rounds": rounds, "rounds_per_chunk": ratio}


def _message_more(rng: random.Random, record: Any) -> Any:
    messages = record["instance"]["collective"]["messages"]
    messages.append(copy.deepcopy(rng.choice(messages)))
    return record


@pytest.mark.parametrize("count", [40, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("case", CASES)
def test_mutants_are_refused(case: str, count: int) -> None:
    check_throughput(read(case))
    accepted: Counter[str] = Counter()
    for name, changed in mutants(case, count):
        try:
            verdict = check_throughput(changed)
        except EvidenceError:
            continue
        accepted[name] += 1
        assert_true(verdict, changed)
        assert changed["rounds_per_chunk"] == str(verdict.rounds_per_chunk)
    assert not accepted["a message more"]
    assert accepted.total() < count / 4, accepted


@pytest.mark.parametrize("case", CASES)
def test_a_file_is_what_its_schema_says(case: str) -> None:
    validator = Draft202012Validator(schema("throughput-1"))
    record = read(case)
    validator.validate(record)
    for wrong in (
        {"chunks": 0}, {"bound": "0"}, {"bound": 2}, {"evidence": {"kind": "cut", "nodes": [0]}},
        {"evidence": {}}, {"trees": []}, {"colour": "red"}, {"instance": {}},
    ):  # fmt: skip
        assert not validator.is_valid({**record, **wrong}), wrong
