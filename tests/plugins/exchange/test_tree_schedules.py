"""Trees of the throughput: exported as one batch of chunks, and performed by interpreters."""

import json

import pytest
from cchybrid_plugins.exchange.export_msccl import export_msccl
from cchybrid_plugins.exchange.export_mscclpp import export_mscclpp
from cchybrid_plugins.exchange.msccl_import import read_msccl
from cchybrid_plugins.exchange.tree_schedules import read_schedule

import cchybrid
from cchybrid.model import Schedule
from cchybrid.plugin.imported import ImportRequest
from cchybrid.referee.verify import verify_schedule
from tests.plugins.exchange import mscclpp_interpreter
from tests.plugins.exchange.msccl_interpreter import check
from tests.refusals import refused


def trees(network, collective, chunks, rounds, bound, prices, *listed, **more):
    """Return a file of the throughput."""
    instance = cchybrid.instance(network, collective, routing="any", **more)
    keys = "root", "chunks", "paths"
    return {
        "format": "cchybrid-throughput/1", "instance": instance.to_json(),
        "rounds_per_chunk": bound, "chunks": chunks, "rounds": rounds, "bound": bound,
        "evidence": {"kind": "linear", "channels": prices},
        "trees": [dict(zip(keys, each, strict=True)) for each in listed],
    }  # fmt: skip


RING = [[0, 1, 1], [0, 3, 1]]
FILES = {
    "broadcast": trees(
        "ring-bi-4", "broadcast", 2, 1, "1/2", RING,
        (0, 1, [[0, 1], [1, 2], [2, 3]]), (0, 1, [[0, 3], [3, 2], [2, 1]]), root=0,
    ),
    "reduce": trees(
        "ring-bi-4", "reduce", 2, 1, "1/2", RING,
        (0, 1, [[1, 0], [2, 1], [3, 2]]), (0, 1, [[3, 0], [2, 3], [1, 2]]), root=0,
    ),
    "relays": trees(
        "ring-uni-3", "alltoall", 2, 6, "3", [[0, 1, 1], [1, 2, 1], [2, 0, 1]],
        *((a, 2, [[a, (a + 1) % 3]]) for a in range(3)),
        *((a, 2, [[a, (a + 1) % 3, (a + 2) % 3]]) for a in range(3)),
    ),
}  # fmt: skip


def read(record, folder) -> Schedule:
    file = folder / "trees.json"
    file.write_text(json.dumps(record))
    return read_schedule(file)


@pytest.mark.parametrize(
    ("name", "rounds"), [("broadcast", (1, 1, 1)), ("reduce", (1, 1, 1)), ("relays", (6,))]
)
def test_trees_are_exported_as_one_batch(name, rounds, tmp_path):
    found = read(FILES[name], tmp_path)
    assert verify_schedule(found) == ()
    assert found.rounds == rounds
    text = export_msccl(found)
    check(text)
    mscclpp_interpreter.check(export_mscclpp(found))
    again = read_msccl(text, ImportRequest("again", found.instance.network)).schedule
    assert (len(again.steps), again.rounds) == (len(found.steps), rounds)


def test_trees_that_the_checker_refuses_are_refused(tmp_path):
    with refused("bound is 1/2, the file says '1/3'; see: cchybrid check"):
        read({**FILES["broadcast"], "bound": "1/3"}, tmp_path)


def test_a_schedule_file_is_read_as_before(tmp_path):
    found = read(FILES["broadcast"], tmp_path)
    found.save(tmp_path / "schedule.json")
    assert read_schedule(tmp_path / "schedule.json").steps == found.steps
