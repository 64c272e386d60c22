"""Chunks and rounds from Python: instances, solve, fewest rounds, fronts."""

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest
from cchybrid_plugins.pipelining import pareto, rounds
from cchybrid_plugins.pipelining.best import fastest
from cchybrid_plugins.pipelining.rounds import ENGINE
from cchybrid_plugins.pipelining.rounds_front import Front, choices

import cchybrid
from cchybrid.host.certificates import check_rounds
from cchybrid.model import Instance, Schedule
from cchybrid.model.errors import InputError
from cchybrid.plugin.records import EngineInfo
from cchybrid.plugin.registry import RESERVED_NAMES
from cchybrid.referee.verify import verify_schedule
from tests.refusals import refused


def test_names_and_files_say_chunks_and_rounds(tmp_path):
    plain = cchybrid.instance("dgx-1", "allgather")
    instance = cchybrid.instance("dgx-1", "allgather", chunks=6, rounds=[2, 2, 3])
    assert instance.name == "dgx-1 AAB, 6 chunks, rounds 2+2+3"
    record = instance.to_json()
    messages = instance.collective.messages, record["collective"]["messages"]
    assert tuple(map(len, messages)) == (48, 8)
    instance.save(tmp_path / "i.json")
    assert Instance.load(tmp_path / "i.json") == instance
    assert instance.in_chunks(1).with_model(rounds=()) == plain
    formats = record["format"], plain.to_json()["format"]
    assert formats == ("cchybrid-instance/2", "cchybrid-instance/1")


def test_no_other_engine_has_the_name_of_the_search_for_fewest_rounds():
    assert ENGINE.name in RESERVED_NAMES


def test_repeated_last_rounds_are_kept_once():
    found = cchybrid.instance("ring-bi-5", "AAB", rounds="1,2,2")
    assert found.model.rounds == (1, 2)
    assert [found.model.rounds_in(step) for step in range(4)] == [1, 2, 2, 2]
    assert found.model.total_rounds(4) == 7
    assert found == cchybrid.instance("ring-bi-5", "AAB", rounds=(1, 2))
    for one in ([1, 1], []):
        assert cchybrid.instance("ring-bi-5", "AAB", rounds=one).model.rounds == ()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"chunks": 0}, "chunks: 0 chunks"),
        ({"chunks": 1.5}, "no whole number"),
        ({"rounds": "1,x"}, "'1,x' are no rounds per step"),
        ({"rounds": [0]}, "0 rounds in a step"),
        ({"rounds": [2_000_000]}, "2000000 rounds in a step"),
        ({"rounds": [True, "2"]}, "no whole number"),
        ({"rounds": 3}, "'3' are no rounds per step"),
    ],
)
def test_wrong_numbers(given, message):
    with pytest.raises(InputError, match=message):
        cchybrid.instance("ring-bi-5", "AAB", **given)


def test_the_old_format_has_neither():
    record = cchybrid.instance("ring-bi-5", "AAB", chunks=2).to_json()
    record["format"] = "cchybrid-instance/1"
    with pytest.raises(InputError, match="cchybrid-instance/1 has no chunks"):
        Instance.from_json(record)


@pytest.mark.slow
def test_steps_with_rounds_are_solved_and_certified():
    instance = cchybrid.instance("dgx-1", "allgather", chunks=2, rounds=[1, 2])
    wide = cchybrid.solve(instance, time_limit=120)
    assert (wide.steps, wide.certified) == (2, True)
    assert wide.schedule.rounds == (1, 2)
    assert not verify_schedule(wide.schedule)


@pytest.mark.parametrize(
    ("network", "collective", "expected"),
    [
        pytest.param("dgx-1", "alltoall", [(1, 2, 3), (3, 2, 8)], marks=pytest.mark.long),
        ("ring-bi-8", "reduce-scatter", [(1, 4, 4), (2, 4, 7)]),
    ],
)
def test_fronts(network, collective, expected):
    agrees(cchybrid.pareto(cchybrid.instance(network, collective), time_limit=600), expected)


def agrees(front: Front, expected: list[tuple[int, int, int]]) -> None:
    assert (values(front), front.complete) == (expected, True)
    assert all(point.certified for point in front.points)
    assert front.points[-1].ratio == front.throughput.bound


@pytest.mark.slow
def test_the_sentence_says_that_messages_go_hop_by_hop():
    wormhole = cchybrid.instance("mesh-1x4", [(0, 3)], switching="wormhole")
    found = cchybrid.fewest_rounds(wormhole, 3, time_limit=60)
    assert (found.rounds, found.certified) == (3, True)
    assert "store-and-forward: 3 rounds in 3 steps" in found.sentence
    assert "store-and-forward" in found.to_json()["instance"]


