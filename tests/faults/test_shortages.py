"""Few open files, few processes, and a clock that jumps."""

import json
import os
import resource
from pathlib import Path

import pytest

from tests.faults.processes import allowed, as_another_user, call, events, gone

ENGINES = " ".join(f"--engine sound-{number}" for number in range(1, 7))
RACE = f"solve mesh-4x4 AAS --strategy race {ENGINES} --time-limit 60 --json --log log.jsonl"
"""Six engines that are started at once, and end by themselves."""

JUMPING = """
import os, random, time
_real, _dice, _jumps = time.time, random.Random(os.getpid()), [0]
def _time():
    _jumps[0] += 1
    return _real() + _dice.choice([-1e9, -3600.0, 0.0, 3600.0, 1e9])
time.time = _time
time.time_ns = lambda: int(_time() * 1e9)
def _report():
    with open(os.environ["JUMPS"], "a") as file:
        file.write(f"{_jumps[0]}\\n")
_time()
_report()
"""


@pytest.mark.parametrize("number", [8, 12, 16, 20, 24, 64])
def test_few_open_files(tmp_path, number):
    """The best schedule and what could not be started, or one line that says what to allow."""
    status, out, err = call(
        RACE, tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (number, number)),
    )  # fmt: skip
    assert "Traceback" not in err
    if status == 2:
        assert number <= 16
        last = err.splitlines()[-1]
        assert last.startswith("cchybrid: ")
        assert "open files" in last
    else:
        assert status == 0, err
        result = json.loads(out)
        assert result["steps"] > 1
        words = "could not be started: Too many open files"
        named = sum(text.endswith(words) for text in result["troubles"])
        said = [each["text"] for each in events(tmp_path / "log.jsonl") if "text" in each]
        assert named == sum(text.endswith(words) for text in said)
        assert 1 <= named <= 7 if number < 32 else not result["troubles"]
    gone()


@pytest.mark.parametrize("number", [1, 6, 14])
def test_few_processes(tmp_path, number):
    """Processes and threads of a user: a schedule, and the engines that there was no room for."""
    before = as_another_user(tmp_path)
    limit = number + (0 if before else 4096)  # this user has others
    environment = {
        **os.environ, "OPENBLAS_NUM_THREADS": "1", "HOME": str(tmp_path), "TMPDIR": str(tmp_path),
    }  # fmt: skip
    status, out, err = call(
        RACE, tmp_path, before=before, env=environment,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit)),
    )  # fmt: skip
    assert "Traceback" not in err
    assert status == 0, err
    result = json.loads(out)
    assert result["steps"] > 1
    if number == 1:
        assert result["engine"] == "host greedy"
        assert len(result["troubles"]) == 7  # the bound providers, too
    words = ("could not be started: Resource temporarily unavailable", "can't start new thread")
    assert any(each in text for each in words for text in result["troubles"])
    gone()


def jumping(folder: Path) -> dict[str, str]:
    """Return an environment in which the clock jumps; each process writes a line to ``jumps``."""
    (folder / "modules").mkdir()
    (folder / "modules" / "sitecustomize.py").write_text(JUMPING)
    path = os.pathsep.join([str(folder / "modules"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "JUMPS": str(folder / "jumps")}


def test_a_clock_that_jumps(tmp_path):
    """The time of day jumps by hours and decades at every look, in all processes."""
    words = "solve mesh-4x4 AAS --engine good-1 --time-limit 6 --json --log log.jsonl"
    status, out, err = call(words, tmp_path, env=jumping(tmp_path))
    assert status == 0, err
    times = [each["seconds"] for each in events(tmp_path / "log.jsonl")]
    assert times == sorted(times)
    assert 5 < times[-1] < 6 + allowed(2.0)  # not at once, and not never
    assert json.loads(out)["seconds"] == times[-1]
    assert "Traceback" not in err
    assert (tmp_path / "jumps").read_text().count("\n") >= 2  # host and workers
    gone()
