"""The cache of compiled kernels: the name of its folder, damaged and missing files."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from cchybrid.system import kernel_cache
from cchybrid.system.kernel_cache import cache_folder, compiling, needs_compiling
from tests.python_process import run_python

KERNEL = """
    import numpy as np
    from cchybrid.system.compiled import compiled, internal
    from own_kernels.constants import FACTOR

    @internal
    def times(number):
        return number * FACTOR

    @compiled
    def sum_up(numbers):
        total = 0
        for number in numbers:
            total += times(number)
        return total

    class Engine:
        pass

    if __name__ == "__main__":
        print(sum_up(np.arange(5)), len(sum_up.stats.cache_hits), times(4))
"""


def forget() -> None:
    cache_folder.cache_clear()
    kernel_cache._sources_digest.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch) -> Iterator[Path]:
    """A package with kernels whose cache is a folder of its own."""
    folder = tmp_path / "own_kernels"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "constants.py").write_text("FACTOR = 2\n")
    (folder / "other.py").write_text("WORD = 'compiled'\n")
    (folder / "loops.py").write_text(dedent(KERNEL))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    forget()
    yield folder
    forget()
    sys.modules.pop("own_kernels", None)


def folder_now() -> Path:
    forget()
    return cache_folder()


def run(package: Path) -> list[str]:
    """Return the sum, the number of kernels from the cache, and a value of the inner kernel."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(package.parent), *sys.path])}
    done = run_python("-m", "own_kernels.loops", **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_all_installations_of_a_user_share_a_folder(package, tmp_path, monkeypatch):
    assert folder_now() == tmp_path / "cache" / "kernels"
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert folder_now() == tmp_path / "own" / "cchybrid" / "kernels"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert folder_now() == tmp_path / "home" / ".cache" / "cchybrid" / "kernels"
    monkeypatch.setattr(kernel_cache, "PACKAGE", tmp_path / "elsewhere")
    assert folder_now() == tmp_path / "home" / ".cache" / "cchybrid" / "kernels"


def test_an_engine_is_pending_again_when_a_kernel_changes(package):
    target = "own_kernels.loops:Engine"
    with compiling(target):
        pass
    (package / "other.py").write_text("WORD = 'another'\n")
    os.utime(package / "loops.py", (1, 1))
    forget()
    assert not needs_compiling(target)
    (package / "loops.py").write_text(dedent(KERNEL).replace("total = 0", "total = 1"))
    forget()
    assert needs_compiling(target)


@pytest.mark.parametrize(
    "damage",
    [pytest.param(each, marks=pytest.mark.long) for each in (b"\x80\x04\x95", b"", b"nonsense")],
)
def test_damaged_files_are_compiled_anew(package, damage):
    run(package)
    for path in (package.parent / "cache").rglob("*.nb[ic]"):
        path.write_bytes(damage)
    assert run(package) == ["20", "0", "8"]
    assert run(package) == ["20", "1", "8"]


@pytest.fixture
def nowhere(package, tmp_path, monkeypatch) -> dict[str, str]:
    """The environment of a process that can write only temporary files."""
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setattr(kernel_cache, "PACKAGE", file)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("NUMBA_CACHE_DIR", "HOME"):
        monkeypatch.setenv(name, str(file))
    return {"TMPDIR": str(tmp_path)}


@pytest.mark.usefixtures("nowhere")
def test_without_any_folder_processes_share_a_temporary_one(package, tmp_path):
    found = folder_now()
    assert found.parent == tmp_path / f"cchybrid-{os.getuid()}"
    assert folder_now() == found
    found.parent.chmod(0o777)  # others could put code there
    other = folder_now()
    assert other.parent != found.parent
    assert other.parent.stat().st_mode & 0o077 == 0


@pytest.mark.long
def test_kernels_work_where_nothing_can_be_written(package, tmp_path):
    file = tmp_path / "file"
    file.touch()
    code = f"""
import tempfile
from pathlib import Path
from cchybrid.system import kernel_cache
kernel_cache.PACKAGE = Path({str(file)!r})
tempfile.tempdir = {str(file)!r}
import numpy as np
from own_kernels.loops import sum_up
print(sum_up(np.arange(5)))
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(file), "HOME": str(file)}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), environment["PYTHONPATH"]])
    shutil.rmtree(package / "__pycache__", ignore_errors=True)
    (package / "__pycache__").touch()  # numba would write there
    done = run_python("-B", "-c", code, **environment)
    assert (done.stdout, done.stderr) == ("20\n", "")
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".nbi", ".nbc")]


def test_an_engine_counts_as_compiled_when_the_block_has_ended(package):
    target = "own_kernels.loops:Engine"
    assert needs_compiling(target)
    with pytest.raises(RuntimeError), compiling(target):
        raise RuntimeError
    assert needs_compiling(target)
    with compiling(target) as missing:
        assert missing
        assert needs_compiling(target)
    assert not needs_compiling(target)
    with compiling(target) as missing:
        assert not missing
    shutil.rmtree(folder_now())
    folder_now()
    assert needs_compiling(target)


def test_the_folder_may_vanish_meanwhile(package):
    target = "own_kernels.loops:Engine"
    with compiling(target):
        shutil.rmtree(package.parent / "cache")
    assert needs_compiling(target)
    with compiling(target) as missing:
        assert missing


@pytest.mark.parametrize(
    "module", ["no_such_package.at_all", "own_kernels.absent", "os.path.join", "sys", ".", ""]
)
def test_what_cannot_be_found_needs_no_compiling(package, module):
    assert not needs_compiling(f"{module}:Engine")
