"""Formats of proofs for checkers of other projects: the files of a certificate's claim."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .claim import read_claim
from .dimacs import write_dimacs
from .opb import write_opb

Record = Mapping[str, Any]


def dimacs(instance: Record, certificate: Record, folder: Path, seconds: float) -> list[Path]:
    """Write a propositional formula and its refutation; return the paths of the files."""
    return write_dimacs(read_claim(instance, certificate), folder, seconds)


def opb(instance: Record, certificate: Record, folder: Path, seconds: float) -> list[Path]:
    """Write a pseudo-Boolean formula and its proof; return the paths of the files."""
    return write_opb(read_claim(instance, certificate), instance, folder, seconds)