@pytest.mark.slow
def test_a_reduction_counts_its_rounds_from_the_last_step():
    instance = cchybrid.instance("ring-bi-6", "reduce", root=0, rounds=[3, 1])
    found = cchybrid.solve(instance, time_limit=120)
    assert found.schedule.rounds == (1,) * (found.steps - 1) + (3,)


@pytest.mark.long
def test_an_engine_without_rounds_says_so():
    instance = cchybrid.instance("ring-bi-6", "AAB", rounds=[1, 2])
    found = cchybrid.solve(instance, engines=["tabu"], time_limit=10)
    assert any("steps of several rounds" in remark for remark in found.remarks)
    plain = cchybrid.solve("ring-bi-6", "AAB", engines=["rounds"], time_limit=10)
    assert any("every step has one round" in remark for remark in plain.remarks)


@pytest.mark.slow
def test_fewest_rounds():
    instance = cchybrid.instance("dgx-1", "allgather", chunks=6)
    found = cchybrid.fewest_rounds(instance, 3, time_limit=120)
    assert (found.rounds, found.ratio, found.certified) == (7, Fraction(7, 6), True)
    assert check_rounds(found.schedule.to_json(), found.certificate).optimal


def test_a_search_that_is_ended_at_once():
    instance = cchybrid.instance("dgx-1", "allgather", chunks=6)
    found = cchybrid.fewest_rounds(instance, 3, stop=lambda: True)
    assert (found.schedule, found.interrupted) == (None, True)
    assert found.bound is not None
    ended = cchybrid.pareto("dgx-1", "allgather", stop=lambda: True)
    assert (ended.points, ended.interrupted, ended.complete) == ((), True, False)
    assert choices(ended, 1, 1) == []


@pytest.mark.slow
def test_a_search_that_crashes_is_named(monkeypatch):
    crash = EngineInfo("crash", "tests.faulty_engines:Crash", "")
    monkeypatch.setattr(rounds, "ENGINE", crash)
    found = cchybrid.fewest_rounds(cchybrid.instance("ring-bi-4", "allgather"), 2, time_limit=120)
    assert found.troubles == ("crash: crashed (signal 11)",)
    assert found.schedule is None


@pytest.fixture(scope="module")
def dgx(tmp_path_factory) -> tuple[Front, Path]:
    """Return the front of an allgather, and the folder of its files."""
    folder = tmp_path_factory.mktemp("dgx") / "front"
    instance = cchybrid.instance("dgx-1", "allgather")
    return cchybrid.pareto(instance, folder=folder, time_limit=600), folder


def values(front: Front) -> list[tuple[int, int, int]]:
    return [(point.chunks, point.steps, point.rounds) for point in front.points]


@pytest.mark.long
@pytest.mark.parametrize("network", ["hypercube-16", "torus-4x4"])
def test_one_schedule_that_is_best_in_both(network):
    front = cchybrid.pareto(cchybrid.instance(network, "allgather"), time_limit=200)
    assert values(front)[-1] == (4, 4, 15)
    assert front.complete


