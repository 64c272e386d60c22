"""The configuration of a run, and the seeds that follow from its one seed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from cchybrid.host.quotient_search import QuotientOptions
from cchybrid.host.strategies import STRATEGIES
from cchybrid.plugin.engine import Budget, read_options
from cchybrid.plugin.records import BoundInfo, EngineInfo

LOG_FORMAT = "cchybrid-run/2"
"""What the first line of a log says that it is."""


@dataclass(frozen=True)
class RunConfig:
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
        No bound is sought, shared or used: the search for ``target`` steps goes on until the
        budget is spent, even where fewer steps than any schedule has are asked for.
    first_schedule
        Whether the host makes a greedy schedule before any engine works. Engines are not told of
        it: it is the answer where they find none.
    certify
        Where only an engine claims the best bound, use the time that is left to prove it.
    options
        Per engine, and for the strategy and ``quotients``, the options that the user set, as text.
    """

    engines: Sequence[EngineInfo]
    bounds: Sequence[BoundInfo]
    strategy: str = "auto"
    budget: Budget = field(default_factory=lambda: Budget(seconds=60.0, threads=2))
    seed: int = 0
    target: int | None = None
    blind: bool = False
    first_schedule: bool = False
    certify: bool = True
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def to_log(self) -> dict[str, Any]:
        """Return what the log keeps of it, so that the run can be replayed."""
        return {
            "log": LOG_FORMAT,
            "strategy": self.strategy,
            "budget": asdict(self.budget),
            "seed": self.seed,
            "target": self.target,
            "blind": self.blind,
            "certify": self.certify,
            "options": {name: dict(texts) for name, texts in self.options.items()},
        }

    @classmethod
    def from_log(cls, line: Mapping[str, Any]) -> RunConfig:
        """Return the configuration of a logged run, without engines and bounds."""
        rest = {key: line[key] for key in ("strategy", "seed", "target", "blind", "certify")}
        return cls([], [], budget=Budget(**line["budget"]), options=line["options"], **rest)

    @cached_property
    def strategy_options(self) -> Any:
        """Return the options of the strategy."""
        kind = STRATEGIES[self.strategy].Options
        return read_options(self.strategy, kind, self.options.get(self.strategy, {}))

    @cached_property
    def quotient_options(self) -> QuotientOptions:
        """Return the options of searches on quotients."""
        texts = self.options.get("quotients", {})
        found: QuotientOptions = read_options("quotients", QuotientOptions, texts)
        return found


def seed_for(seed: int, name: str, turn: int = 0) -> int:
    """Return an engine's own seed, from the one seed of the run; another one for each turn."""
    text = f"{seed}/{name}/{turn}" if turn else f"{seed}/{name}"
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFF_FFFF
