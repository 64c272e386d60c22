"""Disks that are full or cannot be written to: one line, status 2, and what was there stays."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_commands import call
from tests.faults.processes import own_processes

LIMITED = """
import contextlib, io, json, resource, sys
from cchybrid.cli.app import run
commands = json.load(sys.stdin)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
found = []
for words in commands:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(words.split())
    found.append([status, out.getvalue(), err.getvalue()])
print(json.dumps(found))
"""
"""Runs commands in a process none of whose files can be longer than 100 bytes."""

WRITING = (
    "solve ring-bi-4 AAS -o new.json",
    "instance ring-bi-4 AAS -o new.json",
    "instance ring-bi-8 AAS -o new.txt",
    "prove s.json -o new.json",
    "export s.json --to csv -o new.csv",
    "draw s.json -o new.html",
    "draw s.json -o new.svg",
    "throughput dgx-1 allgather -o new.json",
    "bench run one.toml --engine colouring --evaluations 20 --store new.sqlite",
    "bench report old.sqlite -o report",
)
"""Every kind of output; all but the report already exist."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a schedule, a store, and files that the commands replace."""
    (tmp_path / "one.toml").write_text(
        'name = "one"\n[[rows]]\ntopology = "ring-bi-4"\ncollective = "AAS"\n'
    )
    assert call("solve", "ring-bi-4", "AAS", "-o", "s.json", cwd=tmp_path).returncode == 0
    words = "bench run one.toml --engine colouring --evaluations 20 --store old.sqlite"
    done = subprocess.run(
        [sys.executable, "-m", "cchybrid", *words.split()], cwd=tmp_path, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for suffix in ("json", "txt", "csv", "html", "svg"):
        (tmp_path / f"new.{suffix}").write_text("as it was")
    return tmp_path


def test_what_does_not_fit_is_said_and_spoils_nothing(folder: Path) -> None:
    before = {path.name for path in folder.iterdir()}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], input=json.dumps(WRITING), capture_output=True,
        text=True, cwd=folder, check=False, env={**os.environ, "TMPDIR": str(folder)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for words, (status, _, err) in zip(WRITING, json.loads(done.stdout), strict=True):
        assert status == 2, (words, err)
        assert "Traceback" not in err
        last = err.splitlines()[-1]
        assert last.startswith("cchybrid: "), (words, err)
        # The fault has taken place: the words of the operating system, or of SQLite.
        assert any(each in last for each in ("File too large", "disk", "full")), (words, last)
    for path in folder.glob("new.*"):
        if not path.name.startswith("new.sqlite"):
            assert path.read_text() == "as it was", path
    left = {path.name for path in folder.iterdir()} - before
    assert left <= {"report", "new.sqlite"}
    assert not own_processes()


def _fill(path: Path) -> None:
    """Write to a file until the file system is full."""
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    assert shutil.disk_usage(path).free == 0


def test_a_full_file_system(folder: Path) -> None:
    """A real one, of 64 KiB, for temporary files, cache, log and schedule."""
    small = folder / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(small)]
    if os.getuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a file system can be mounted by root only")
    try:
        _fill(small / "filler")
        environment = {**os.environ, "TMPDIR": str(small), "NUMBA_CACHE_DIR": str(small)}
        done = subprocess.run(
            [sys.executable, "-m", "cchybrid", "solve", "torus-3x3", "AAS", "--json",
             "--log", "small/log.jsonl", "-o", "small/s.json", "--time-limit", "30"],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    finally:
        subprocess.run(["umount", str(small)], check=True)
    result = json.loads(done.stdout)
    assert result["steps"] == 3
    assert "the log is incomplete: OSError: [Errno 28]" in " ".join(result["troubles"])
    assert done.returncode == 2
    last = "cchybrid: small/s.json: cannot be written: No space left on device"
    assert done.stderr.splitlines()[-1].startswith(last)


@pytest.fixture
def read_only(folder: Path) -> Path:
    """The folder, on which nothing can be changed."""
    place = folder / "read-only"
    place.mkdir()
    for name in ("s.json", "old.sqlite", "one.toml"):
        shutil.copy(folder / name, place / name)
    return place


def test_a_read_only_store_home_and_cache(read_only: Path) -> None:
    """As a user who owns nothing there; the store can be read, and not written to."""
    for path in (read_only, *read_only.iterdir()):
        path.chmod(0o555 if path.is_dir() else 0o444)
    other = {}
    if os.getuid() == 0:
        other = {"user": 65534, "group": 65534, "extra_groups": []}
        for parent in read_only.parents:
            if not parent.stat().st_mode & 0o001:
                parent.chmod(parent.stat().st_mode | 0o001)
    environment = {
        **os.environ, "HOME": str(read_only), "NUMBA_CACHE_DIR": str(read_only / "cache"),
        "MPLCONFIGDIR": str(read_only / "matplotlib"), "TMPDIR": "/tmp",
    }  # fmt: skip

    def run(words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "cchybrid", *words.split()], cwd=read_only, text=True,
            env=environment, capture_output=True, check=False, **other,
        )  # fmt: skip

    try:
        readable = run("--version").returncode == 0
    except PermissionError:
        readable = False
    if not readable:
        pytest.skip("another user cannot read this installation")
    refused = run("bench run one.toml --engine colouring --evaluations 20 --store old.sqlite")
    assert refused.returncode == 2
    assert "old.sqlite: cannot be used as a store" in refused.stderr
    refused = run("solve ring-bi-4 AAS -o s.json")
    assert refused.returncode == 2
    assert "s.json: cannot be written: Permission denied" in refused.stderr
    assert "verified" in refused.stdout  # the result is shown
    solved = run("solve torus-3x3 AAS --engine colouring --time-limit 60 --json")
    assert solved.returncode == 0, solved.stderr
    assert json.loads(solved.stdout)["steps"] == 3
    refused = run("bench report old.sqlite")
    assert refused.returncode == 2
    assert "cannot be written" in refused.stderr
    assert {path.name for path in read_only.iterdir()} == {"s.json", "old.sqlite", "one.toml"}
