"""The command lines that produced a store."""

import shlex
from dataclasses import replace
from typing import Any

from cchybrid.host.schedule_task import HOST_GREEDY
from cchybrid.library.node_lists import format_nodes
from cchybrid.plugin.benchmark import Benchmark, CheckedSuite
from cchybrid.plugin.registry import Registry

from ..contestant import Contestant, settings_of, with_first_schedule
from ..suite import read_suite, suite_names


def commands_of(checked: CheckedSuite, kind: Benchmark[Any], registry: Registry) -> list[str]:
    """Return one command for a study of the library, else one for every contestant."""
    ships = checked.name in suite_names()
    command = ["cchybrid", "bench", "run", checked.name if ships else f"{checked.name}.toml"]
    seeds: dict[str, set[int]] = {}
    for each in checked.all_runs:
        seeds.setdefault(each.run.contestant.renamed(registry).key, set()).add(each.run.seed)
    compared = [Contestant.from_key(key) for key in sorted(seeds)] if kind.budget else []
    budgets = [_budget(each, format_nodes(sorted(seeds[each.key]))) for each in compared]
    suite = read_suite(checked.name, registry) if ships else None
    shipped = suite and with_first_schedule(suite.contestants, suite.budget.first_schedule)
    study = {*map(_bare, shipped or ())} == {*map(_bare, compared)} and len(set(budgets)) == 1
    settings = [(*_name(each), *budget) for each, budget in zip(compared, budgets, strict=True)]
    if not kind.budget or study:
        settings = budgets[:1] or [()]
    store = ("--store", checked.path.name)
    return list(dict.fromkeys(shlex.join([*command, *each, *store]) for each in settings))


def _bare(contestant: Contestant) -> str:
    """Return the contestant's key without its budget."""
    return replace(contestant, time_limit=None, evaluations=None, threads=1, software="").key


def _name(contestant: Contestant) -> tuple[str, ...]:
    strategy = "" if contestant.strategy == "auto" else contestant.strategy
    options = (("--option", setting) for setting in settings_of(contestant))
    engines = HOST_GREEDY if contestant.engines == () else "+".join(contestant.engines or ())
    without = "+".join(contestant.without)
    words = _words(
        ("--engine", engines), ("--without", without), ("--strategy", strategy), *options
    )
    # Only where it takes part otherwise than by default.
    if contestant.engines != () and contestant.first_schedule != (contestant.engines is None):
        words += ("--first-schedule" if contestant.first_schedule else "--no-first-schedule",)
    return words


def _budget(contestant: Contestant, seeds: str) -> tuple[str, ...]:
    """Return the options of the budget and of the seeds."""
    # A single number is read as a count.
    listed = f"{seeds},{seeds}" if seeds.isdecimal() else seeds
    limit = contestant.time_limit and f"{contestant.time_limit:.15g}"
    return _words(
        ("--time-limit", limit), ("--evaluations", contestant.evaluations),
        ("--threads", contestant.threads), ("--seeds", "1" if seeds == "0" else listed),
    )  # fmt: skip


def _words(*pairs: tuple[str, str | float | None]) -> tuple[str, ...]:
    return tuple(word for name, value in pairs if value for word in (name, str(value)))
