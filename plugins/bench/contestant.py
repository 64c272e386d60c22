"""Contestants: the engines and the strategy that a suite is run with, under which budget."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from types import NoneType
from typing import Any

from cchybrid.host.api import DEFAULT_SECONDS
from cchybrid.host.arguments import read_left_out
from cchybrid.host.quotient_search import QuotientOptions
from cchybrid.host.schedule_task import HOST_GREEDY
from cchybrid.model.errors import InputError, with_context
from cchybrid.plugin.benchmark import Benchmark
from cchybrid.plugin.engine import read_options
from cchybrid.plugin.registry import MODULES_VARIABLE, Registry
from cchybrid.plugin.software import OWN, software
from cchybrid.system.output import output_to_stderr


@dataclass(frozen=True)
class Contestant:
    """The engines, strategy, budget and options that a row is solved with.

    Parameters
    ----------
    engines
        Names of the engines that take part together; ``None``: all installed ones except
        baselines; none: the host's greedy schedule alone, a contestant called ``host greedy``.
    without
        Names of engines that are left out of all.
    strategy
        The name of a strategy.
    time_limit, evaluations
        Seconds per run, or evaluations of each engine.
    threads
        Threads of all engines together.
    first_schedule
        Whether the host's greedy schedule takes part.
    options
        Options by engine.
    software
        A digest of the versions of cchybrid and all plugins, and of the code of the engines: runs
        of other software are other runs. Empty in older stores.
    """

    engines: tuple[str, ...] | None = None
    strategy: str = "auto"
    time_limit: float | None = DEFAULT_SECONDS
    evaluations: int | None = None
    threads: int = 1
    first_schedule: bool = False
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    software: str = ""
    without: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name in reports: ``umda``, ``cpsat+tabu``, or the strategy where all take part."""
        if self.engines is None:
            return " without ".join(filter(None, (self.strategy, "+".join(self.without))))
        team = "+".join(self.engines) or HOST_GREEDY
        return team if self.strategy == "auto" else f"{team} ({self.strategy})"

    def team(self, registry: Registry) -> tuple[str, ...]:
        """Return the names of the engines that take part."""
        if self.engines is not None:
            return self.engines
        default = (info.name for info in registry.engines.values() if not info.baseline)
        return tuple(name for name in default if name not in self.without)

    @property
    def budget(self) -> str:
        """The budget in words: ``60 s, 1 thread``, and that the greedy schedule takes part."""
        amounts = []
        if self.evaluations is not None:
            amounts.append(f"{self.evaluations} evaluation{'s' if self.evaluations > 1 else ''}")
        if self.time_limit is not None:
            amounts.append(f"{self.time_limit:.15g} s")
        amounts.append(f"{self.threads} thread{'s' if self.threads > 1 else ''}")
        if self.first_schedule and self.engines != ():
            amounts.append("greedy schedule")
        return ", ".join(amounts)

    @property
    def key(self) -> str:
        """The key in the store: equal keys mean equal settings."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_key(cls, key: str) -> "Contestant":
        """Return the contestant of a ``key``."""
        record = json.loads(key)
        if not isinstance(record, dict):
            raise ValueError(f"{key[:40]} is no contestant")
        engines, without = record.pop("engines"), tuple(record.pop("without", ()))
        record.setdefault("first_schedule", engines is None)  # as older runs were made
        found = cls(None if engines is None else tuple(engines), without=without, **record)
        names = (*(found.engines or ()), *without)
        sound = (
            all(isinstance(text, str) for text in (found.strategy, found.software, *names))
            and not (found.engines is not None and without)
            and isinstance(found.time_limit, (int, float, NoneType))
            and isinstance(found.evaluations, (int, NoneType))
            and isinstance(found.threads, int)
            and isinstance(found.first_schedule, bool)
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

    def renamed(self, registry: Registry) -> "Contestant":
        """Return the contestant with the present names of its engines and its strategy."""
        current = registry.current_name
        engines = self.engines and tuple(sorted({current(name) for name in self.engines}))
        without = tuple(sorted({current(name) for name in self.without}))
        options = {current(name): values for name, values in self.options.items()}
        strategy = current(self.strategy)
        return replace(self, engines=engines, without=without, strategy=strategy, options=options)

    def to_solve(self) -> dict[str, Any]:
        """Return the arguments of ``solve``."""
        return {name: value for name, value in asdict(self).items() if name != "software"}


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
        Contestant(
            ()
            if team == HOST_GREEDY
            else tuple(sorted({registry.engine(name.strip()).name for name in team.split("+")}))
        )
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
        if name.lower() in registry.strategies:
            title, takes_part = f"strategy {name}", name in (*(strategies or ["auto"]), "quotients")
        else:
            own = registry.engine(name).name
            title, takes_part = f"engine {own}", any(own in each.team(registry) for each in chosen)
        if not takes_part:
            raise InputError(
                f"{title} does not take part", where="--option", hint="name it, or drop it"
            )
    return [
        replace(
            each,
            strategy=strategy,
            options={
                name: dict(values)
                for name, values in current.items()
                if name in (*each.team(registry), strategy, "quotients") and each.engines != ()
            },
            **budget,
        )
        for each in {each.key: each for each in chosen}.values()
        for strategy in dict.fromkeys(strategies or ["auto"])
    ]


def with_first_schedule(entries: Iterable[Contestant], takes_part: bool | None) -> list[Contestant]:
    """Return contestants for all of which the host's greedy schedule takes part, or for none.

    It is all there is of ``host greedy``. ``takes_part`` is ``None`` if the user did not choose:
    then none has it where one names engines, which are compared by their own schedules.

    Raises
    ------
    InputError
        ``host greedy`` has a strategy or options.
    """
    listed = list(entries)
    if any(each.engines == () and (each.strategy != "auto" or each.options) for each in listed):
        raise InputError(f"{HOST_GREEDY} has no strategy and no options", hint="leave them out")
    if takes_part is None:
        takes_part = not any(entry.engines for entry in listed)
    return [replace(entry, first_schedule=takes_part or entry.engines == ()) for entry in listed]


def check_options(entries: Sequence[Contestant], registry: Registry) -> None:
    """Check all options before any run.

    Raises
    ------
    InputError
        An option that does not exist or has a wrong value; the error names the contestant.
    """
    names = labels(entries)
    pairs = [(contestant, name) for contestant in entries for name in contestant.options]
    for contestant, name in pairs:
        try:
            with output_to_stderr():
                read_options(name, _options_class(name, registry), contestant.options[name])
        except InputError as error:
            raise error.with_context(f"contestant {names[contestant.key]}") from None
        except Exception:  # a defect of a plugin, which the runs report
            continue


def _options_class(name: str, registry: Registry) -> type:
    if name == "quotients":
        return QuotientOptions
    strategy = registry.strategies.get(name)
    kind, info = ("strategy", strategy) if strategy else ("engine", registry.engine(name))
    return registry.load(kind, info).Options  # type: ignore[no-any-return]


def software_of(kind: Benchmark[Any], team: Iterable[str], registry: Registry) -> str:
    """Return the digest of the software that runs of a team depend on.

    Kinds of rows that need no engines may need any designer. A module of the environment that
    registers engines alone counts only if one of them is in the team.
    """
    infos: list[Any] = (
        [*map(registry.engine, team)] if kind.engines else [*registry.designers.values()]
    )
    found = {OWN: version(OWN), **software({info.name: info.target for info in infos})}
    for row in registry.plugins if kind.engines else ():
        takes_part = {*row.provides} & {f"engine {info.name}" for info in infos}
        only_engines = row.provides and all(each.startswith("engine ") for each in row.provides)
        if row.source == MODULES_VARIABLE and only_engines and not takes_part:
            found.pop(f"plugin {row.name}", None)
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:12]


def labels(contestants: Iterable[Contestant]) -> dict[str, str]:
    """Return a label by key: the contestant's name, and the settings that distinguish it.

    ``umda mutation=0.9, 20 s`` is one of several contestants with ``umda`` that differ in mutation,
    where the time limits of any two contestants differ.
    """
    listed = list(contestants)
    # The greedy schedule is all there is of ``host greedy``, whose budget does not name it.
    budgets = [{*replace(each, engines=None).budget.split(", ")} for each in listed]
    shared = set[str].intersection(*budgets) if budgets else set[str]()
    found: dict[str, str] = {}
    for contestant in listed:
        same_name = [other for other in listed if other.name == contestant.name]
        settings = [set(settings_of(other)) for other in same_name]
        common = set.intersection(*settings)
        words = [word for word in settings_of(contestant) if word not in common]
        if contestant.engines and len(contestant.engines) == 1:
            words = [word.removeprefix(f"{contestant.engines[0]}.") for word in words]
        own = [part for part in contestant.budget.split(", ") if part not in shared]
        label = ", ".join([" ".join([contestant.name, *words]), *own])
        if len({other.software for other in same_name}) > 1:
            label += f", software {contestant.software[:6] or 'unknown'}"
        found[contestant.key] = label
    return found


def settings_of(contestant: Contestant) -> list[str]:
    """Return the options as ``--option`` takes them."""
    return [
        f"{engine}.{name}={value}"
        for engine, values in sorted(contestant.options.items())
        for name, value in sorted(values.items())
    ]
