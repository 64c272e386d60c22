"""Compiles the kernels of all engines, two engines at a time."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from cchybrid.records import load_target
from cchybrid.registry import load_registry


def compile_kernels() -> None:
    """Let every engine prepare itself, so that the compiled code is on the disk."""
    names = list(load_registry().engines)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        list(pool.map(_prepare, names))


def _prepare(name: str) -> None:
    kind = load_target(load_registry().engine(name).target)
    engine = kind(kind.Options())
    if hasattr(engine, "prepare"):
        engine.prepare()
