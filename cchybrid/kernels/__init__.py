"""Compiled kernels over a Problem's flat arrays, shared by the engines.

A kernel is a plain function over numpy arrays under ``@compiled``. Kernels allocate nothing that
their caller could pass, touch no Python object and draw random numbers only from a state that
they are given (``cchybrid.kernels.rng``), so a seed rules everything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

__all__ = ["compiled", "inlined"]

Function = TypeVar("Function", bound=Callable[..., Any])


def _cache_folder() -> str:
    """Return a folder for compiled code that is named after the source of all kernels.

    numba looks only at the file of a function to tell whether its compiled code is stale, but the
    code holds the functions that it calls, too: after a change in one file of this package, the
    callers in other files would go on with the old kernel.
    """
    here = Path(__file__).parent
    source = b"".join(path.read_bytes() for path in sorted(here.glob("*.py")))
    return str(here / "__pycache__" / f"kernels-{hashlib.sha256(source).hexdigest()[:16]}")


if not numba.config.CACHE_DIR:  # else the user has chosen a folder by NUMBA_CACHE_DIR
    numba.config.CACHE_DIR = _cache_folder()


def compiled(function: Function) -> Function:
    """Compile a kernel when it is first called, without the interpreter lock, and keep the code."""
    return cast(Function, _compile(function))


def inlined(function: Function) -> Function:
    """Compile a small kernel into those that call it.

    A call passes the arrays of a ``Flat`` one by one, which takes longer than a few operations.
    """
    return cast(Function, _compile(function, forceinline=True))


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
