"""The command lines that produced a store."""

from __future__ import annotations

import shlex

from cchybrid.bench.contestant import Contestant, settings_of
from cchybrid.bench.report.reading import Reading
from cchybrid.bench.suite import read_suite, suite_names
from cchybrid.library.node_lists import format_nodes


def commands_of(reading: Reading) -> list[str]:
    """Return one command for a study of the library, else one for every contestant."""
    ships, seeds = reading.suite in suite_names(), seeds_of(reading)
    command = ["cchybrid", "bench", "run", reading.suite if ships else f"{reading.suite}.toml"]
    compared = reading.contestants
    budgets = [budget_options(each, seeds[each.key]) for each in compared]
    names = [_name(each) for each in compared]
    shipped = {_bare(each) for each in read_suite(reading.suite).contestants} if ships else set()
    if (
        shipped
        and shipped == {_bare(each) for each in compared}
        and len(set(map(tuple, budgets))) == 1
    ):
        names = [[]]
    return [
        shlex.join([*command, *name, *budget, "--store", reading.checked.path.name])
        for name, budget in zip(names, budgets, strict=False)
    ]


def seeds_of(reading: Reading) -> dict[str, str]:
    """Return, by the keys of the contestants, their seeds as a list such as ``0-9``."""
    return dict(reading.runs.groupby("key").seed.agg(format_nodes))


def _bare(contestant: Contestant) -> str:
    """Return the contestant's key without its budget."""
    return Contestant(contestant.engines, contestant.strategy, options=contestant.options).key


def _name(contestant: Contestant) -> list[str]:
    strategy = "" if contestant.strategy == "auto" else contestant.strategy
    options = (("--option", setting) for setting in settings_of(contestant))
    engines = "+".join(contestant.engines or ())
    return _words(("--engine", engines), ("--strategy", strategy), *options)


def budget_options(contestant: Contestant, seeds: str) -> list[str]:
    """Return the options of the budget and of the seeds."""
    listed = (
        f"{seeds},{seeds}" if seeds.isdecimal() else seeds
    )  # a single number is read as a count
    limit = contestant.time_limit and f"{contestant.time_limit:.15g}"
    return _words(
        ("--time-limit", limit), ("--evaluations", contestant.evaluations),
        ("--threads", contestant.threads), ("--seeds", "1" if seeds == "0" else listed),
    )  # fmt: skip


def _words(*pairs: tuple[str, str | float | None]) -> list[str]:
    return [word for name, value in pairs if value for word in (name, str(value))]
