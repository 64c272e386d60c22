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


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("solve hypercube-12 AAS", "use hypercube-8 or hypercube-16"),
        ("solve spidergon-8 AAX", "did you mean AAS or alltoall or AAR or reduce-scatter?"),
        ("solve spidergon-8 allreduce --evaluations 9", "evaluations: not available for allreduce"),
        ("solve spidergon-8", "no collective is named for spidergon-8"),
        ("solve nothing.json", "nothing.json: cannot be read: No such file"),
        ("solve ring-bi-4 AAS --strategy luck", "use auto, race, relay"),
        ("solve ring-bi-4 AAS --without umda", "without: umda does not take part anyway; drop it"),
        ("solve ring-bi-4 AAS --engine lns --without lns", "without: no engine is left"),
        ("solve ring-bi-4 AAS --ports many", "use all, K, or INJECT,ACCEPT"),
        ("solve ring-bi-4 AAS --fail-link 0-2", "no link 0-2 in ring-bi-4"),
        ("solve ring-bi-4 AAS --time-limit soon", "see: cchybrid solve --help"),
        ("solve ring-bi-4 AAS --time-limit 0", "use a number above 0"),
        (
            "instance ring-bi-4 AAS --ports 1 -o x.txt",
            "holds no chunks, switching, ports or routing",
        ),
        ("solve ring-bi-4 AAS --steps 0", "use a whole number above 0"),
        ("solve ring-bi-4 AAS --option cpsat", "write ENGINE.NAME=VALUE"),
        ("solve ring-bi-4 AAS --option absent.x=1", "no engine is called absent"),
        ("solve ring-bi-4 AAS --engine umda --option cpsat.log=1", "does not take part"),
        ("solve ring-bi-4 AAS -o no/such/folder.json", "a folder that does not exist"),
        ("solve ring-bi-4 AAS -o .", "is a folder"),
        ("solve ring-bi-4 AAS -o a.json --log a.json", "two results in a.json"),
        ("solve ring-bi-4 permutation:3>1,3>2", "node 3 sends twice"),
        ("instance ring-bi-4 AAS -o instance.xml", "use a name that ends in .json or .txt"),
        ("engines absent", "see: cchybrid engines"),
        ("solve", "see: cchybrid solve --help"),
        ("dance", "see: cchybrid --help"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    words, line, capsys, tmp_path,
    monkeypatch,
):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run(words.split()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert shown.err.startswith("cchybrid: ")
    assert line in shown.err
    assert list(tmp_path.iterdir()) == []


def test_solve_and_verify(tmp_path):
    solved = call("solve", "Spidergon-8", "aas", "-o", "s.json", "--json", cwd=tmp_path)
    assert solved.returncode == 0, solved.stderr
    record = json.loads(solved.stdout)
    assert (record["steps"], record["lower_bound"], record["status"]) == (4, 4, "optimal")
    assert record["certified"] is True
    assert record["schedule"] == "s.json"
    assert {"seconds", "engine", "seed", "versions", "budget"} <= set(record)
    schedule = Schedule.load(tmp_path / "s.json")
    assert verify_schedule(schedule) == ()
    assert schedule.made_by["engine"] == record["engine"]

    verified = call("verify", "s.json", cwd=tmp_path)
    assert verified.returncode == 0
    assert "valid, 4 steps" in verified.stdout
    assert "lower bound 4: certified, so it is optimal" in verified.stdout


def test_a_bound_of_one_step_needs_no_evidence(tmp_path):
    call("solve", "mesh-1x2", "OAB", "-o", "one.json", cwd=tmp_path)
    verified = call("verify", "one.json", cwd=tmp_path)
    assert "lower bound 1: certified, so it is optimal" in verified.stdout


def test_an_invalid_schedule_is_refused(tmp_path):
    Schedule(cchybrid.instance("complete-2", "AAS"), ()).save(tmp_path / "bad.json")
    verified = call("verify", "bad.json", cwd=tmp_path)
    assert verified.returncode == 1
    assert "INVALID, 2 violations" in verified.stdout
    assert "missing-destination" in verified.stdout
    done = json.loads(call("verify", "bad.json", "--json", cwd=tmp_path).stdout)
    assert done["valid"] is False
    assert len(done["violations"]) == 2


def test_a_forged_bound_in_a_file_is_not_believed(tmp_path):
    call("solve", "ring-bi-4", "OAB", "-o", "s.json", cwd=tmp_path)
    record = json.loads((tmp_path / "s.json").read_text())
    record["lower_bound"]["steps"] += 1
    (tmp_path / "s.json").write_text(json.dumps(record))
    verified = call("verify", "s.json", cwd=tmp_path)
    assert verified.returncode == 1
    assert "FALSE, this very schedule has fewer steps" in verified.stdout
    record["lower_bound"] = {"steps": 2, "evidence": {"kind": "linear", "steps": 2}}
    (tmp_path / "s.json").write_text(json.dumps(record))
    verified = call("verify", "s.json", cwd=tmp_path)
    assert verified.returncode == 1
    assert "not proven" in verified.stdout


def test_instance_files_in_both_formats_are_solved_again(tmp_path):
    for name in ("i.json", "i.txt"):
        written = call(
            "instance", "mesh-2x2", "MNS", "--transmitters", "0,1", "-o", name, cwd=tmp_path
        )
        assert written.returncode == 0, written.stderr
    first = json.loads(call("solve", "i.json", "--json", cwd=tmp_path).stdout)
    second = json.loads(call("solve", "i.txt", "MNS", "--json", cwd=tmp_path).stdout)
    assert first["steps"] == second["steps"] == first["lower_bound"]


def test_faults_and_models_reach_the_instance(tmp_path):
    words = "mesh-3x3 AAB --fail-link 0-1 --fail-node 8 --ports 2,1 --switching store-and-forward"
    assert call("instance", *words.split(), "-o", "i.json", cwd=tmp_path).returncode == 0
    instance = Instance.load(tmp_path / "i.json")
    assert (0, 1) not in instance.network.channel_index
    assert instance.network.terminals == tuple(range(8))
    assert (instance.model.inject, instance.model.accept) == (2, 1)
    assert instance.model.switching == "store-and-forward"


def test_bound_says_who_certified_it(tmp_path):
    done = call("bound", "mesh-4x4", "AAS", cwd=tmp_path)
    assert done.returncode == 0
    assert "mesh-4x4 AAS: at least 16 steps, certified by prices" in done.stdout
    record = json.loads(call("bound", "torus-4x4", "AOR", "--json", cwd=tmp_path).stdout)
    assert (record["lower_bound"], record["certified"]) == (2, True)
    assert record["evidence"]["kind"] == "linear"


@pytest.mark.long
def test_status_3_if_more_steps_are_needed(tmp_path):
    done = call("solve", "ring-bi-8", "AAS", "--steps", "2", "--json", cwd=tmp_path)
    assert done.returncode == 3
    record = json.loads(done.stdout)
    assert (record["status"], record["steps"], record["schedule"]) == ("infeasible", None, None)
    assert (record["unreachable"], record["lower_bound"], record["certified"]) == (None, 8, True)
    done = call("solve", "ring-bi-8", "AAS", "--steps", "2", cwd=tmp_path)
    assert done.returncode == 3
    assert "ring-bi-8 AAS: infeasible (certified): no schedule has so few steps" in done.stdout
    assert "lower bound: 8 steps, certified by linear" in done.stdout


@pytest.mark.parametrize("command", ["solve", "bound"])
def test_status_3_names_the_node_that_cannot_be_reached(command, tmp_path):
    words = [command, "ring-uni-4", "pairs:0>1,2>3", "--fail-link", "2>3"]
    done = call(*words, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    said = "node 3 cannot be reached from node 2 (message 1): no path leads there"
    assert f"pairs:0>1,2>3: infeasible (certified): {said}\n" in done.stdout
    done = call(*words, "--json", cwd=tmp_path)
    assert done.returncode == 3
    record = json.loads(done.stdout)
    assert (record["status"], record["certified"]) == ("infeasible", True)
    assert record["unreachable"] == {
        "message": 1, "source": 2, "destination": 3, "reason": "no path leads there",
    }  # fmt: skip


def test_lists(tmp_path):
    assert "mesh-AxB" in call("topologies", cwd=tmp_path).stdout
    assert "diameter: 6 hops" in call("topologies", "mesh-4x4", cwd=tmp_path).stdout
    shown = call("collectives", cwd=tmp_path).stdout
    assert "all-to-all broadcast" in shown
    assert re.search("^ *AAS +alltoall ", shown, re.MULTILINE)
    assert "cpsat" in call("engines", cwd=tmp_path).stdout
    assert "--option umda.population=" in call("engines", "umda", cwd=tmp_path).stdout
    assert "engine colouring" in call("plugins", cwd=tmp_path).stdout
    assert call("--version", cwd=tmp_path).stdout.startswith("cchybrid 0.")
    assert "Usage" in call(cwd=tmp_path).stdout


@pytest.mark.long
def test_the_same_seed_and_evaluations_give_the_same_schedule(tmp_path):
    files = []
    for number in (1, 2):
        words = "solve mesh-3x3 AAS --evaluations 2000 --threads 1 --seed 5"
        call(*words.split(), "-o", f"{number}.json", cwd=tmp_path)
        files.append(json.loads((tmp_path / f"{number}.json").read_text())["steps"])
    assert files[0] == files[1]


def test_a_full_disk_ends_the_log_but_not_the_run(tmp_path):
    words = "solve ring-bi-4 AAS --engine classical --log /dev/full --json -o s.json"
    done = call(*words.split(), cwd=tmp_path)
    assert done.returncode == 0
    troubles = json.loads(done.stdout)["troubles"]
    assert troubles == ["the log is incomplete: OSError: [Errno 28] No space left on device"]
    assert len(Schedule.load(tmp_path / "s.json").steps) == 2


def test_a_closed_pipe_is_no_traceback(tmp_path):
    script = f"{sys.executable} -m cchybrid topologies | head -c 10"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert "Traceback" not in done.stderr


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
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 130
    assert re.fullmatch(r"cchybrid: interrupted( before the run began)?\n", done.stderr)


def test_names_that_cannot_be_encoded_are_shown_escaped(tmp_path):
    network = {"name": "n", "nodes": 2, "channels": [[0, 1]]}
    collective = {"name": "c", "kind": "deliver", "messages": [{"source": 0, "destinations": [1]}]}
    record = {"format": "cchybrid-instance/1", "name": "bad\ud800"}
    path = tmp_path / "i.json"
    path.write_text(json.dumps({**record, "network": network, "collective": collective}))
    words = ["instance", str(path), "-o", str(tmp_path / "copy.json")]
    done = subprocess.run(
        [sys.executable, "-m", "cchybrid", *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(r"bad\ud800: written to")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_an_error_of_its_own(tmp_path):
    """Status 1 of verify means that the schedule is invalid."""
    assert call(*["solve", "ring-bi-4", "OAB", "-o", "s.json"], cwd=tmp_path).returncode == 0
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cchybrid", "verify", "s.json"],
            stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("cchybrid: the output cannot be written: ")


def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for command in ("verify", "solve"):
        done = subprocess.run(
            [sys.executable, "-m", "cchybrid", command, "pipe.json"],
            capture_output=True, text=True, cwd=tmp_path, check=False, timeout=30,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (2, "")
        assert "pipe.json: is a pipe, not a file; give a file" in done.stderr


def test_no_error_is_longer_than_a_screen(tmp_path):
    for words in (f"topologies {'x' * 9000}", f"solve ring-bi-4 {'y' * 9000}"):
        done = call(*words.split(), cwd=tmp_path)
        assert done.returncode == 2
        assert len(done.stderr) < 1100


def test_a_trivial_bound_names_its_reason(tmp_path):
    shown = call(*["bound", "ring-bi-4", "pairs:0>1"], cwd=tmp_path).stdout
    assert "at least 1 step, " in shown
    assert "certified by \n" not in shown
