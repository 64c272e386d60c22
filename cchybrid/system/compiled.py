"""Decorators that compile kernels with numba and cache the code; see ``kernel_cache``.

The time to compile a kernel mostly depends on its number of arguments, as every array of a
``NamedTuple`` is passed as seven numbers. So there are several kinds of kernels, each with only
the entry points that it needs.
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
    """Compile a kernel at its first call and cache the code; it releases the interpreter lock."""
    return cast(Function, _dispatcher(CPUDispatcher, function))


def internal(function: Function) -> Function:
    """Compile a kernel that is called by other kernels, allocates nothing and returns no array.

    Without an entry point for Python and reference counts, compilation takes half the time. A call
    from Python, as in a test, compiles a second version.
    """
    return cast(Function, _dispatcher(_Internal, function, no_cpython_wrapper=True, _nrt=False))


def inlined(function: Function) -> Function:
    """Inline a small ``internal`` kernel into its callers.

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
    with contextlib.suppress(RuntimeError):  # no folder can be written to: compiled every time
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
    """The numba cache of one function, in a folder that is named by a digest of all sources.

    It ignores the times of files, lets one process at a time write, and treats an unreadable file
    as missing.
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
        """Return the code for a signature, or ``None`` if there is no readable one."""
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
        """Hold a lock, so that no other process writes to the same file."""
        self._lock.parent.mkdir(parents=True, exist_ok=True)
        with open(self._lock, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
