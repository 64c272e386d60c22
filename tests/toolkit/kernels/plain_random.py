"""Plain-Python twin of ``cchybrid.toolkit.kernels.rng``."""

from __future__ import annotations

import math

WORD = 2**64


class PlainRandom:
    """splitmix64, written from the paper (Steele, Lea, Flood 2014)."""

    def __init__(self, seed: int) -> None:
        self.state = seed % WORD

    def word(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) % WORD
        mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % WORD
        return mixed ^ (mixed >> 31)

    def below(self, bound: int) -> int:
        return (self.word() >> 32) * bound >> 32

    def uniform(self) -> float:
        return (self.word() >> 11) / 2**53

    def normal(self) -> float:
        radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
        return radius * math.cos(2.0 * math.pi * self.uniform())

    def shuffle(self, values: list[int]) -> None:
        for last in range(len(values) - 1, 0, -1):
            other = self.below(last + 1)
            values[last], values[other] = values[other], values[last]
