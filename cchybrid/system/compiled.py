"""Decorators that compile kernels with numba, and keep the code; see ``kernel_cache``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from cchybrid.system.kernel_cache import cache_folder

__all__ = ["compiled", "inlined"]

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a kernel when it is first called, without the interpreter lock, and keep the code."""
    return cast(Function, _compile(function))


def inlined(function: Function) -> Function:
    """Compile a small kernel into those that call it.

    A call passes the arrays of a ``Flat`` one by one, which takes longer than a few operations.
    """
    return cast(Function, _compile(function, forceinline=True))


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    settings: Any = numba.config
    chosen = settings.CACHE_DIR  # the user's, by NUMBA_CACHE_DIR
    settings.CACHE_DIR = chosen or str(cache_folder(Path(function.__code__.co_filename).parent))
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    finally:
        settings.CACHE_DIR = chosen
