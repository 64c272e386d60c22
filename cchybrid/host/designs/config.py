"""The settings of a run of designers, and what the host knows of each designer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cchybrid.network_design.ports import Links
from cchybrid.plugin.engine import Budget
from cchybrid.plugin.records import DesignerInfo


@dataclass
class Entrant:
    """A designer in the run.

    Attributes
    ----------
    started
        Whether its search has started.
    running_since
        Seconds of the run at which its time slice began, ``None`` while it is paused or unstarted.
    worked
        Seconds of its earlier slices.
    best
        The cost of its best network.
    improved
        Seconds of the run at which it last found the best network of all.
    claims
        Whether it claims that no network is better than its best; only of exact designers.
    """

    info: DesignerInfo
    seat: int
    opened: bool = False
    started: bool = False
    ended: bool = False
    running_since: float | None = None
    worked: float = 0.0
    slices: int = 0
    best: float = math.inf
    improved: float = 0.0
    claims: bool = False


@dataclass
class Best:
    """The best network so far."""

    links: Links = ()
    cost: float = math.inf
    designer: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class DesignConfig:
    """The settings of a run of designers.

    Parameters
    ----------
    designers
        The designers that take part, in descending priority.
    budget
        Seconds or evaluations, threads and memory.
    seed
        The seed of the run.
    target
        A cost that ends the run, or ``None``.
    options
        The texts of options by designer.
    initial
        The links of a network to begin with, or ``None``.
    """

    designers: Sequence[DesignerInfo]
    budget: Budget
    seed: int = 0
    target: float | None = None
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    initial: Links | None = None
