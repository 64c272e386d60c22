"""The configuration of a run, and the seeds of its workers."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from cchybrid.host.arguments import read_count, read_seed
from cchybrid.host.quotient_search import QuotientOptions
from cchybrid.host.versions import versions
from cchybrid.model.errors import with_context
from cchybrid.model.json_fields import only_keys, take
from cchybrid.plugin.engine import Budget, read_options
from cchybrid.plugin.records import BoundInfo, EngineInfo, load_target
from cchybrid.plugin.registry import Registry
from cchybrid.plugin.software import software

AUTO, QUOTIENTS = "cchybrid.host.strategies:AUTO", "cchybrid.host.strategies:QUOTIENTS"
"""Targets of strategies."""
LOG_FORMAT = "cchybrid-run/2"
"""Format of a log, in its first line."""

_LIMITS = {"seconds": float, "evaluations": int, "threads": int, "memory": int}
"""The fields of ``Budget`` in a log."""


@dataclass(frozen=True)
class RunConfig:
    """The configuration of a run.

    Parameters
    ----------
    engines
        The records of the engines or designers that take part; without any, only bounds are
        searched for.
    bounds
        The bound providers.
    strategy
        The name of the strategy.
    strategy_target
        ``package.module:object`` of its ``Strategy``.
    budget
        Wall-clock seconds of the whole run, or evaluations of each engine; threads of all
        engines together; memory of the whole run.
    seed
        Seed of all random choices.
    target
        Search for a schedule of at most this many steps, and stop at the first.
    blind
        No bound is searched for, shared or used: the search for ``target`` steps continues until
        the budget is spent, even if a bound shows that there is no such schedule.
    first_schedule
        Whether the host makes a greedy schedule before any engine starts. It is not shared with
        engines; it is the result if they find no better one.
    first_bounds
        Whether the host computes the cheapest bounds before any process starts; where they meet the
        greedy schedule, none does.
    certify
        Whether to use the remaining time to prove a best bound that only an engine claims.
    options
        The options that the user set, as text, per engine, strategy, and for ``quotients``.
    logged_versions
        Of a replayed run, the versions of software in its log.
    """

    engines: Sequence[Any]
    bounds: Sequence[BoundInfo]
    strategy: str = "auto"
    strategy_target: str = AUTO
    budget: Budget = field(default_factory=lambda: Budget(seconds=60.0, threads=2))
    seed: int = 0
    target: int | None = None
    blind: bool = False
    first_schedule: bool = False
    first_bounds: bool = False
    certify: bool = True
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    logged_versions: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def versions(self) -> Mapping[str, str]:
        """The versions of all software that the run depends on."""
        engines = {info.name: info.target for info in self.engines}
        return self.logged_versions or {**versions(), **software(engines)}

    def to_log(self) -> dict[str, Any]:
        """Return the first line of the log, from which the run can be replayed."""
        return {
            "log": LOG_FORMAT,
            "strategy": self.strategy,
            "budget": asdict(self.budget),
            "seed": self.seed,
            "target": self.target,
            "blind": self.blind,
            "certify": self.certify,
            "options": {name: dict(texts) for name, texts in self.options.items()},
            "versions": self.versions,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the configuration as a JSON object for a worker that runs a session itself."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "RunConfig":
        """Read what ``to_json`` has written."""

        def as_record(info: Mapping[str, Any]) -> Any:
            kept: dict[str, Any] = {
                key: tuple(v) if isinstance(v, list) else v for key, v in info.items()
            }
            return EngineInfo(**kept)

        engines = list(map(as_record, record["engines"]))
        bounds = [BoundInfo(**info) for info in record["bounds"]]
        budget = Budget(**record["budget"])
        return cls(**{**record, "engines": engines, "bounds": bounds, "budget": budget})

    @classmethod
    def from_log(cls, line: Mapping[str, Any], registry: Registry) -> "RunConfig":
        """Return the configuration of a logged run, without engines and bounds.

        Raises
        ------
        InputError
            If a key is missing or its value is wrong; the error names it.
        """
        kinds = {"strategy": str, "seed": int, "blind": bool, "certify": bool, "options": dict}
        rest: dict[str, Any] = {key: take(line, key, kind, "") for key, kind in kinds.items()}
        with with_context("strategy"):
            rest["strategy_target"] = registry.strategy(rest["strategy"]).target
        limits, options = take(line, "budget", dict, ""), rest["options"]
        only_keys(limits, tuple(_LIMITS), "budget")
        budget = {key: _take_limit(limits, key, kind, "budget") for key, kind in _LIMITS.items()}
        for name in options:
            for key in take(options, name, dict, "options"):
                take(options[name], key, str, f"options.{name}")
        target = read_count(_take_limit(line, "target", int, ""), "target")
        rest["seed"] = read_seed(rest["seed"])
        # Logs of older versions have none.
        named = take(line, "versions", dict, "", {})
        rest["logged_versions"] = {name: take(named, name, str, "versions") for name in named}
        config = cls([], [], budget=Budget(**budget), target=target, **rest)
        _ = config.strategy_options, config.quotient_options  # raises for wrong values
        return config

    @cached_property
    def strategy_options(self) -> Any:
        """Return the options of the strategy."""
        if self.strategy == "quotients":  # those of every quotient search
            return self.quotient_options
        texts = self.options.get(self.strategy, {})
        return read_options(self.strategy, load_target(self.strategy_target).Options, texts)

    @cached_property
    def quotient_options(self) -> QuotientOptions:
        """Return the options of quotient searches."""
        texts = self.options.get("quotients", {})
        found: QuotientOptions = read_options("quotients", QuotientOptions, texts)
        return found


def _take_limit(record: Mapping[str, Any], key: str, kind: type, where: str) -> Any:
    """Return ``record[key]``, which is of this type or ``None``; the key must be there."""
    return None if record.get(key, ...) is None else take(record, key, kind, where)


def seed_for(seed: int, name: str, start: int = 0) -> int:
    """Return the seed of a worker.

    Parameters
    ----------
    seed
        Seed of the run.
    name
        Name of the worker.
    start
        Number of earlier workers of the same name in the run.
    """
    text = f"{seed}/{name}/{start}" if start else f"{seed}/{name}"
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFF_FFFF
