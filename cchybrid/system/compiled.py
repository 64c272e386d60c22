"""Decorators that compile kernels with numba and cache the code; see ``kernel_cache``.

The time to compile a kernel mostly depends on its number of arguments, as every array of a
``NamedTuple`` is passed as seven numbers. So there are several kinds of kernels, each with only
the entry points that it needs.
"""

import contextlib
import fcntl
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    _CacheLocator,
)
from numba.core.registry import CPUDispatcher

from cchybrid.system.kernel_cache import cache_folder
from cchybrid.system.kernel_content import UnknownContentError, digest_of_kernel, fields_of

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


def _dispatcher(kind: Any, function: Callable[..., Any], **options: Any) -> Any:
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
    dispatcher._cache = _Cache(dispatcher)
    return dispatcher


class _Internal(CPUDispatcher):
    """A kernel without an entry point for Python."""

    def __call__(self, *arguments: Any) -> Any:
        return self._from_python(*arguments)

    @cached_property
    def _from_python(self) -> Any:
        return _dispatcher(CPUDispatcher, self.py_func)


class _Folder(_CacheLocator):
    """The folder of the cache, as numba asks for it."""

    def __init__(self, file: str) -> None:
        self._py_file = file

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return ""


class _Format(CompileResultCacheImpl):
    """The form of compiled code in files."""

    def __init__(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        self._lineno, self._locator = code.co_firstlineno, _Folder(code.co_filename)


class _Cache(FunctionCache):
    """The numba cache of one kernel, in files that are named by a digest of its content.

    It lets one process at a time write, and treats an unreadable file as missing.
    """

    def __init__(self, kernel: CPUDispatcher) -> None:
        # Not that of numba, which names files by paths and line numbers.
        self._kernel, self._py_func = kernel, kernel.py_func
        self._name = repr(self._py_func)
        self._impl = _Format(self._py_func)
        self.enable()

    @property
    def cache_path(self) -> str:
        """The folder of the cache."""
        return str(cache_folder())

    @cached_property
    def _cache_file(self) -> Any:  # type: ignore[override]
        """The files of the kernel; not before its first call, as it may call later ones."""
        function = self._py_func
        name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
        file = f"{name}-{digest_of_kernel(self._kernel)}"
        return IndexDataCacheFile(self.cache_path, file, "")

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return *super()._index_key(sig, codegen), fields_of(sig)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature, or ``None`` if there is no readable one."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file may raise anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the code for a signature, if the folder can be written to."""
        with contextlib.suppress(OSError, UnknownContentError), self._alone():
            try:
                super().save_overload(sig, data)
            except (OSError, UnknownContentError):
                raise
            except Exception:  # a damaged index
                self.flush()
                super().save_overload(sig, data)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold a lock, so that no other process writes to the same file."""
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "index.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
