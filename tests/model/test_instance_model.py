"""Instances: JSON, files, the digest, reversal."""

import copy
import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from cchybrid.library.collectives import collective
from cchybrid.library.topologies import network
from cchybrid.model import Collective, CommunicationModel, Instance, Message, Reduction
from cchybrid.model.errors import InputError
from cchybrid.model.instance import write_text
from tests.examples import examples
from tests.model.model_strategies import instances
from tests.refusals import refused

MESH = network("mesh-2x2")
GOSSIP = Instance(MESH, collective("AAB", MESH))


@settings(max_examples=examples(60))
@given(instances())
def test_backwards_twice_is_forward(instance: Instance) -> None:
    forward = instance.forward
    assert forward.collective.kind == "deliver"
    assert forward.forward is forward
    assert (forward is instance) == (instance.collective.kind == "deliver")


def test_a_reduction_backwards_is_a_broadcast_on_the_reversed_network() -> None:
    ring = network("ring-uni-3")
    model = CommunicationModel(inject=1, accept=2)
    forward = Instance(ring, Collective("x", (Reduction((1, 2), 0),)), model).forward
    assert forward.collective.messages == (Message(0, (1, 2)),)
    assert forward.network.channel_index.keys() == {(1, 0), (2, 1), (0, 2)}
    assert (forward.model.inject, forward.model.accept) == (2, 1)


def test_the_name_is_that_of_network_and_collective_unless_given() -> None:
    assert GOSSIP.name == "mesh-2x2 AAB"
    record = GOSSIP.to_json()
    del record["name"]
    assert Instance.from_json(record).name == "mesh-2x2 AAB"


def test_digest_ignores_what_restricts_no_schedule() -> None:
    record = GOSSIP.to_json()
    renamed = copy.deepcopy(record) | {"name": "other"}
    renamed["network"]["name"] = renamed["collective"]["name"] = "other"
    del renamed["network"]["positions"]
    renamed["network"]["node_names"] = [f"R{node}" for node in range(GOSSIP.network.nodes)]
    assert Instance.from_json(renamed).digest == GOSSIP.digest
    assert GOSSIP.with_model(routing="any").digest != GOSSIP.digest
    # A stored digest must stay true: it names runs and results.
    assert len(GOSSIP.digest) == 64


def test_save_and_load(tmp_path: Path) -> None:
    path = tmp_path / "instance.json"
    GOSSIP.save(path)
    assert Instance.load(path) == Instance.load(str(path)) == GOSSIP
    assert os.listdir(tmp_path) == ["instance.json"]


def changed(*path: Any, to: Any) -> dict[str, Any]:
    record = copy.deepcopy(GOSSIP.to_json())
    place: Any = record
    for key in path[:-1]:
        place = place[key]
    if to is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return record


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], "the file: [] is not an object; write an object"),
        ({}, 'format: the key is missing; give a file with "format": "cchybrid-instance/1"'),
        (changed("format", to="cchybrid-schedule/1"), 'the format is "cchybrid-schedule/1"; give'),
        (changed("network", to=...), "network: the key is missing; add an object"),
        (changed("name", to=7), "name: 7 is not a string"),
        (changed("extra", to=7), "extra: the format has no such key; use format, name, network"),
        (changed("model", to=None), "model: null is not an object"),
        (changed("collective", "messages", 1, "source", to=9),
         "collective.messages[1]: no node 9 in mesh-2x2; use 0 to 3"),
        (changed("model", "ports", to={"inject": [1, 1], "accept": 1}),
         "model.ports.inject: 2 numbers for 4 nodes; give one per node"),
    ],
)  # fmt: skip
def test_refusals(record: Any, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(json.dumps(record))
    with refused(f"{tmp_path}/bad.json: ", message):
        Instance.load(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe{}", "not a text file; give a UTF-8 text file"),
        (b"", "line 1, column 1: not valid JSON: Expecting value; correct the file there"),
        (b'{"format":\n 5,}', "line 2, column 4: not valid JSON: "),
        (b'{"format": 1, "format": 2}', 'the key "format" is listed twice in one object; keep one'),
        (b"[" * 200_000, "not valid JSON: nested too deeply; flatten the file"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not valid JSON: "),
        (b'{"a": NaN}', "not valid JSON: NaN is no number; use a finite number"),
    ],
)
def test_files_that_are_no_json(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with refused(f"{path}: ", message):
        Instance.load(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.json: cannot be read: No such file"):
        Instance.load(tmp_path / "nowhere.json")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        Instance.load(tmp_path)


@pytest.mark.parametrize("name", ["no/such/folder.json", ".", ""])
def test_files_that_cannot_be_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"cannot be written: .*; check the folder"):
        GOSSIP.save(name)
    assert os.listdir(tmp_path) == []


def test_a_link_is_written_through(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    write_text("new", link)
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_device_is_not_replaced() -> None:
    write_text("gone", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    code = "from cchybrid.model.instance import write_text; write_text('out', '/dev/stdout')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "out"


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({}, ""),
        ({"inject": 1, "accept": 1}, ", 1 port"),
        ({"inject": 1, "accept": 2}, ", ports 1,2"),
        ({"inject": (1, 1, 1, 2), "accept": (1, 1, 1, 1)}, ", ports by node"),
        ({"routing": "any"}, ", any routing"),
        ({"routing": 2}, ", 2 extra hops"),
        ({"switching": "store-and-forward"}, ", store-and-forward"),
        ({"inject": 1, "accept": 1, "rounds": (1, 2)}, ", 1 port, rounds 1+2"),
        (
            {"switching": "store-and-forward", "inject": 1, "accept": 1},
            ", store-and-forward, 1 port",
        ),
    ],
)
def test_the_standard_name_says_what_differs_from_the_default_model(model, words):
    """Two instances of one network and collective never share a name by their model."""
    found = GOSSIP.with_model(**model)
    assert found.name == f"mesh-2x2 AAB{words}"
    assert found.in_chunks(3).name == f"mesh-2x2 AAB, 3 chunks{words}"
    assert found.with_model_of(CommunicationModel()).name == "mesh-2x2 AAB"
    mine = replace(found.in_chunks(3), name=f"mine, 3 chunks{words}, here")
    assert mine.full_name == mine.name
    assert mine.in_chunks(1).with_model_of(CommunicationModel()).full_name == "mine, here"
    changed = replace(found, name="mine").with_model(routing="any")
    assert (changed.name, "any routing" in changed.full_name) == ("mine", True)
    assert replace(found, name="mine").digest == found.digest


def test_rounds_of_a_reduction_are_counted_from_the_last_step():
    messages = (Reduction((1, 2, 3), 0),)
    found = replace(GOSSIP, collective=Collective("AOR", messages), name="")
    assert found.with_model(rounds=(1, 2)).name == "mesh-2x2 AOR, rounds 1+2, last first"
    assert found.with_model(rounds=(2,)).name == "mesh-2x2 AOR, rounds 2"
