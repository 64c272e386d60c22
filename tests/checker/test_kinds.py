"""Kinds of evidence about an allreduce, by hand: the transfers that it takes, and its parts."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.kinds import KINDS, kind_of, shown_steps
from tests.checker.by_hand import network

PAIRS = [[a, (a + 1) % 4] for a in range(4)]
ALL = [[0, 1, 2, 3]]
EXCHANGES = {"kind": "exchanges"}


def ring(chunks: int, members: Any = ALL, half_duplex: Any = (), **model: Any) -> Network:
    """Return an allreduce on a ring of four nodes, with channels in both directions."""
    channels = PAIRS + [[b, a] for a, b in PAIRS]
    return network(
        channels, *members, kind="allreduce", half_duplex=half_duplex, chunks=chunks, **model
    )


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        # A chunk takes 6 transfers, and the 8 channels carry 8 of them per step.
        (ring(1), 1),
        (ring(2), 2),
        (ring(4), 3),
        (ring(6), 5),
        (ring(6, [[0, 1], [1, 2, 3]]), 5),  # 2 and 4 transfers
        (ring(6, half_duplex=PAIRS), 9),
        (ring(6, ports={"inject": 1, "accept": "all"}), 9),
        (ring(6, ports={"inject": "all", "accept": [1, 1, 0, 1]}), 12),
        (ring(6, rounds=[1, 2]), 3),  # 8 + 16 + 16
        (ring(6, rounds=[2, 1]), 4),  # 16 + 8 + 8 + 8
        (ring(4, rounds=[2, 1]), 2),  # 16 + 8, all that is needed
        (ring(6, rounds=[2, 1, 2, 1]), 3),  # 16 + 8 + 16
        (ring(2, [[0, 1, 2]], rounds=[1, 2]), 1),
        (ring(1, ports={"inject": 0, "accept": "all"}), 1),  # no number of steps suffices
    ],
)
def test_exchanges(given: Network, steps: int) -> None:
    assert shown_steps(given, EXCHANGES) == steps


@pytest.mark.parametrize(("end", "back"), [("from", False), ("to", True)])
def test_a_part_is_the_broadcast_or_the_reduction(
    end: str, back: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setitem(KINDS, "linear", lambda part, given: seen.append((part, given)) or 7)
    assert shown_steps(ring(1), {"kind": "part", end: 1, "evidence": {"kind": "linear"}}) == 7
    ((part, given),) = seen
    assert given == {"kind": "linear"}
    assert part.backwards == back
    assert part.messages == [(1, (0, 2, 3))]


@pytest.mark.parametrize("member", [None, "1", 1.0, True, [1]])
def test_a_part_without_its_member_is_refused(member: Any) -> None:
    with pytest.raises(EvidenceError, match="the member that the evidence is about is missing"):
        shown_steps(ring(1), {"kind": "part", "from": member, "evidence": EXCHANGES})


@pytest.mark.parametrize("evidence", [None, [], "linear", {}, {"kind": None}, {"kind": ["linear"]}])
def test_evidence_without_a_kind_is_refused(evidence: Any) -> None:
    with pytest.raises(EvidenceError, match="the kind of the evidence is missing"):
        kind_of(evidence)


def test_kinds_are_known_by_their_names() -> None:
    assert [kind_of({"kind": kind}) for kind in KINDS] == list(KINDS)
    with pytest.raises(EvidenceError, match="no kind of evidence is called 'Linear'; make it anew"):
        kind_of({"kind": "Linear"})


@pytest.mark.parametrize(
    "evidence",
    [
        {"kind": "linear", "steps": 1},
        {"kind": "nested-sets", "message": 0, "sets": []},
        {"kind": "refutation", "steps": 2, "order": [], "proof": ""},
        {"kind": "part", "from": 0, "evidence": {"kind": "linear", "steps": 1}},
        EXCHANGES,
    ],
    ids=lambda evidence: evidence["kind"],
)
def test_evidence_with_other_keys_is_refused(evidence: dict[str, Any]) -> None:
    words = r"no object of .* alone|the member that the evidence is about is missing"
    given = ring(1) if evidence["kind"] in ("part", "exchanges") else network(PAIRS, (0, [1]))
    assert not re.search(words, refusal(given, evidence))
    assert re.search(words, refusal(given, {**evidence, "stepz": 1}))


def refusal(given: Network, evidence: dict[str, Any]) -> str:
    """Return why evidence is refused, "" if it proves something."""
    try:
        shown_steps(given, evidence)
    except EvidenceError as error:
        return str(error)
    return ""
