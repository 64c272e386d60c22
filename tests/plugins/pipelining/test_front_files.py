"""Folders of fronts, checked from their files; forged ones are refused, or show what is true."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import cchybrid
from cchybrid import check_front
from cchybrid.checker import EvidenceError
from cchybrid.library.schemas import schema
from cchybrid.model import Channel, Collective, Instance, Message, Network
from cchybrid.model.errors import InputError
from tests.cli.test_commands import call


def instance() -> Instance:
    """Return one whose second step gains nothing.

    A detour of three hops lets 3 rounds carry 4 chunks from 0 to 1; elsewhere three messages share
    a channel of capacity 4, so the throughput is 3/4.
    """
    links = (0, 1, 1), (0, 2, 1), (2, 3, 1), (3, 1, 1), (4, 5, 4)
    network = Network("detour", 6, tuple(Channel(*each) for each in sorted(links)))
    messages = (Message(0, (1,)), *(Message(4, (5,)),) * 3)
    return Instance(network, Collective("pairs", messages))


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Return a folder with a finished front."""
    folder = tmp_path_factory.mktemp("fronts") / "front"
    assert cchybrid.pareto(instance(), folder=folder, time_limit=600).complete
    return folder


@pytest.fixture
def folder(made, tmp_path) -> Path:
    """Return a copy of the folder, which a test may change."""
    return Path(shutil.copytree(made, tmp_path / "front"))


def values(front: cchybrid.Front) -> list[tuple[int, int, int]]:
    return [(point.chunks, point.steps, point.rounds) for point in front.points]


def edit(file: Path, change: Callable[[Any], None]) -> None:
    record = json.loads(file.read_text())
    change(record)
    file.write_text(json.dumps(record))


SECOND = "steps-2.certificate.json"


@pytest.mark.slow
def test_a_finished_front_holds_from_its_files_alone(folder):
    front = check_front(folder)
    assert (values(front), front.complete) == ([(1, 1, 1), (4, 3, 3)], True)
    done = call("check", "front", cwd=folder.parent)
    assert done.returncode == 0
    for words in ("complete (certified)", "no schedule has fewer than 1 step:"):
        assert words in done.stdout
    record = json.loads(call("check", "front", "--json", cwd=folder.parent).stdout)
    assert (record["holds"], record["complete"], record["throughput"]) == (True, True, "3/4")


@pytest.mark.parametrize(
    "name", ["steps-1-chunks-1", "steps-3-chunks-4", "steps-2.certificate", "throughput", "front"]
)
def test_a_front_with_a_file_removed_is_not_complete(folder, name):
    (folder / f"{name}.json").unlink()
    with pytest.raises((EvidenceError, InputError)):
        check_front(folder)


@pytest.mark.slow
def test_a_folder_of_other_names_of_the_nodes_is_refused(tmp_path):
    network = cchybrid.network("ring-bi-4")
    first, second = (replace(network, node_names=tuple(names)) for names in ("abcd", "badc"))
    assert cchybrid.pareto(first, "alltoall", folder=tmp_path, time_limit=60).points
    with pytest.raises(InputError, match="it holds the front of another instance"):
        cchybrid.pareto(second, "alltoall", folder=tmp_path, time_limit=60)
    shutil.copy(next(tmp_path.glob("steps-*[0-9].json")), tmp_path / "renamed.json")
    names = {"node_names": list("badc")}
    edit(tmp_path / "renamed.json", lambda record: record["instance"]["network"].update(names))
    with pytest.raises(EvidenceError, match="the schedules name the nodes differently"):
        check_front(tmp_path)


def test_a_front_without_points_has_nothing_to_check(folder):
    for path in folder.glob("steps-*[0-9].json"):
        path.unlink()
    done = call("check", str(folder), cwd=folder)
    assert (done.returncode, done.stdout.count(str(folder))) == (1, 1)
    assert "FAILED: no schedule lies here, and the index has points" in done.stdout
    edit(folder / "front.json", lambda index: index.update(points=[], complete=False))
    done = call("check", str(folder), cwd=folder)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "the front has no points, so there is nothing to check; run pareto again" in done.stderr