@pytest.mark.slow
def test_an_earlier_run_continues(dgx, tmp_path):
    first, files = dgx
    agrees(first, [(1, 2, 2), (2, 2, 3), (6, 3, 7)])
    folder = Path(shutil.copytree(files, tmp_path / "front"))
    instance = first.instance
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    again = cchybrid.pareto(instance, folder=folder, time_limit=600)
    assert values(again) == values(first)
    assert before == {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    # What does not hold is found anew.
    file = folder / "steps-3-chunks-6.json"
    record = json.loads(file.read_text())
    record["steps"][0].pop()
    file.write_text(json.dumps(record))
    cchybrid.pareto(instance, folder=folder, time_limit=600)
    assert not verify_schedule(Schedule.load(file))


def test_a_schedule_of_an_earlier_run_with_more_rounds_is_replaced(tmp_path):
    instance = cchybrid.instance("ring-bi-4", "allgather")
    [best, *_] = cchybrid.pareto(instance, max_chunks=1, max_steps=2).points
    slow = best.schedule.instance.with_model(rounds=(3, 1))
    Schedule(slow, best.schedule.steps).save(tmp_path / "slow.json")
    front = cchybrid.pareto(instance, folder=tmp_path, max_chunks=1, time_limit=60)
    assert values(front) == [(1, 2, 2)]
    assert values(cchybrid.check_front(tmp_path)) == [(1, 2, 2)]


def test_a_later_search_of_the_same_chunks_and_steps_replaces_the_first_point(
    monkeypatch, tmp_path
):
    def undecided(task, *rest):
        task.totals = task.totals[1:] or task.totals
        return rounds.search(task, *rest)

    monkeypatch.setattr(pareto, "search", undecided)
    instance = cchybrid.instance("ring-bi-5", "allgather")
    front = cchybrid.pareto(instance, folder=tmp_path, max_chunks=1, max_steps=2)
    assert values(front) == values(cchybrid.check_front(tmp_path)) == [(1, 2, 2)]


@pytest.mark.slow
def test_a_front_that_is_cut_short_is_not_complete():
    front = cchybrid.pareto(cchybrid.instance("ring-bi-4", "allgather"), max_chunks=1, max_steps=3)
    assert values(front) == [(1, 2, 2)]
    assert not front.complete
    assert 2 in front.open_steps


def test_no_point_in_time_is_refused_with_the_steps_that_are_possible(dgx):
    front, _ = dgx
    none = replace(front, points=())
    with refused("no schedule was found in time; 2 steps or more are needed: give more"):
        fastest(front.instance, [none], 1024, Fraction(1), Fraction(1))


def test_a_front_that_took_longer_than_its_limit_says_so(dgx):
    front, _ = dgx
    late = replace(front, seconds=front.budget["seconds"] + 900)
    assert any(line.startswith("took 900.0 s longer than the ") for line in late.lines())


def test_the_best_choice_changes_with_the_size(dgx):
    front, _ = dgx
    alpha, beta = Fraction("0.7e-6"), Fraction("4e-11")
    found = choices(front, alpha, beta)
    assert [each.point.chunks for each in found] == [2, 6]
    # One step more costs alpha; a third of a round per chunk less saves size * beta / 3.
    assert found[1].smallest == 52_500
    assert (found[0].smallest, found[-1].largest) == (1 << 10, 1 << 30)
    for one, other in pairwise(found):
        assert one.largest + 1 == other.smallest
    for each in found:
        for size in (each.smallest, each.largest):
            times = [p.steps * alpha + p.ratio * size * beta for p in front.points]
            assert each.point.steps * alpha + each.point.ratio * size * beta == min(times)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"steps": 2.5}, "steps: '2.5' is no whole number"),
        ({"steps": True}, "steps: 'True' is no whole number"),
        ({"time_limit": float("nan")}, "time_limit: nan makes no sense"),
        ({"threads": 0}, "threads: 0 makes no sense"),
        ({"seed": -1}, "seed: -1 is no seed"),
        ({"max_chunks": 1.5}, "max_chunks: 1.5 makes no sense"),
        ({"max_chunks": 0}, "max_chunks: 0 makes no sense"),
        ({"max_steps": 1}, "2 hops to go, above 1 step;"),
        ({"steps": 1}, "a message has 2 hops to go, above 1 step;"),
        ({"max_steps": "x"}, "max_steps: 'x' makes no sense"),
    ],
)
def test_numbers_that_make_no_sense(more, message):
    instance = cchybrid.instance("dgx-1", "allgather")
    front = "steps" not in more
    with pytest.raises(InputError, match=message):
        cchybrid.pareto(instance, **more) if front else cchybrid.fewest_rounds(instance, **more)
    if front and "max_chunks" not in more and "max_steps" not in more:
        with pytest.raises(InputError, match=message):
            cchybrid.fewest_rounds(instance, 2, **more)


def test_what_is_sought_is_refused():
    with pytest.raises(InputError, match="the rounds are what is minimised"):
        cchybrid.fewest_rounds(cchybrid.instance("dgx-1", "AAB", rounds=[1, 2]), 3)
    for given in ({"rounds": [1, 2]}, {"chunks": 2}):
        with pytest.raises(InputError, match="chunks and rounds are what is sought"):
            cchybrid.pareto(cchybrid.instance("dgx-1", "AAB", **given))


@pytest.mark.slow
def test_half_duplex_links_have_a_front_up_to_the_steps_given():
    graph = nx.Graph([("a", "b", {"half_duplex": True}), ("b", "c")])
    instance = cchybrid.instance(graph, "allgather")
    front = cchybrid.pareto(instance, max_steps=3, max_chunks=4, time_limit=60)
    assert (front.throughput, front.complete) == (None, False)
    assert front.points
    assert all(point.certified for point in front.points)
