"""The cells of tables as text."""

from collections.abc import Callable
from typing import Any

from pandas import Series, isna


def shown(cell: Any) -> str:
    """Return a cell as text: numbers with two or three significant digits."""
    if isna(cell) or not isinstance(cell, float):
        return "" if isna(cell) else str(cell)
    return f"{cell:.1f}" if cell >= 10 else f"{cell:.2f}"


def percent(share: float) -> str:
    """Return a share as a percentage; "" for an unknown one."""
    return "" if isna(share) else f"{100 * share:.0f} %"


def ranges(lows: Series, highs: Series, show: Callable[[float], str]) -> list[str]:
    """Return intervals such as ``21 to 100 %``, from 0 on; "" for none."""
    return [
        "" if isna(low) else f"{show(max(low, 0.0)).removesuffix(' %')} to {show(high)}"
        for low, high in zip(lows, highs, strict=True)
    ]
