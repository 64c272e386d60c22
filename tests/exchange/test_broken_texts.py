"""Foreign files with random damage: every one has a verdict, none a traceback."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from cchybrid.exchange.audit import audit_file
from cchybrid.plugin.registry import load_registry
from tests.exchange.foreign_texts import (
    pair_allreduce,
    pair_alltoall,
    ring_allgather,
    sccl_allgather,
    teccl_result,
    teccl_triangle,
)
from tests.exchange.test_poseidon_import import LINKS, PAIRS, SPEC

TEXTS = {
    "allgather": ring_allgather(3),
    "allreduce": pair_allreduce(),
    "alltoall": pair_alltoall(),
    "sccl": sccl_allgather(),
    "teccl": teccl_result(*teccl_triangle(), 2),
    "csv": "step,message,source,destination,path\n1,0,0,1,0 1\n2,0,0,2,1->2\n1,1,a+b,0,2 0\n",
    "poseidon": SPEC.format(2, 2, "mesh"),
    "pairs": PAIRS,
    "links": LINKS,
}
TOKENS = (
    "0",
    "-1",
    "1",
    "7",
    "99",
    "999999999",
    "",
    '"',
    "[]",
    "{}",
    "null",
    "a",
    "->",
    "-",
    "1e9",
)


def damaged(text: str, draw: random.Random) -> str:
    """Return the text with one or two of its tokens changed, doubled or left out."""
    for _ in range(draw.randint(1, 2)):
        start = draw.randrange(len(text))
        end = start + draw.choice((0, 1, 1, 2, 5, 20))
        change: Callable[[str], str] = draw.choice((
            lambda part: draw.choice(TOKENS), lambda part: "", lambda part: part + part,
        ))  # fmt: skip
        text = text[:start] + change(text[start:end]) + text[end:]
    return text


@pytest.mark.parametrize("name", TEXTS)
def test_damaged_files_have_verdicts(name: str, tmp_path: Path) -> None:
    draw = random.Random(name)
    registry = load_registry()
    verdicts = set()
    for _ in range(40):
        (tmp_path / "file").write_text(damaged(TEXTS[name], draw))
        found = audit_file(tmp_path / "file", registry, bound_seconds=0.01)
        assert "\n" not in found.sentence
        verdicts.add(found.verdict)
    assert len(verdicts) > 1
