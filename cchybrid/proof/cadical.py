"""CaDiCaL in a separate process: a model of a formula, or a proof that there is none.

The solver comes with python-sat (the extra ``prove``).

References
----------
A. Biere, T. Faller, K. Fazekas, M. Fleury, N. Froleyks and F. Pollitt, CaDiCaL 2.0, CAV 2024,
https://doi.org/10.1007/978-3-031-65627-9_7.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from cchybrid.proof import cadical_process
from cchybrid.proof.lrat import ProofError, trimmed
from cchybrid.system.processes import start_module

TICK_SECONDS = 0.05
"""Seconds between two checks of the clock."""


@dataclass(frozen=True)
class Verdict:
    """The outcome for a formula: a ``proof`` (text lines) that it has no model, or a ``model``.

    Both are ``None`` if the time was up or the run is over. ``bytes`` is the size of the solver's
    binary proof.
    """

    proof: list[str] | None = None
    model: frozenset[int] | None = None
    bytes: int = 0


def is_installed() -> bool:
    """Return whether python-sat is installed."""
    return find_spec("pysat") is not None


def refute(
    clauses: list[list[int]], seconds: float, should_stop: Callable[[], bool] = lambda: False
) -> Verdict:
    """Decide by CaDiCaL whether the clauses have a model.

    Raises
    ------
    ProofError
        If the solver fails, or its proof cannot be read.
    """
    deadline = time.monotonic() + seconds
    formula = "".join(f"{' '.join(map(str, clause))} 0\n" for clause in clauses).encode()
    over, ended = threading.Event(), threading.Event()

    def watch() -> None:
        while not ended.wait(TICK_SECONDS):
            if time.monotonic() > deadline or should_stop():
                over.set()
                child.kill()
                return

    # In the same process group, so that it is paused and ended with this process.
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
    """Return ": " and the last line of an error message, or ""."""
    lines = words.decode(errors="replace").strip().splitlines()
    return f": {lines[-1][:200]}" if lines else ""
