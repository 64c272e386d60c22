"""Disks that are full or cannot be written to: one line, status 2, and what was there stays."""

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cchybrid.plugin.registry import load_registry
from tests.faults.processes import as_another_user, call, gone
from tests.present import present
from tests.python_process import run_python

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

WRITING = present(
    "solve ring-bi-4 AAS -o new.json", "rounds ring-bi-4 AAB --steps 2 -o new.json",
    "instance ring-bi-4 AAS -o new.json", "instance ring-bi-8 AAS -o new.txt",
    "prove s.json -o new.json",
    *(f"prove s.json -o c.json --{name} new" for name in load_registry().proof_formats),
    "export s.json --to csv -o new.csv", "import foreign/hops.xml -o new.json",
    "audit foreign -o new", "draw s.json -o new.html", "draw s.json -o new.svg",
    "throughput dgx-1 allgather -o new.json", "pareto ring-bi-4 allgather -o new",
    "pareto ring-bi-4 allgather -o new --plot new.svg",
    "design --nodes 6 --degree 3 --evaluations 20 -o new.json",
    "design --nodes 6 --degree 3 --collective AAS --time-limit 5 --schedule new.json",
    "bench run one.toml --engine colouring --evaluations 20 --store new.sqlite",
    "bench run one.toml --engine colouring --evaluations 20 --slurm new.txt --shards 2",
    "bench merge old.sqlite -o new.sqlite", "bench report old.sqlite -o new",
)  # fmt: skip
"""Every kind of output; all but the stores already exist."""


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with a schedule, a store, and files that the commands replace."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "one.toml").write_text(
        'name = "one"\n[[rows]]\ntopology = "ring-bi-4"\ncollective = "AAS"\n'
    )
    (folder / "foreign").mkdir()
    for words in present(
        "solve ring-bi-4 AAS -o s.json",
        "solve ring-bi-4 AAB --switching store-and-forward -o hops.json",
        "export hops.json --to msccl -o foreign/hops.xml",
        "bench run one.toml --engine colouring --evaluations 20 --store old.sqlite",
    ):
        status, _, err = call(words, folder)
        assert status == 0, err
    return folder


@pytest.fixture
def folder(made, tmp_path) -> Path:
    """A copy of that folder."""
    return shutil.copytree(made, tmp_path / "folder")


def test_what_does_not_fit_is_said_and_spoils_nothing(folder):
    (folder / "new").mkdir()
    for suffix in ("json", "txt", "csv", "html", "svg"):
        (folder / f"new.{suffix}").write_text("as it was")
    for name in ("formula.cnf", "formula.opb", "report.md"):
        (folder / "new" / name).write_text("as it was")
    before = {path.name for path in folder.iterdir()}
    done = run_python("-c", LIMITED, cwd=folder, text=json.dumps(WRITING), TMPDIR=str(folder))
    assert done.returncode == 0, done.stderr
    for words, (status, _, err) in zip(WRITING, json.loads(done.stdout), strict=True):
        assert status == 2, (words, err)
        assert "Traceback" not in err
        last = err.splitlines()[-1]
        assert last.startswith("cchybrid: "), (words, err)
        # The fault has taken place: the words of the operating system, or of SQLite.
        assert any(each in last for each in ("File too large", "disk", "full")), (words, last)
    for path in (*folder.glob("new.*"), *(folder / "new").glob("*.*")):
        if path.suffix != ".sqlite":
            assert path.read_text() == "as it was", path
    left = {path.name for path in folder.iterdir()} - before
    assert left <= {"new.sqlite"}
    assert not list((folder / "new").glob("**/.*"))  # drafts
    gone()


@contextlib.contextmanager
def mounted(folder: Path, size: str) -> Iterator[None]:
    """Mount a file system of memory; skip the test where that is not possible."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    if os.getuid() or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("a file system can be mounted by root only")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_file_system(tmp_path):
    """A real one, of 64 KiB, for temporary files, cache, log and schedule."""
    small = tmp_path / "small"
    with mounted(small, "64k"):
        with open(small / "filler", "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        assert shutil.disk_usage(small).free == 0
        status, out, err = call(
            "solve ring-bi-4 AAS --engine colouring --json --log small/log.jsonl -o small/s.json",
            tmp_path, env={**os.environ, "TMPDIR": str(small), "NUMBA_CACHE_DIR": str(small)},
        )  # fmt: skip
        gone()
    result = json.loads(out)
    assert result["steps"] == 2
    assert "the log is incomplete: OSError: [Errno 28]" in " ".join(result["troubles"])
    assert status == 2
    last = "cchybrid: small/s.json: cannot be written: No space left on device"
    assert err.splitlines()[-1].startswith(last)


@contextlib.contextmanager
def read_only(folder: Path, writable: Path) -> Iterator[Callable[[str], tuple[int, str, str]]]:
    """Yield a function that runs commands as a user who may write to ``writable`` only.

    The home and the cache of the user are in ``folder``, in which nothing may be new at the end.
    """
    before = as_another_user(writable)
    names = {path.name for path in folder.iterdir()}
    for path in (folder, *folder.iterdir()):
        path.chmod(0o555 if path.is_dir() else 0o444)
    environment = {
        **os.environ, "HOME": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache"),
        "MPLCONFIGDIR": str(folder / "matplotlib"), "TMPDIR": str(writable),
    }  # fmt: skip
    yield lambda words: call(words, folder, before=before, env=environment)
    assert {path.name for path in folder.iterdir()} == names
    folder.chmod(0o755)  # pytest deletes it


def test_a_read_only_home_and_cache(folder, tmp_path):
    """As a user who owns nothing there."""
    writable = tmp_path / "writable"
    writable.mkdir()
    with read_only(folder, writable) as run:
        status, out, err = run("solve ring-bi-4 AAS --engine colouring --json -o s.json")
        assert status == 2
        assert "s.json: cannot be written: Permission denied" in err
        assert json.loads(out)["steps"] == 2  # the result is shown
        assert not json.loads(out)["troubles"]
