"""Contestants: the engines and the strategy that a suite is run with, under which budget."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import NoneType
from typing import Any

from cchybrid.host.api import DEFAULT_SECONDS
from cchybrid.host.arguments import read_left_out
from cchybrid.model.errors import InputError, with_context
from cchybrid.plugin.registry import Registry


@dataclass(frozen=True)
class Contestant:
    """The engines, strategy, budget and options that a row is solved with.

    Parameters
    ----------
    engines
        Names of the engines that take part together; ``None``: all installed ones except
        baselines.
    without
        Names of engines that are left out of all.
    strategy
        The name of a strategy.
    time_limit, evaluations
        Seconds per run, or evaluations of each engine.
    threads
        Threads of all engines together.
    options
        Options by engine.
    """

    engines: tuple[str, ...] | None = None
    strategy: str = "auto"
    time_limit: float | None = DEFAULT_SECONDS
    evaluations: int | None = None
    threads: int = 1
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    without: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name in reports: ``umda``, ``cpsat+tabu``, or the strategy where all take part."""
        team = "+".join(self.engines or ())
        if not team:
            return " without ".join(filter(None, (self.strategy, "+".join(self.without))))
        return team if self.strategy == "auto" else f"{team} ({self.strategy})"

    def team(self, registry: Registry) -> tuple[str, ...]:
        """Return the names of the engines that take part."""
        if self.engines is not None:
            return self.engines
        default = (info.name for info in registry.engines.values() if not info.baseline)
        return tuple(name for name in default if name not in self.without)

    @property
    def budget(self) -> str:
        """The budget in words: ``60 s, 1 thread``."""
        amounts = []
        if self.evaluations is not None:
            amounts.append(f"{self.evaluations} evaluations")
        if self.time_limit is not None:
            amounts.append(f"{self.time_limit:.15g} s")
        amounts.append(f"{self.threads} thread{'s' if self.threads > 1 else ''}")
        return ", ".join(amounts)

    @property
    def key(self) -> str:
        """The key in the store: equal keys mean equal settings."""
        settings = asdict(self)
        if not self.without:  # keys of 0.9.0 do not have it
            del settings["without"]
        return json.dumps(settings, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_key(cls, key: str) -> Contestant:
        """Return the contestant of a ``key``."""
        record = json.loads(key)
        if not isinstance(record, dict):
            raise ValueError(f"{key[:40]} is no contestant")
        engines, without = record.pop("engines"), tuple(record.pop("without", ()))
        found = cls(None if engines is None else tuple(engines), without=without, **record)
        names = (*(found.engines or ()), *without)
        sound = (
            all(isinstance(name, str) for name in (found.strategy, *names))
            and not (engines and without)
            and isinstance(found.time_limit, (int, float, NoneType))
            and isinstance(found.evaluations, (int, NoneType))
            and isinstance(found.threads, int)
            and isinstance(found.options, dict)
            and all(isinstance(values, dict) for values in found.options.values())
        )
        if not sound:
            raise ValueError(f"{key[:80]} is no contestant")
        if list(names) != sorted(set(names)):
            raise ValueError("its engines are not in order, or one is named twice")
        # Suites wrote 3 where the command wrote 3.0.
        limit = None if found.time_limit is None else float(found.time_limit)
        return replace(found, time_limit=limit)

    def renamed(self, registry: Registry) -> Contestant:
        """Return the contestant with the present names of its engines."""
        current = registry.current_name
        engines = self.engines and tuple(sorted({current(name) for name in self.engines}))
        without = tuple(sorted({current(name) for name in self.without}))
        options = {current(name): values for name, values in self.options.items()}
        return replace(self, engines=engines, without=without, options=options)

    def to_solve(self) -> dict[str, Any]:
        """Return the arguments of ``solve``.

        Named engines are compared by their own schedules, without the host's first one.
        """
        return {**asdict(self), "first_schedule": self.engines is None}


def with_budget(registry: Registry, named: Iterable[Contestant], **budget: Any) -> list[Contestant]:
    """Return the contestants of a suite with a budget and with engine names in their usual case.

    Raises
    ------
    InputError
        For an engine or a strategy that does not exist.
    """
    found = []
    for contestant in named:
        for name in contestant.engines or ():
            registry.engine(name)
        _left_out(registry, contestant.without)
        with with_context("strategy"):
            registry.strategy(contestant.strategy)
        found.append(replace(contestant.renamed(registry), **budget))
    return found


def _left_out(registry: Registry, names: Sequence[str]) -> tuple[str, ...]:
    """Return the present names of engines that are left out of all, in order."""
    return tuple(sorted(read_left_out(names, {*Contestant().team(registry)}, registry)))


def contestants(
    registry: Registry,
    teams: Sequence[str],
    strategies: Sequence[str],
    options: Mapping[str, Mapping[str, str]],
    without: Sequence[str] = (),
    **budget: Any,
) -> list[Contestant]:
    """Return one contestant for every team and strategy.

    Parameters
    ----------
    teams
        Engines that take part, such as ``umda``, or several together, such as ``umda+cpsat``;
        none: all engines as one team.
    strategies
        Names of strategies; none: ``auto``.
    without
        Engines that are left out of all, such as ``tabu``, or several, such as ``tabu+lns``.

    Raises
    ------
    InputError
        For an engine or a strategy that does not exist, and for teams beside engines left out.
    """
    if teams and without:
        raise InputError("given beside --engine", where="--without", hint="leave one of them out")
    with with_context("--strategy"):
        strategies = [registry.strategy(name).name for name in strategies]
    chosen = [
        Contestant(tuple(sorted({registry.engine(name.strip()).name for name in team.split("+")})))
        for team in teams
    ]
    for names in without:
        parts = [name.strip() for name in names.split("+")]
        chosen.append(Contestant(without=_left_out(registry, parts)))
    chosen = chosen or [Contestant()]
    current: dict[str, dict[str, str]] = {}
    for name, values in options.items():
        current.setdefault(registry.current_name(name), {}).update(values)
    for name in current:
        if name in registry.strategies:
            if name not in (*(strategies or ["auto"]), "quotients"):
                raise InputError(
                    f"strategy {name} does not take part", where="--option",
                    hint="name it, or drop it",
                )  # fmt: skip
            continue
        info = registry.engine(name)
        if not any(info.name in each.team(registry) for each in chosen):
            raise InputError(
                f"engine {info.name} does not take part",
                where="--option",
                hint="name it, or drop it",
            )
    return [
        replace(
            each,
            strategy=strategy,
            options={
                name: dict(values)
                for name, values in current.items()
                if name in (*each.team(registry), strategy, "quotients")
            },
            **budget,
        )
        for each in {each.key: each for each in chosen}.values()
        for strategy in dict.fromkeys(strategies or ["auto"])
    ]


def labels(contestants: Iterable[Contestant]) -> dict[str, str]:
    """Return a label by key: the contestant's name, and the settings that distinguish it.

    ``umda mutation=0.9, 20 s, 1 thread`` is one of several contestants with ``umda`` that differ in
    mutation and budget.
    """
    listed = list(contestants)
    found: dict[str, str] = {}
    for contestant in listed:
        same_name = [other for other in listed if other.name == contestant.name]
        settings = [set(settings_of(other)) for other in same_name]
        common = set.intersection(*settings)
        words = [word for word in settings_of(contestant) if word not in common]
        if len(contestant.engines or ()) == 1:
            words = [word.partition(".")[2] for word in words]
        label = " ".join([contestant.name, *words])
        if len({other.budget for other in same_name}) > 1:
            label += f", {contestant.budget}"
        found[contestant.key] = label
    return found


def settings_of(contestant: Contestant) -> list[str]:
    """Return the options as ``--option`` takes them."""
    return [
        f"{engine}.{name}={value}"
        for engine, values in sorted(contestant.options.items())
        for name, value in sorted(values.items())
    ]
