"""All that the compiled code of a kernel depends on, as a digest.

numba freezes into the code of a kernel the kernels that it calls and the values of global
variables. So the digest is made of the bytecode of all these kernels, their options, and the global
values that they read. Comments, line numbers, times and places of files do not count.
"""

import dis
import hashlib
import sys
from collections.abc import Callable
from functools import cache
from types import CodeType, ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from cchybrid.system.kernel_cache import versions

__all__ = ["UnknownContentError", "digest_of_kernel", "fields_of"]

_FOREIGN = {*sys.stdlib_module_names, "numpy", "numba"}
"""Packages whose objects are known by their names and by ``versions``."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), slice)


class UnknownContentError(Exception):
    """A kernel reads an object whose content cannot be determined."""


def digest_of_kernel(kernel: Dispatcher) -> str:
    """Return the digest of a kernel and all that it calls.

    Raises
    ------
    UnknownContentError
        If a kernel reads something other than kernels, numbers, arrays, tuples and named tuples.
    """
    content = _Content()
    content.add(kernel)
    return content.digest()


def fields_of(kind: Any) -> Any:
    """Return the names of the fields of all named tuples in a signature or a type of numba.

    The code of a kernel depends on their order, but numba compares only the class and the types.
    """
    parts = kind if isinstance(kind, tuple) else getattr(kind, "types", ())
    return getattr(kind, "fields", None), tuple(map(fields_of, parts))


class _Content:
    """A digest of values; kernels count once, by number."""

    def __init__(self) -> None:
        self._sum = hashlib.sha256(repr(versions()).encode())
        self._kernels: dict[int, int] = {}

    def digest(self) -> str:
        return self._sum.hexdigest()[:32]

    def _write(self, *parts: Any) -> None:
        self._sum.update(repr(parts).encode())

    def add(self, value: Any) -> None:
        """Add a value that a kernel reads."""
        kind, fields = type(value), getattr(value, "_fields", None)
        if isinstance(value, Dispatcher):
            self._add_kernel(value)
        elif kind in _PLAIN:
            self._write(kind.__name__, value)
        elif isinstance(value, np.generic | np.ndarray) and not value.dtype.hasobject:
            self._write(kind.__name__, value.dtype.descr, value.shape, value.tobytes())
        elif isinstance(value, tuple):
            self._write(kind.__name__, fields, len(value))
            for item in value:
                self.add(item)
        elif isinstance(value, frozenset):
            self._write(kind.__name__, sorted(map(repr, value)))
        elif isinstance(value, type) and issubclass(value, tuple) and fields is not None:
            self._write(value.__module__, value.__qualname__, fields)
            self.add(tuple(getattr(value, "_field_defaults", {}).items()))
        else:
            self._add_by_name(value)

    def _add_kernel(self, kernel: Dispatcher) -> None:
        known = id(kernel) in self._kernels
        self._write("kernel", self._kernels.setdefault(id(kernel), len(self._kernels)))
        if known:
            return
        function = kernel.py_func
        self._write(sorted(kernel.targetoptions.items()))
        self.add(function.__defaults__)
        for cell in function.__closure__ or ():
            self.add(cell.cell_contents)
        self._add_code(function.__code__, function)

    def _add_code(self, code: CodeType, function: Callable[..., Any]) -> None:
        self._write(code.co_code, code.co_exceptiontable, code.co_flags, code.co_argcount)
        self._write(code.co_posonlyargcount, code.co_kwonlyargcount)
        self._write(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._add_code(constant, function)
            else:
                self.add(constant)
        names, attributes = _names_in(code)
        for name in names:
            if name not in function.__globals__:
                continue  # a builtin
            value = function.__globals__[name]
            self._write(name)
            if isinstance(value, ModuleType) and not _is_foreign(value.__name__):
                for attribute in attributes:
                    if hasattr(value, attribute):
                        self._write(attribute)
                        self.add(getattr(value, attribute))
            else:
                self.add(value)

    def _add_by_name(self, value: Any) -> None:
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        module = getattr(value, "__module__", None) or type(value).__module__
        if isinstance(value, ModuleType):
            module = value.__name__
        if not _is_foreign(module):
            raise UnknownContentError(f"{type(value).__name__} {name or ''}".strip())
        self._write(module, name or repr(value))


def _is_foreign(module: str) -> bool:
    return module.partition(".")[0] in _FOREIGN


@cache
def _names_in(code: CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the global variables and of the attributes that code reads."""
    found: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for step in dis.get_instructions(code):
        if step.opcode in dis.hasname:
            found["GLOBAL" in step.opname or step.opname == "LOAD_NAME"][step.argval] = None
    return tuple(found[True]), tuple(found[False])
