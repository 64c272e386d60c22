"""The settings of a run of designers."""

from __future__ import annotations

from dataclasses import dataclass

from cchybrid.host.run_config import RunConfig

from .network.ports import Links


@dataclass(frozen=True)
class DesignConfig(RunConfig):
    """The settings of a run of designers, which are its ``engines``, in descending priority.

    Parameters
    ----------
    goal
        A cost that ends the run, or ``None``.
    initial
        The links of a network to begin with, or ``None``.
    """

    goal: float | None = None
    initial: Links | None = None