def test_the_index_fits_its_schema(folder):
    validator = Draft202012Validator(schema("front-1"))
    index = json.loads((folder / "front.json").read_text())
    validator.validate(index)
    assert set(index) == set(schema("front-1")["properties"])
    assert set(index["points"][0]) == set(schema("front-1")["$defs"]["point"]["properties"])
    assert not validator.is_valid({**index, "compete": True})
    assert not validator.is_valid({**index, "throughput": "0.75"})


def test_names_of_files_play_no_part(folder):
    for number, path in enumerate(sorted(folder.iterdir(), reverse=True)):
        path.rename(folder / f"{number}.json")
    assert check_front(folder).complete
    again = cchybrid.pareto(instance(), folder=folder, time_limit=600)
    assert (values(again), again.complete) == ([(1, 1, 1), (4, 3, 3)], True)


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("front.json", lambda r: r["points"][1].update(rounds=2), "no files show point 1"),
        ("front.json", lambda r: r["points"][1].update(bound="2/3"), "no files show point 1"),
        ("front.json", lambda r: r["points"][0].update(certified=False), "no files show point 0"),
        ("front.json", lambda r: r["points"].append(r["points"][-1]), "point 2 has not more steps"),
        ("front.json", lambda r: r["points"].reverse(), "point 1 has not more steps"),
        ("front.json", lambda r: r["points"].insert(1, r["points"][0]), "point 1 has not more"),
        ("front.json", lambda r: r.update(throughput="1/2"), "the throughput is not"),
        ("front.json", lambda r: r.update(compete=True), "compete: the format has no such key"),
        ("front.json", lambda r: r.update(sha256="0" * 64), "about another instance"),
        (
            SECOND,
            lambda r: r["claim"].update(rounds_per_chunk="2"),
            "shows 1 rounds per chunk, not",
        ),
        (SECOND, lambda r: r["claim"].update(steps=3), SECOND),
        ("steps-3-chunks-4.json", lambda r: r["steps"][0].pop(), "the schedule is not valid"),
        (
            "steps-3-chunks-4.json",
            lambda r: r.update(lower_bound={"steps": 9, "evidence": {}}),
            "states a lower bound of 9 steps, without evidence",
        ),
        (
            "steps-3-chunks-4.json",
            lambda r: r.update(lower_bound={"steps": 3, "evidence": {"kind": "exchanges"}}),
            "steps-3-chunks-4.json: ",
        ),
        ("throughput.json", lambda r: r.update(bound="1/2"), "throughput.json: bound is 3/4"),
        ("throughput.json", lambda r: r.update(format="mine/1"), "no file of a front"),
        ("throughput.json", lambda r: r.pop("instance"), "throughput.json: "),
    ],
)
def test_edited_claims_are_refused(folder, name, change, reason):
    edit(folder / name, change)
    with pytest.raises(EvidenceError, match=reason):
        check_front(folder)
    done = call("check", "front", cwd=folder.parent)
    assert (done.returncode, "FAILED" in done.stdout) == (1, True)


def test_a_run_without_time_takes_no_point_from_the_folder(folder):
    index = (folder / "front.json").read_text()
    for options in ({}, {"max_chunks": 1}, {"max_steps": 2}):
        front = cchybrid.pareto(instance(), folder=folder, time_limit=1e-9, **options)
        assert values(front) == [(1, 1, 1), (4, 3, 3)][: 1 if "max_steps" in options else 2]
        assert front.complete == ("max_steps" not in options)
        assert (folder / "front.json").read_text() == index
        assert check_front(folder).complete


def test_a_run_of_few_chunks_proves_the_schedules_of_more(folder):
    """The folder has no certificates: the run makes them for schedules that it would not seek."""
    for path in (*folder.glob("*.certificate.json"), folder / "front.json"):
        path.unlink()
    front = cchybrid.pareto(instance(), folder=folder, time_limit=600, max_chunks=1)
    assert (values(front), front.complete) == ([(1, 1, 1), (4, 3, 3)], True)
    assert check_front(folder).complete


def test_a_run_without_time_uses_no_file_that_does_not_hold(folder):
    edit(folder / "steps-3-chunks-4.json", lambda record: record["steps"][0].pop())
    edit(folder / SECOND, lambda record: record["claim"].update(rounds_per_chunk="2"))
    front = cchybrid.pareto(instance(), folder=folder, time_limit=1e-9)
    assert (values(front), front.complete) == ([(1, 1, 1)], False)
    (folder / "front.json").unlink()
    assert values(cchybrid.pareto(instance(), folder=folder, time_limit=1e-9)) == [(1, 1, 1)]


