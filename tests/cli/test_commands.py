"""Every command: output, one-line errors, exit status."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import cchybrid
from cchybrid.cli.app import run
from cchybrid.model import Instance, Schedule
from cchybrid.referee.verify import verify_schedule
from tests.python_process import run_python


class Completed(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def call(*words: str, cwd: Path) -> Completed:
    """Run the command in a folder, without a Python of its own: the docs' tests start those."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run([*words])
    return Completed(status, out.getvalue(), err.getvalue())


@pytest.mark.slow
def test_solve_and_verify(command, answer, tmp_path):
    record = answer("solve Spidergon-8 aas -o s.json")
    assert [record[key] for key in ("steps", "lower_bound", "status", "certified", "schedule")] == [
        4, 4, "optimal", True, "s.json",
    ]  # fmt: skip
    assert {"seconds", "engine", "seed", "versions", "budget"} <= set(record)
    schedule = Schedule.load(tmp_path / "s.json")
    assert verify_schedule(schedule) == ()
    assert schedule.made_by["engine"] == record["engine"]
    verified = command("verify s.json").stdout
    assert "valid, 4 steps" in verified
    assert "lower bound 4: certified, so it is optimal" in verified


@pytest.mark.slow
def test_bounds_without_evidence_of_their_own(command):
    command("solve mesh-1x2 OAB -o one.json")
    assert "lower bound 1: certified, so it is optimal" in command("verify one.json").stdout
    shown = command("bound ring-bi-4 pairs:0>1").stdout
    assert "at least 1 step, " in shown
    assert "certified by \n" not in shown


def test_an_invalid_schedule_is_refused(command, answer, tmp_path):
    Schedule(cchybrid.instance("complete-2", "AAS"), ()).save(tmp_path / "bad.json")
    shown = command("verify bad.json", 1).stdout
    assert "INVALID, 2 violations" in shown
    assert "missing-destination" in shown
    record = answer("verify bad.json", 1)
    assert (record["valid"], len(record["violations"])) == (False, 2)


def test_a_forged_bound_in_a_file_is_not_believed(command, tmp_path):
    command("solve ring-bi-4 OAB -o s.json")
    record = json.loads((tmp_path / "s.json").read_text())
    more = {**record["lower_bound"], "steps": record["lower_bound"]["steps"] + 1}
    for bound, words in (
        (more, "FALSE, this very schedule has fewer steps"),
        ({"steps": 2, "evidence": {"kind": "linear", "steps": 2}}, "not proven"),
    ):
        (tmp_path / "s.json").write_text(json.dumps({**record, "lower_bound": bound}))
        assert words in command("verify s.json", 1).stdout


def test_instance_files_in_both_formats_are_solved_again(command, answer):
    for name in ("i.json", "i.txt"):
        command(f"instance mesh-2x2 MNS --transmitters 0,1 -o {name}")
    first, second = answer("solve i.json"), answer("solve i.txt MNS")
    assert first["steps"] == second["steps"] == first["lower_bound"]


def test_faults_and_models_reach_the_instance(command, tmp_path):
    words = "mesh-3x3 AAB --fail-link 0-1 --fail-node 8 --ports 2,1 --switching store-and-forward"
    command(f"instance {words} -o i.json")
    instance = Instance.load(tmp_path / "i.json")
    assert (0, 1) not in instance.network.channel_index
    assert instance.network.terminals == tuple(range(8))
    model = instance.model
    assert (model.inject, model.accept, model.switching) == (2, 1, "store-and-forward")


@pytest.mark.slow
def test_bound_says_who_certified_it(command, answer):
    shown = command("bound mesh-4x4 AAS").stdout
    assert "mesh-4x4 AAS: at least 16 steps, certified by prices" in shown
    record = answer("bound torus-4x4 AOR")
    assert (record["lower_bound"], record["certified"]) == (2, True)
    assert record["evidence"]["kind"] == "linear"


@pytest.mark.long
def test_status_3_if_more_steps_are_needed(command, answer):
    record = answer("solve ring-bi-8 AAS --steps 2", 3)
    assert record["target"] == 2
    keys = ("status", "steps", "schedule", "unreachable", "lower_bound", "certified")
    assert [record[key] for key in keys] == ["infeasible", None, None, None, 8, True]
    shown = command("solve ring-bi-8 AAS --steps 2", 3).stdout
    assert "ring-bi-8 AAS: infeasible (certified): no schedule has fewer than 8 steps" in shown
    assert "lower bound: 8 steps, certified by linear" in shown


