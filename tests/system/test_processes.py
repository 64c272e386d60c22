"""Child processes find the modules of their parent, and none in the current folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cchybrid.system.processes import memory_of_all, private_memory
from tests.python_process import run_python

CHILD = """
import os, sys
try:
    import stray
except ImportError:
    stray = None
print(stray is not None, os.getsid(0) == os.getpid(), os.environ.get("MORE"))
"""

PARENT = """
import sys
from cchybrid.system.processes import start_module

child = start_module("child", {"MORE": "more"}, own_session="alone" in sys.argv)
out, errors = child.communicate()
print(out.decode(), errors.decode())
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    """The current folder, with a stray module; the child's own module is in ``modules``."""
    (tmp_path / "here").mkdir()
    (tmp_path / "modules").mkdir()
    (tmp_path / "here" / "stray.py").touch()
    (tmp_path / "here" / "parent.py").write_text(PARENT)
    (tmp_path / "modules" / "child.py").write_text(CHILD)
    return tmp_path / "here"


def run(folder: Path, *words: str, path: str = "") -> list[str]:
    """Run the parent's Python in the folder; return the words that its child prints."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "../modules"), path])}
    done = run_python(*words, cwd=folder, **environment)
    printed = done.stdout.split()
    assert len(printed) == 3, done.stdout
    return printed


@pytest.mark.parametrize("how", [("-m", "parent"), ("-c", PARENT)], ids=["module", "command"])
def test_nothing_of_the_current_folder_is_found(folder, how):
    assert run(folder, *how)[0] == "False"


@pytest.mark.slow
@pytest.mark.parametrize("path", [".", "../here", os.pathsep.join(["", "."])])
def test_a_current_folder_in_pythonpath_is_kept(folder, path):
    assert run(folder, "-m", "parent", path=path)[0] == "True"
    assert run(folder, "-c", PARENT, path=path)[0] == "True"


def test_the_folder_of_the_main_script_is_kept(folder):
    assert run(folder, "parent.py")[0] == "True"


def test_private_memory_counts_what_a_process_writes():
    before = private_memory(os.getpid())
    block = bytearray(b"x") * (64 << 20)
    assert private_memory(os.getpid()) - before > 60 << 20
    del block
    assert private_memory(1 << 30) == 0  # no such process


def test_what_forked_processes_share_counts_once(monkeypatch):
    """One that has 128 MiB, two forks of it, and 64 MiB that one of these has written."""
    code = (
        "import os, sys, time\n"
        "kept = bytearray(b'x') * (128 << 20)\n"
        "children = []\n"
        "for own in (64, 0):\n"
        "    ready, done = os.pipe()\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        more = bytearray(b'y') * (own << 20)\n"
        "        os.write(done, b'.')\n"
        "        sys.stdin.read()\n"
        "        os._exit(0)\n"
        "    os.read(ready, 1)\n"
        "    children.append(child)\n"
        "print(*children, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        numbers = [parent.pid, *map(int, parent.stdout.readline().split())]
        assert 190 << 20 < memory_of_all(numbers) < 250 << 20
        assert sum(map(private_memory, numbers)) > 440 << 20
        monkeypatch.setattr("cchybrid.system.processes.MAX_MEASURE_SECONDS", -1.0)
        assert memory_of_all(numbers) > 440 << 20
        parent.communicate("")


def test_a_child_whose_parent_has_ended_before_ends_at_once():
    """As when the host is killed while a child still imports its modules."""
    code = "from cchybrid.system.processes import die_with_parent; die_with_parent(); print('on')"
    for parent, expected in ((str(os.getpid()), (0, "on\n")), ("1", (1, ""))):
        done = run_python("-c", code, CCHYBRID_PARENT=parent)
        assert (done.returncode, done.stdout) == expected
