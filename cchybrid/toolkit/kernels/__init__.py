"""Compiled kernels over a Problem's flat arrays, shared by engines.

A kernel is a plain function over numpy arrays under ``cchybrid.system.compiled.compiled``. Kernels
allocate nothing that their caller could pass, touch no Python object and draw random numbers only
from a state that is passed in (``cchybrid.toolkit.kernels.rng``), so a seed determines the result.
"""

from cchybrid.system.compiled import compiled, inlined, internal

__all__ = ["compiled", "inlined", "internal"]
