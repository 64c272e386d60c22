"""Kernels without their compilation: the same functions, in plain Python down to the last call."""

import copy
from types import FunctionType
from typing import Any

import numpy as np
from numba.core.registry import CPUDispatcher

_KNOWN: dict[Any, Any] = {}


def uncompiled(kernel: Any) -> Any:
    """Return the function of a kernel, which calls the functions of kernels, not kernels."""
    if kernel not in _KNOWN:
        function = kernel.py_func
        scope = dict(function.__globals__)
        _KNOWN[kernel] = FunctionType(function.__code__, scope, function.__name__)
        for name, value in scope.items():
            if isinstance(value, CPUDispatcher):
                scope[name] = uncompiled(value)
    return _KNOWN[kernel]


def call(kernel: Any, *arguments: Any) -> Any:
    """Call a kernel; compare what it returns and writes with what its function does."""
    copies = copy.deepcopy(arguments)
    found = kernel(*arguments)
    with np.errstate(all="ignore"):
        expected = uncompiled(kernel)(*copies)
    np.testing.assert_equal(expected, found)
    np.testing.assert_equal(copies, arguments)
    return found