@pytest.mark.parametrize("name", ["solve", "bound"])
def test_status_3_names_the_node_that_cannot_be_reached(name, command, answer):
    words = f"{name} ring-uni-4 pairs:0>1,2>3 --fail-link 2>3"
    said = "node 3 cannot be reached from node 2 (message 1): no path leads there"
    assert f"pairs:0>1,2>3: infeasible (certified): {said}\n" in command(words, 3).stdout
    record = answer(words, 3)
    assert (record["status"], record["certified"]) == ("infeasible", True)
    assert record["unreachable"] == {
        "message": 1, "source": 2, "destination": 3, "reason": "no path leads there",
    }  # fmt: skip


def test_lists(command):
    for words, expected in {
        "topologies": "mesh-AxB", "topologies mesh-4x4": "diameter: 6 hops",
        "collectives": "all-to-all broadcast", "engines": "cpsat", "plugins": "engine colouring",
        "engines umda": "--option umda.population=", "--version": "cchybrid 0.", "-h": "Usage",
    }.items():  # fmt: skip
        assert expected in command(words).stdout
    assert re.search("^ *AAS +alltoall ", command("collectives").stdout, re.MULTILINE)


@pytest.mark.long
def test_the_same_seed_and_evaluations_give_the_same_schedule(command, tmp_path):
    for name in "ab":
        words = "solve mesh-3x3 AAS --evaluations 2000 --threads 1 --seed 5"
        command(f"{words} -o {name}.json")
    first, second = (Schedule.load(tmp_path / f"{name}.json") for name in "ab")
    assert first.steps == second.steps


@pytest.mark.slow
def test_a_full_disk_ends_the_log_but_not_the_run(answer, tmp_path):
    record = answer("solve ring-bi-4 AAS --engine classical --log /dev/full -o s.json")
    trouble = "the log is incomplete: OSError: [Errno 28] No space left on device"
    assert record["troubles"] == [trouble]
    assert len(Schedule.load(tmp_path / "s.json").steps) == 2


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["topologies", "solve --help"])
def test_a_closed_pipe_is_no_traceback_and_no_verdict(words, unbuffered, tmp_path):
    """Status 1 would be that of a check that failed."""
    script = (
        f"(sleep 0.1; exec {sys.executable} -m cchybrid {words}) | true; exit ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("delay", [0.0, 0.05])
def test_an_interrupt_before_the_run_is_one_line(tmp_path, delay):
    """The interrupt comes some time after the module of the command line was found."""
    script = f"""
import os, signal, sys, threading
class Finder:
    def find_spec(self, name, *rest):
        if name == "cchybrid.cli.app":
            threading.Timer({delay}, os.kill, (os.getpid(), signal.SIGINT)).start()
sys.meta_path.insert(0, Finder())
sys.argv = ["cchybrid", "solve", "mesh-40x40", "AAS", "--time-limit", "1"]
from cchybrid.cli import main
main()
"""
    done = run_python("-c", script, cwd=tmp_path)
    assert done.returncode == 130
    assert re.fullmatch(r"cchybrid: interrupted( before the run began)?\n", done.stderr)


def test_names_that_cannot_be_encoded_are_shown_escaped(tmp_path):
    network = {"name": "n", "nodes": 2, "channels": [[0, 1]]}
    collective = {"name": "c", "kind": "deliver", "messages": [{"source": 0, "destinations": [1]}]}
    record = {"format": "cchybrid-instance/1", "name": "bad\ud800"}
    path = tmp_path / "i.json"
    path.write_text(json.dumps({**record, "network": network, "collective": collective}))
    done = run_python("-m", "cchybrid", "instance", str(path), "-o", str(tmp_path / "copy.json"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(r"bad\ud800: written to")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_an_error_of_its_own(command, tmp_path):
    """Status 1 of verify means that the schedule is invalid."""
    command("solve ring-bi-4 OAB -o s.json")
    words = [sys.executable, "-m", "cchybrid", "verify", "s.json"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("cchybrid: the output cannot be written: ")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["verify", "solve"])
def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(name, tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    done = run_python("-m", "cchybrid", name, "pipe.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pipe.json: is a pipe, not a file; give a file" in done.stderr
