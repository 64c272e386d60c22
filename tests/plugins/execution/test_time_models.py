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
from cchybrid.model import Schedule, Transfer
from cchybrid.model.errors import InputError
from tests.fuzz.reader import read_corpus


def test_the_example_of_the_thesis():
    """Eight steps, 1,024 bytes, 1 microsecond and 0.5 nanoseconds per byte: 12.1."""
    instance = cchybrid.instance("mesh-1x2", "OAB", root=0, rounds=[1])
    steps = ((), (), (), (), (), (), (), (Transfer(0, (0, 1)),))
    times = TimeModel(startup=1.0, bandwidth=2000.0).step_times(Schedule(instance, steps), 1024)
    assert sum(times) == pytest.approx(12.096)


def test_hops_rounds_and_chunks_count():
    schedule = Schedule.from_json(read_corpus("rounds-worth")[0])
    assert schedule.rounds == (1, 2)
    times = TimeModel(startup=3.0, bandwidth=10.0, per_hop=0.5).step_times(schedule, 100)
    assert times == [3.0 + 0.5 + 5.0, 3.0 + 0.5 + 10.0]


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


def test_a_replay_of_several_rounds_does_not_say_that_all_is_as_fast_as_alone():
    assert Replay("a", (), (), 4).lines() == ["a: each of 4 transfers takes as long as alone"]
    line = "a: each of 4 transfers takes at most as long as alone, times the rounds of its step"
    assert Replay("a", (), (), 4, several_rounds=True).lines() == [line]


def test_times_and_simulations_name_their_settings(tmp_path, capsys, monkeypatch):
    """A file of a network may state 25 GB/s; that of its schedule holds capacities alone."""
    path = tmp_path / "s.json"
    instance = cchybrid.instance("mesh-1x2", "OAB", root=0)
    Schedule(instance, ((Transfer(0, (0, 1)),),)).save(path)
    assert run(["time", str(path), "--sizes", "1048576, 8,1048576.0"]) == 0
    line = "assumed: 2000 MB/s per unit of capacity (--bandwidth), 1 us per step (--startup), 0 us"
    shown = capsys.readouterr().out
    assert line in " ".join(shown.split())
    assert re.findall(r"^ *(\d+)  ", shown, re.MULTILINE) == ["1048576", "8"]
    words = ["--startup", "2", "--bandwidth", "4", "--per-hop", "0.5", "--sizes", "8", "--json"]
    assert run(["time", str(path), *words]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["times"] == [{"bytes": 8, "microseconds": 4.5}]
    named = {"startup_us": 2.0, "bandwidth_mb_s": 4.0, "per_hop_us": 0.5}
    assert named.items() <= record.items()
    monkeypatch.setattr(simulation, "replay", lambda *_: Replay("a", (), (), 4))
    assert run(["simulate", str(path)]) == 0
    assert "assumed: 2000 MB/s per unit of capacity (--bandwidth)" in capsys.readouterr().out
    assert run(["simulate", str(path), *words]) == 0
    assert named.items() <= json.loads(capsys.readouterr().out).items()


def test_numbers_of_one_have_no_plural(tmp_path, capsys):
    path = tmp_path / "s.json"
    cchybrid.solve("complete-3", "allgather", engines=[], bounds=False).schedule.save(path)
    assert run(["time", str(path), "--sizes", "8"]) == 0
    assert ": 1 step, 1 round\n" in capsys.readouterr().out