@pytest.mark.slow
def test_files_of_another_instance_are_refused(folder, tmp_path):
    cchybrid.pareto("ring-bi-4", "alltoall", folder=tmp_path / "other", time_limit=600)
    for path in (tmp_path / "other").glob("*.json"):
        if path.name != "front.json":
            target = folder / f"other-{path.name}"
            shutil.copy(path, target)
            with pytest.raises(EvidenceError, match=f"{target.name}: .*another instance"):
                check_front(folder)
            target.unlink()
    with pytest.raises(InputError, match="it holds the front of another instance"):
        cchybrid.pareto("ring-bi-4", "alltoall", folder=folder, time_limit=600)


@pytest.mark.slow
def test_a_file_with_a_better_name_proves_nothing(tmp_path):
    # A valid schedule of three steps under the name of one of two.
    ring = cchybrid.instance("hypercube-4", "allgather", switching="store-and-forward")
    found = cchybrid.solve(ring, engines=[], bounds=False).schedule
    first, second = found.steps[0], found.steps[1]
    slow = cchybrid.Schedule(ring.with_model(routing="minimal"), (first, second[:2], second[2:]))
    assert cchybrid.verify(slow) == ()
    slow.save(tmp_path / "steps-2-chunks-1.json")
    front = cchybrid.pareto(ring, folder=tmp_path, time_limit=600)
    assert (front.fewest_steps, values(front)) == (2, [(1, 2, 2), (2, 2, 3)])
    assert check_front(tmp_path).complete


@pytest.mark.slow
def test_a_front_that_is_cut_short_says_what_is_open(tmp_path):
    front = cchybrid.pareto(instance(), folder=tmp_path, max_chunks=1, max_steps=3, time_limit=600)
    assert not front.complete
    index = json.loads((tmp_path / "front.json").read_text())
    Draft202012Validator(schema("front-1")).validate(index)
    shown = check_front(tmp_path)
    assert (shown.complete, shown.points[0].rounds) == (False, 1)
    edit(tmp_path / "front.json", lambda record: record.update(complete=True))
    with pytest.raises(EvidenceError, match="says complete, but no file shows the optimum"):
        check_front(tmp_path)


def test_a_point_that_the_index_leaves_out_leaves_the_front_open(folder):
    """The schedule is still there, but a reader of the table would not see it."""
    edit(folder / "front.json", lambda index: index["points"].pop())
    with pytest.raises(EvidenceError, match="says complete, but no file shows the optimum of"):
        check_front(folder)
    edit(folder / "front.json", lambda index: index.update(complete=False))
    front = check_front(folder)
    assert values(front) == [(1, 1, 1)]
    assert not front.complete
    edit(folder / "front.json", lambda index: index["points"].clear())
    with pytest.raises(EvidenceError, match="the front has no points"):
        check_front(folder)


def test_a_front_of_wormhole_schedules_is_refused(folder):
    """Steps hop by hop say nothing about messages that take a path in one step."""
    digests = set()
    for file in folder.glob("*.json"):
        record = json.loads(file.read_text())
        if "steps" in record:
            record["instance"]["model"]["switching"] = "wormhole"
            record["instance"]["model"]["routing"] = "any"
            read = Instance.from_json(record["instance"]).in_chunks(1).with_model(rounds=())
            digests.add(read.digest)
            file.write_text(json.dumps(record))
    (digest,) = digests
    edit(folder / "front.json", lambda index: index.update(sha256=digest, complete=False))
    with pytest.raises(EvidenceError, match="the schedule is not valid"):
        check_front(folder)


@pytest.mark.slow
def test_the_limit_of_all_numbers_of_steps_is_a_bound_where_there_is_no_other(monkeypatch):
    """Each certificate has been checked when its point is made."""
    monkeypatch.setattr("cchybrid_plugins.pipelining.pareto.round_bound", lambda *_: None)
    front = cchybrid.pareto(cchybrid.instance("ring-bi-4", "allgather"), max_chunks=2)
    bounds = {(point.steps, point.verdict.bound) for point in front.points if point.verdict}
    assert bounds == {(2, Fraction(3, 2))}
