"""Intervals at 95 %: of a success rate (Wilson) and of a mean (Student)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev


@dataclass(frozen=True)
class Mean:
    """The mean of some values, and its interval; ``None`` where one value alone says none."""

    value: float
    interval: tuple[float, float] | None


def wilson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the score interval of a success rate.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of
    the American Statistical Association 22 (158), 1927, 209-212. Without trials: (0, 1).
    """
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate = successes / trials
    middle = rate + z * z / (2 * trials)
    spread = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = 0.0 if successes == 0 else (middle - spread) / scale
    high = 1.0 if successes == trials else (middle + spread) / scale
    return low, high


def mean_of(values: Sequence[float], confidence: float = 0.95) -> Mean | None:
    """Return the mean with Student's t interval; ``None`` of nothing."""
    if not values:
        return None
    middle = fmean(values)
    if len(values) < 2:
        return Mean(middle, None)
    spread = t_quantile(len(values) - 1, confidence) * stdev(values) / math.sqrt(len(values))
    return Mean(middle, (middle - spread, middle + spread))


def t_quantile(freedom: int, confidence: float = 0.95) -> float:
    """Return the t within which Student's distribution has so much of its mass, both sides."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        low, high = (angle, high) if _mass(angle, freedom) < confidence else (low, angle)
    return math.sqrt(freedom) * math.tan(low)


def _mass(angle: float, freedom: int) -> float:
    """Return the mass within ``t = sqrt(freedom) * tan(angle)`` of zero.

    M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions, 1964, 26.7.3 and 26.7.4.
    """
    odd = freedom % 2
    cosine = math.cos(angle)
    term = cosine if odd else 1.0
    total = term if freedom > 1 else 0.0
    for index in range(2 + odd, freedom - 1, 2):
        term *= cosine * cosine * (index - 1) / index
        total += term
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total
