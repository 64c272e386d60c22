"""The cache of compiled kernels: its folder, and the engines whose kernels it holds.

The files of a kernel are named by its content (``kernel_content``), so all installations of a user
share one folder, and a kernel is compiled again only when it or something that it uses changes. The
folder may be deleted at any time. An empty *marker* file per engine says that all its kernels have
been compiled for this processor and these versions. It is written after the code, so an interrupted
compilation is repeated. This module does not import numba.
"""

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import stat
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from importlib import metadata
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

__all__ = ["cache_folder", "compiling", "needs_compiling", "versions"]

PACKAGE = Path(__file__).parents[1]

_DECORATOR = re.compile(rb"\n@(compiled|inlined|internal)\b")


@lru_cache
def cache_folder() -> Path:
    """Return the folder for the compiled code of kernels.

    It is in ``NUMBA_CACHE_DIR`` if that environment variable is set, or in the user's folder for
    caches (``XDG_CACHE_HOME``, or ``~/.cache``); where that is read-only, in the installation, or
    else among the temporary files.
    """
    parents = [Path(chosen)] if (chosen := os.environ.get("NUMBA_CACHE_DIR")) else []
    with contextlib.suppress(RuntimeError):  # there is no home folder
        parents.append(
            Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "cchybrid"
        )
    for parent in [*parents, PACKAGE / "__pycache__"]:
        folder = parent / "kernels"
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK) and folder.stat().st_uid == os.getuid():
                return folder
    return _temporary_folder() / "kernels"


def _temporary_folder() -> Path:
    """Return the user's folder among the temporary files, or a new one if it is not safe.

    Compiled code is executed, so no other user may be able to write to it.
    """
    with contextlib.suppress(FileNotFoundError):  # no folder for temporary files
        folder = Path(tempfile.gettempdir()) / f"cchybrid-{os.getuid()}"
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            found = folder.lstat()
            private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o022
            if private and found.st_uid == os.getuid():
                return folder
        with contextlib.suppress(OSError):
            return Path(tempfile.mkdtemp(prefix="cchybrid-"))
    return Path(os.devnull)  # nothing can be written: kernels are compiled in every process


@lru_cache
def _sources_digest(folder: Path) -> str:
    """Return a digest of all files with kernels, in this package and in that folder."""
    digest = hashlib.sha256()
    for path in sorted(path for root in {PACKAGE, folder} for path in root.rglob("*.py")):
        source = path.read_bytes()
        if _DECORATOR.search(source):
            digest.update(source)
    return digest.hexdigest()[:16]


def needs_compiling(target: str) -> bool:
    """Return whether an engine's module exists and its kernels are not compiled yet."""
    marker = _marker(target)
    return marker is not None and not marker.exists()


@contextlib.contextmanager
def compiling(target: str) -> Iterator[bool]:
    """Hold the lock of the cache while the kernels of an engine are compiled.

    Yields whether there is anything to compile; if the block ends without an exception, the engine
    is marked as compiled. As engines share kernels, one process at a time compiles for a folder;
    others wait and then find the compiled code.
    """
    marker = _marker(target)
    if marker is None or marker.exists():
        yield False
        return
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # the folder was removed: compile without a lock
            lock = stack.enter_context(open(marker.with_name("lock"), "w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield not marker.exists()
        with contextlib.suppress(OSError):
            marker.touch()


def _marker(target: str) -> Path | None:
    """Return the marker file of an engine, or ``None`` if its module cannot be found."""
    try:
        file = module_file(target.partition(":")[0])
        if file is None:
            return None
        folder = file.parent
        while (folder.parent / "__init__.py").exists():
            folder = folder.parent
        name = f"{target.replace(':', '.')}-{_sources_digest(folder)}-{_machine()}.compiled"
        return cache_folder() / name
    except Exception:  # of an import hook, or unreadable: the engine's worker will report it
        return None


def module_file(module: str) -> Path | None:
    """Return the file of a module without importing the packages that contain it."""
    top, *inner = module.split(".")
    spec = find_spec(top)
    for name in inner:
        folders = None if spec is None else spec.submodule_search_locations
        spec = None if folders is None else PathFinder.find_spec(name, list(folders))
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


@lru_cache
def versions() -> tuple[str, ...]:
    """Return the versions on which all compiled code depends."""
    packages = ("numba", "llvmlite", "numpy")
    return (*map(metadata.version, packages), str(sys.implementation.cache_tag))


@lru_cache
def _machine() -> str:
    """Return a digest of the versions, and of the processor."""
    processor = platform.processor()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = "".join(sorted({x for x in lines if x.startswith(("model name", "flags"))}))
    parts = (*versions(), platform.machine(), processor)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
