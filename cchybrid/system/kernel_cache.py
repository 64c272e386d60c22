"""The cache of compiled kernels: its folder, and the engines whose kernels it holds.

A folder holds the code for one state of all sources with kernels. An empty *marker* file per engine
says that all kernels of the engine have been compiled for this processor and this version of numba.
It is written after the code, so an interrupted compilation is repeated. This module does not
import numba.
"""

from __future__ import annotations

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

__all__ = ["cache_folder", "compiling", "needs_compiling"]

PACKAGE = Path(__file__).parents[1]

_DECORATOR = re.compile(rb"^@(compiled|inlined|internal)\b", re.MULTILINE)
_IMPORT = re.compile(rb"^from ([\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
_CONSTANT = re.compile(rb"\b[A-Z][A-Z_]+\b")


@lru_cache
def cache_folder(folder: Path) -> Path:
    """Return the folder for the compiled code of the kernels in the package of ``folder``.

    numba compares only the file of a function to decide whether compiled code is stale, but the
    code contains functions and constants of other files, too. So the name of the folder is a
    digest of all files with kernels, in this package and in the package of ``folder``, and of the
    files from which these import constants. The folder is in ``NUMBA_CACHE_DIR`` if that
    environment variable is set, or in the installation; where that is read-only, in ``~/.cache``,
    or else among the temporary files, where all processes of a user share one folder.
    """
    if (folder.parent / "__init__.py").exists():
        return cache_folder(folder.parent)  # the same for all engines of a package
    digest = hashlib.sha256()
    for source in _kernel_sources({PACKAGE, folder}):
        digest.update(source)
    name = f"kernels-{digest.hexdigest()[:16]}"
    parents = [PACKAGE / "__pycache__"]
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        parents.insert(0, Path(chosen))
    with contextlib.suppress(RuntimeError):  # there is no home folder
        parents.append(Path.home() / ".cache" / "cchybrid")
    for parent in parents:
        with contextlib.suppress(OSError):
            (parent / name).mkdir(parents=True, exist_ok=True)
            if os.access(parent / name, os.W_OK):
                return parent / name
    return _temporary_folder() / name


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


def _kernel_sources(roots: set[Path]) -> Iterator[bytes]:
    """Yield the contents of all files with kernels, and of files whose constants they import."""
    paths = sorted(path for root in roots for path in root.rglob("*.py"))
    sources = {path: path.read_bytes() for path in paths}
    kernels = {path for path, source in sources.items() if _DECORATOR.search(source)}
    constants = set()
    for path in kernels:
        for module, names in _IMPORT.findall(sources[path]):
            if _CONSTANT.search(names):
                end = Path(*module.decode().strip(".").split(".")).with_suffix(".py").parts
                # "cchybrid.a.b" and ".b" both name a file that ends with b.py.
                constants |= {other for other in paths if other.parts[-len(end) :] == end}
    for path in sorted(kernels | constants):
        yield sources[path]


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
        file = _module_file(target.partition(":")[0])
        folder = None if file is None else cache_folder(file.parent)
    except Exception:  # of an import hook, or unreadable: the engine's worker will report it
        return None
    name = target.replace(":", ".")
    return None if folder is None else folder / f"{name}-{_machine()}.compiled"


def _module_file(module: str) -> Path | None:
    """Return the file of a module without importing the packages that contain it."""
    top, *inner = module.split(".")
    spec = find_spec(top)
    for name in inner:
        folders = None if spec is None else spec.submodule_search_locations
        spec = None if folders is None else PathFinder.find_spec(name, list(folders))
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


@lru_cache
def _machine() -> str:
    """Return a digest of the versions of numba and Python, and of the processor."""
    processor = platform.processor()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = "".join(sorted({x for x in lines if x.startswith(("model name", "flags"))}))
    parts = (metadata.version("numba"), sys.implementation.cache_tag, platform.machine(), processor)
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]
