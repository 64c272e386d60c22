"""The cells of tables as text."""

from __future__ import annotations

from typing import Any

from pandas import isna


def shown(cell: Any) -> str:
    """Return a cell as text: numbers with two or three significant digits."""
    if isna(cell) or not isinstance(cell, float):
        return "" if isna(cell) else str(cell)
    return f"{cell:.1f}" if cell >= 10 else f"{cell:.2f}"
