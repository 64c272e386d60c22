"""Decorators that compile kernels with numba and keep the code; see ``kernel_cache``.

Most of the time that a kernel takes to compile depends on its number of arguments, as every array
of a ``NamedTuple`` is passed as seven numbers: hence the kinds of kernels, each with no more entry
points than it needs.
"""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.registry import CPUDispatcher

from cchybrid.system.kernel_cache import cache_folder

__all__ = ["compiled", "inlined", "internal"]

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a kernel when it is first called, without the interpreter lock, and keep the code."""
    return cast(Function, _dispatcher(CPUDispatcher, function))


def internal(function: Function) -> Function:
    """Compile a kernel that other kernels call; it allocates nothing and returns no array.

    It is compiled without an entry point for Python and without reference counts, which takes half
    the time. A call from Python, as in a test, compiles another version of it.
    """
    return cast(Function, _dispatcher(_Internal, function, no_cpython_wrapper=True, _nrt=False))


def inlined(function: Function) -> Function:
    """Compile a small ``internal`` kernel into those that call it.

    A call passes the arrays of a ``Flat`` one by one, which takes longer than a few operations.
    """
    return cast(
        Function,
        _dispatcher(_Internal, function, no_cpython_wrapper=True, _nrt=False, forceinline=True),
    )


def _dispatcher(
    kind: Any, function: Callable[..., Any], subfolder: str = "", **options: Any
) -> Any:
    settings: Any = numba.config
    if settings.DISABLE_JIT:
        return function
    choices = {
        "nopython": True,
        "nogil": True,
        "error_model": "numpy",
        "no_cfunc_wrapper": True,
        **options,
    }
    dispatcher = kind(function, targetoptions=choices)
    folder = cache_folder(Path(function.__code__.co_filename).parent)
    dispatcher._cache = _Cache(function, folder / subfolder)
    return dispatcher


class _Internal(CPUDispatcher):
    """A kernel without an entry point for Python."""

    def __call__(self, *arguments: Any) -> Any:
        return self._from_python(*arguments)

    @cached_property
    def _from_python(self) -> Any:
        return _dispatcher(CPUDispatcher, self.py_func, "from-python")


class _Cache(FunctionCache):
    """numba's cache of one function, in a folder that is named after all sources.

    It takes no notice of the times of files, lets one process at a time write, and takes what it
    cannot read for missing.
    """

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        settings: Any = numba.config
        chosen = settings.CACHE_DIR
        settings.CACHE_DIR = str(folder)
        try:
            super().__init__(function)
        finally:
            settings.CACHE_DIR = chosen
        self._lock = folder / "index.lock"
        self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, "")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature, ``None`` if there is none that can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file may raise anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the code for a signature, if the folder can be written to."""
        with contextlib.suppress(OSError), self._alone():
            try:
                super().save_overload(sig, data)
            except OSError:
                raise
            except Exception:  # a damaged index
                self.flush()
                super().save_overload(sig, data)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from giving other code the same file name."""
        self._lock.parent.mkdir(parents=True, exist_ok=True)
        with open(self._lock, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
