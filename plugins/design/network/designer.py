"""The interface for authors of designers: ``Designer`` to implement, ``DesignRun`` to call."""

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Protocol

from cchybrid.plugin.engine import Stop

from .ports import Links
from .task import DesignTask


class DesignRun(Protocol):
    """The connection of a designer to what runs it, after ``cchybrid.plugin.engine.Run``.

    Attributes
    ----------
    seed
        The seed of all random choices.
    """

    seed: int

    def should_stop(self) -> bool:
        """Return whether the designer should return now; call it at least a few times a second."""

    def offer(self, links: Iterable[tuple[int, int]], cost: float) -> None:
        """Submit a network by its links; it is checked, and its cost computed again."""

    def best(self) -> float | None:
        """Return the cost of the best network that was offered, or ``None``."""

    def known(self) -> Links | None:
        """Return the links of a network that is better than all that the designer has offered.

        It comes from another designer or from the user. ``None`` if there is none.
        """

    def spend(self, evaluations: int) -> None:
        """Count networks whose cost was computed against the budget."""

    def note(self, **metrics: float) -> None:
        """Report other figures of the search."""


class Designer(Protocol):
    """A designer of networks, constructed with its options.

    A designer may have a method ``prepare()``, which compiles its kernels.

    Attributes
    ----------
    Options
        A frozen dataclass as for ``cchybrid.plugin.engine.Engine``.
    """

    Options: ClassVar[type]

    def __init__(self, options: Any) -> None:
        """Construct the designer with an ``Options`` object."""

    def unsupported(self, task: DesignTask) -> str | None:
        """Return why the designer cannot work on this task, or ``None`` if it can."""

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        """Search until ``run.should_stop()`` or until nothing is left to do; return the reason."""


def is_better(run: DesignRun, cost: float) -> bool:
    """Return whether a cost is finite and lower than that of every network that was offered."""
    best = run.best()
    return math.isfinite(cost) and (best is None or cost < best)
