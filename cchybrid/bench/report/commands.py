"""The command lines that made a store."""

from __future__ import annotations

import shlex

from cchybrid.bench.contestant import Contestant, settings_of
from cchybrid.bench.report.reading import Outcome, Reading
from cchybrid.bench.suite import read_suite, suite_names
from cchybrid.library.node_lists import format_nodes


def commands_of(reading: Reading) -> list[str]:
    """Return one command for a study that ships, else one for every contestant."""
    suite = reading.suite if reading.suite in suite_names() else f"{reading.suite}.toml"
    everyone = reading.contestants
    budgets = {(_budget(each), *_seeds(each, reading)) for each in everyone}
    own = set() if suite.endswith(".toml") else {_who(c) for c in read_suite(suite).contestants}
    if own and own == {_who(each) for each in everyone} and len(budgets) == 1:
        return [_command(suite, [], everyone[0], reading)]
    return [_command(suite, _named(each), each, reading) for each in everyone]


def outcomes_of(contestant: Contestant, reading: Reading) -> list[Outcome]:
    """Return what the runs of one contestant amount to."""
    return [
        outcome
        for each in reading.outcomes.values()
        for outcome in each
        if outcome.contestant.key == contestant.key
    ]


def _command(suite: str, named: list[str], contestant: Contestant, reading: Reading) -> str:
    words = ["cchybrid", "bench", "run", suite, *named, *_budget(contestant)]
    return shlex.join([*words, *_seeds(contestant, reading), "--store", reading.path.name])


def _who(contestant: Contestant) -> str:
    return Contestant(contestant.engines, contestant.strategy, options=contestant.options).key


def _named(contestant: Contestant) -> list[str]:
    words = []
    if contestant.engines is not None:
        words += ["--engine", "+".join(contestant.engines)]
    if contestant.strategy != "auto":
        words += ["--strategy", contestant.strategy]
    for setting in settings_of(contestant):
        words += ["--option", setting]
    return words


def _budget(contestant: Contestant) -> tuple[str, ...]:
    words = []
    if contestant.time_limit is not None:
        words += ["--time-limit", f"{contestant.time_limit:.15g}"]
    if contestant.evaluations is not None:
        words += ["--evaluations", str(contestant.evaluations)]
    return (*words, "--threads", str(contestant.threads))


def _seeds(contestant: Contestant, reading: Reading) -> tuple[str, ...]:
    seeds = format_nodes({outcome.seed for outcome in outcomes_of(contestant, reading)})
    if seeds == "0":
        return "--seeds", "1"
    return "--seeds", f"{seeds},{seeds}" if seeds.isdecimal() else seeds
