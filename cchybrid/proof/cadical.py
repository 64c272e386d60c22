"""CaDiCaL in a process of its own: a model of a formula, or a proof that there is none.

The solver comes with python-sat (the extra ``prove``); A. Biere and others, CaDiCaL 2.0, CAV 2024.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from cchybrid.proof.lrat import ProofError, trimmed

CHILD = "cchybrid.proof.cadical_process"
TICK = 0.02
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
    with tempfile.TemporaryDirectory(prefix="cchybrid-") as folder:
        formula, proof, model = (Path(folder, name) for name in ("formula", "proof", "model"))
        formula.write_text("".join(f"{' '.join(map(str, clause))} 0\n" for clause in clauses))
        command = [sys.executable, "-m", CHILD, str(formula), str(proof), str(model)]
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            while child.poll() is None:
                if time.monotonic() > deadline or should_stop():
                    return Verdict()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(TICK)
        finally:
            child.kill()
            child.wait()
        if child.returncode != 0:
            raise ProofError(f"the solver ended with exit status {child.returncode}")
        if model.exists():
            return Verdict(model=frozenset(map(int, model.read_text().split())))
        written = proof.read_bytes()
        return Verdict(proof=trimmed(written, len(clauses)), bytes=len(written))
