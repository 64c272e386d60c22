"""Times by start-up, bandwidth and size."""

import json
import re

import pytest
from cchybrid_plugins.execution import simulation
from cchybrid_plugins.execution.commands import read_sizes
from cchybrid_plugins.execution.simulation import Replay
from cchybrid_plugins.execution.time_models import TimeModel

import cchybrid
from cchybrid.cli.app import run
from cchybrid.model import Schedule
from cchybrid.model.errors import InputError
from tests.fuzz.reader import read_corpus


def test_the_example_of_the_thesis():
    """Eight steps on a ring, 1,024 bytes, 1 microsecond and 0.5 nanoseconds per byte: 12.1."""
    schedule = cchybrid.solve("ring-bi-8", "AAS", time_limit=20, steps=8).schedule
    assert len(schedule.steps) == 8
    times = TimeModel(startup=1.0, bandwidth=2000.0).step_times(schedule, 1024)
    assert sum(times) == pytest.approx(12.096)


def test_hops_rounds_and_chunks_count():
    schedule = Schedule.from_json(read_corpus("rounds-worth")[0])
    assert schedule.rounds == (1, 2)
    times = TimeModel(startup=3.0, bandwidth=10.0, per_hop=0.5).step_times(schedule, 100)
    assert times == [3.0 + 0.5 + 5.0, 3.0 + 0.5 + 10.0]


def test_the_record_names_all_settings():
    schedule = cchybrid.solve("ring-bi-4", "broadcast", time_limit=10).schedule
    record = TimeModel(2.0, 4.0).to_json(schedule, [8, 16])
    steps = len(schedule.steps)
    assert [row["microseconds"] for row in record["times"]] == [steps * 4.0, steps * 6.0]
    assert (record["startup_us"], record["bandwidth_mb_s"], record["per_hop_us"]) == (2.0, 4.0, 0.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("many", "--sizes: 'many' is no size"),
        ("8,0", "'0' is no size"),
        ("0.5", "'0.5' is no size"),
        ("nan", "'nan' is no size"),
        ("1e13", "1e13 bytes are too many; use at most 1099511627776 bytes"),
        ("inf", "inf bytes are too many"),
    ],
)
def test_what_is_no_size_is_refused(text, words):
    with pytest.raises(InputError, match=words):
        read_sizes(text)


def test_sizes_are_whole_numbers_of_bytes_and_each_counts_once(tmp_path, capsys):
    assert read_sizes("1048576, 8,1048576.0,1e3") == [1048576, 8, 1000]
    cchybrid.solve("ring-bi-4", "broadcast", time_limit=10).schedule.save(tmp_path / "s.json")
    assert run(["time", str(tmp_path / "s.json"), "--sizes", "1048576,1048576"]) == 0
    assert re.findall(r"^ *1048576 ", capsys.readouterr().out, re.MULTILINE) == ["  1048576 "]


def test_a_replay_of_several_rounds_does_not_say_that_all_is_as_fast_as_alone():
    assert Replay("a", (), (), 4).lines() == ["a: each of 4 transfers takes as long as alone"]
    line = "a: each of 4 transfers takes at most as long as alone, times the rounds of its step"
    assert Replay("a", (), (), 4, several_rounds=True).lines() == [line]


def test_times_name_the_bandwidth_because_no_schedule_file_holds_that_of_its_network(
    tmp_path, capsys
):
    """A file of a network may state 25 GB/s; that of its schedule holds capacities alone."""
    path = tmp_path / "s.json"
    cchybrid.solve("ring-bi-4", "broadcast", time_limit=10).schedule.save(path)
    assert run(["time", str(path)]) == 0
    line = "assumed: 2000 MB/s per unit of capacity (--bandwidth), 1 us per step (--startup), 0 us"
    assert line in " ".join(capsys.readouterr().out.split())
    assert run(["time", str(path), "--bandwidth", "25000", "--per-hop", "0.5"]) == 0
    shown = capsys.readouterr().out
    assert "assumed: 25000 MB/s per unit" in shown
    assert "0.5 us per hop (--per-hop)" in " ".join(shown.split())


def test_a_simulation_names_the_bandwidth_too(tmp_path, capsys, monkeypatch):
    path = tmp_path / "s.json"
    cchybrid.solve("ring-bi-4", "broadcast", time_limit=10).schedule.save(path)
    monkeypatch.setattr(simulation, "replay", lambda *_: Replay("a", (), (), 4))
    assert run(["simulate", str(path)]) == 0
    assert "assumed: 2000 MB/s per unit of capacity (--bandwidth)" in capsys.readouterr().out
    assert run(["simulate", str(path), "--bandwidth", "25000", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    named = record["startup_us"], record["bandwidth_mb_s"], record["per_hop_us"]
    assert named == (1.0, 25000.0, 0.1)
