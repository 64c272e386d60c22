"""What a run is asked to do, and the seeds that follow from its one seed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cchybrid.plugin.engine import Budget
from cchybrid.plugin.records import BoundInfo, EngineInfo


@dataclass(frozen=True)
class Order:
    """What a run is asked to do.

    Parameters
    ----------
    engines
        The engines that take part; none: only bounds are sought.
    bounds
        The bound providers.
    strategy
        A key of ``STRATEGIES``.
    budget
        Wall-clock seconds of the whole run, or evaluations of each engine; threads of all
        engines together; memory of each worker.
    seed
        Rules every random choice.
    target
        Look for a schedule of at most so many steps, and stop at the first.
    blind
        No bound is sought, told or heeded: the search for ``target`` steps goes on until the
        budget is spent, even where fewer steps than any schedule has are asked for.
    certify
        Where only an engine claims the best bound, use the time that is left to prove it.
    options
        Per engine the options that the user set, as text.
    """

    engines: Sequence[EngineInfo]
    bounds: Sequence[BoundInfo]
    strategy: str = "auto"
    budget: Budget = field(default_factory=lambda: Budget(seconds=60.0, threads=2))
    seed: int = 0
    target: int | None = None
    blind: bool = False
    certify: bool = True
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def seed_for(seed: int, name: str, turn: int = 0) -> int:
    """Return an engine's own seed, from the one seed of the run; another one for each turn."""
    text = f"{seed}/{name}/{turn}" if turn else f"{seed}/{name}"
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFF_FFFF
