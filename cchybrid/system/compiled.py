"""Numba with one cache of compiled code per state of the source, shared by all processes."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import inspect
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

__all__ = ["compiled", "compiling", "inlined"]

Function = TypeVar("Function", bound=Callable[..., Any])


PACKAGE = Path(__file__).parents[1]


@lru_cache
def _cache_folder(folder: Path) -> str:
    """Return where the compiled code of kernels in ``folder`` belongs: named after their source.

    numba looks only at the file of a function to tell whether its compiled code is stale, but the
    code holds the functions that it calls, too: after a change in another file with kernels, of
    the same top-level package or of cchybrid, the callers would go on with the old kernel.
    """
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    sources = (
        path.read_bytes() for path in sorted({*PACKAGE.rglob("*.py"), *folder.rglob("*.py")})
    )
    kernels = b"".join(source for source in sources if b"compiled" in source)
    name = f"kernels-{hashlib.sha256(kernels).hexdigest()[:16]}"
    for parent in (PACKAGE / "__pycache__", Path.home() / ".cache" / "cchybrid"):
        with contextlib.suppress(OSError):
            (parent / name).mkdir(parents=True, exist_ok=True)
            if os.access(parent / name, os.W_OK):
                return str(parent / name)
    return tempfile.mkdtemp(prefix="cchybrid-")


def compiled(function: Function) -> Function:
    """Compile a kernel when it is first called, without the interpreter lock, and keep the code."""
    return cast(Function, _compile(function))


def inlined(function: Function) -> Function:
    """Compile a small kernel into those that call it.

    A call passes the arrays of a ``Flat`` one by one, which takes longer than a few operations.
    """
    return cast(Function, _compile(function, forceinline=True))


@contextlib.contextmanager
def compiling(author: type) -> Iterator[None]:
    """Let one process at a time call an engine's kernels for the first time.

    Others that want the same kernels wait, and then find the compiled code: what takes long is not
    done twice at the same time. Where it has been done before, nobody waits.

    Parameters
    ----------
    author
        The engine's class: its kernels are those of its package and of this one.
    """
    folder = Path(_cache_folder(Path(inspect.getfile(author)).parent))
    version = f"{numba.__version__}-{sys.implementation.cache_tag}"
    done = folder / f"{author.__module__}-{version}.compiled"
    if done.exists():
        yield
        return
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            lock = stack.enter_context(open(done.with_suffix(".lock"), "w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
        with contextlib.suppress(OSError):
            done.touch()


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    settings: Any = numba.config
    chosen = settings.CACHE_DIR  # the user's, by NUMBA_CACHE_DIR
    settings.CACHE_DIR = chosen or _cache_folder(Path(function.__code__.co_filename).parent)
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    finally:
        settings.CACHE_DIR = chosen
