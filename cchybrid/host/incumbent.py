"""The best verified answer of a run, and its author."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Incumbent(Generic[T]):
    """The best answer so far.

    Attributes
    ----------
    value
        The answer: a schedule, or the links of a network.
    cost
        Its cost; smaller ones are better.
    author
        Who found it.
    seconds
        Seconds of the run at which it was found.
    """

    value: T
    cost: Any
    author: str
    seconds: float = 0.0


def is_better(cost: Any, incumbent: Incumbent[Any] | None) -> bool:
    """Return whether an answer of this cost replaces the best one so far."""
    return incumbent is None or bool(cost < incumbent.cost)
