"""CaDiCaL in a process of its own: a model of a formula, or a proof that there is none.

The solver comes with python-sat (the extra ``prove``); A. Biere and others, CaDiCaL 2.0, CAV 2024.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from cchybrid.proof import cadical_process
from cchybrid.proof.lrat import ProofError, trimmed
from cchybrid.system.processes import start_module

TICK = 0.05
"""Seconds between two looks at the clock."""


@dataclass(frozen=True)
class Verdict:
    """What came of a formula: ``proof`` (text lines) that it has no model, or a ``model``.

    Neither, if the time was up or the run is over. ``bytes`` is the size of the solver's proof.
    """

    proof: list[str] | None = None
    model: frozenset[int] | None = None
    bytes: int = 0


def is_installed() -> bool:
    """Return whether the solver is there."""
    return find_spec("pysat") is not None


def refute(
    clauses: list[list[int]], seconds: float, should_stop: Callable[[], bool] = lambda: False
) -> Verdict:
    """Ask CaDiCaL whether the clauses have a model.

    Raises
    ------
    ProofError
        If the solver fails, or its proof cannot be read.
    """
    deadline = time.monotonic() + seconds
    formula = "".join(f"{' '.join(map(str, clause))} 0\n" for clause in clauses).encode()
    over, ended = threading.Event(), threading.Event()

    def watch() -> None:
        while not ended.wait(TICK):
            if time.monotonic() > deadline or should_stop():
                over.set()
                child.kill()
                return

    # In the process group of this process, so that it is halted and ended along with it.
    with start_module(cadical_process.__name__, own_session=False) as child:
        threading.Thread(target=watch, daemon=True).start()
        try:
            answer, words = child.communicate(formula)
        finally:
            ended.set()
            child.kill()
    if over.is_set():
        return Verdict()
    if child.returncode != 0:
        raise ProofError(f"the solver ended with exit status {child.returncode}{_last(words)}")
    model = answer.removeprefix(cadical_process.MODEL)
    if model != answer:
        return Verdict(model=frozenset(map(int, model.split())))
    return Verdict(proof=trimmed(answer, len(clauses)), bytes=len(answer))


def _last(words: bytes) -> str:
    """Return the last line of an error message, for the end of a sentence."""
    lines = words.decode(errors="replace").strip().splitlines()
    return f": {lines[-1][:200]}" if lines else ""
