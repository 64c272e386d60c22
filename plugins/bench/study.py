"""Studies: suites that name their contestants and the budget of every run.

::

    [[contestants]]                   # lists multiply: here six contestants
    engine = "umda"                   # or a list; a team is "umda+cpsat"; "host greedy"
    strategy = "auto"
    options = { population = [50, 100, 150], mutation = [0.2, 0.9] }

    [[contestants]]                   # instead of an engine: all without some; here two contestants
    without = ["tabu", "tabu+lns"]

    [[contestants]]
    engine = "umda+cpsat"
    options = { "umda.population" = 24 }

    [budget]                          # of each run; the number of seeds, or a list
    evaluations = 100000
    time_limit = 60
    threads = 1
    seeds = 30
    first_schedule = false            # the host's greedy schedule takes part in no run
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from cchybrid.host.arguments import read_count, read_seconds
from cchybrid.host.schedule_task import HOST_GREEDY
from cchybrid.library.node_lists import parse_nodes
from cchybrid.model.errors import InputError, with_context

from .contestant import Contestant

MAX_SEEDS = 1000
MAX_CONTESTANTS = 1000
CONTESTANT_KEYS = ("engine", "without", "strategy", "options")
"""The keys of a table ``[[contestants]]``."""


@dataclass(frozen=True)
class RunBudget:
    """The budget of a suite; ``None`` where the suite sets none.

    Parameters
    ----------
    time_limit, evaluations, threads
        As in ``Contestant``.
    seeds
        The seeds with which every row is run.
    first_schedule
        Whether the host's greedy schedule takes part, see ``contestant.with_first_schedule``.
    """

    time_limit: float | None = None
    evaluations: int | None = None
    threads: int | None = None
    seeds: tuple[int, ...] | None = None
    first_schedule: bool | None = None


def read_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds of a text: their number (from 0), or a list such as ``0-9,42``.

    Raises
    ------
    InputError
        No seeds, or too many.
    """
    text = text.strip()
    if re.fullmatch("[0-9]{1,7}", text):
        if not 0 < int(text) <= MAX_SEEDS:
            words = "too many" if int(text) else "none at all"
            raise InputError(f"{int(text)} seeds are {words}", hint=f"use 1 to {MAX_SEEDS}")
        return tuple(range(int(text)))
    try:
        seeds = parse_nodes(text)
    except InputError:
        seeds = ()
    if not 0 < len(seeds) <= MAX_SEEDS:
        raise InputError(
            f"{text[:40]!r} names no seeds",
            hint=f"write their number, or a list: 0-9,42; at most {MAX_SEEDS}",
        )
    return tuple(seeds)


def read_budget(record: Any) -> RunBudget:
    """Read the table ``[budget]`` of a suite.

    Raises
    ------
    InputError
        Invalid key or value; the error names the key.
    """
    if not isinstance(record, dict):
        raise InputError("no table", hint="write [budget]")
    only_keys(record, tuple(field.name for field in fields(RunBudget)), "a budget")
    limits: dict[str, Any] = {}
    for key, value in record.items():
        if key == "seeds":
            with with_context(key):
                limits[key] = read_seeds(str(value))
        elif key == "time_limit":
            limits[key] = read_seconds(value)
        elif key == "first_schedule":
            if not isinstance(value, bool):
                raise InputError(f"{value!r:.40} is neither", where=key, hint="write true or false")
            limits[key] = value
        else:
            limits[key] = read_count(value, key)
    return RunBudget(**limits)


def only_keys(record: Mapping[str, Any], keys: tuple[str, ...], what: str) -> None:
    """Raise an ``InputError`` for a key of a table that is none of these."""
    for key in record:
        if key not in keys:
            raise InputError(f"{what} has no {key!r}", hint=f"use {', '.join(keys)}")


def listed(value: Any) -> list[Any]:
    """Return the texts and numbers of a list, or of one value; an ``InputError`` for others."""
    values = value if isinstance(value, list) else [value]
    if not values:
        raise InputError("an empty list", hint="name at least one value, or leave it out")
    for item in values:
        if not isinstance(item, (str, int, float)):
            raise InputError(f"{item!r:.40} is no value", hint="write a text, a number, or a list")
    return values


def read_contestants(entries: Any) -> tuple[Contestant, ...]:
    """Read the tables ``[[contestants]]`` of a suite, each contestant once, without a budget.

    Whether engines, options and strategies exist is checked when the suite is run: a suite may name
    those of plugins that are not installed.

    Raises
    ------
    InputError
        Invalid entry; the error names it.
    """
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError("no list of tables", where="contestants", hint="write [[contestants]]")
    found: dict[str, Contestant] = {}
    for index, entry in enumerate(entries):
        with with_context(f"contestants[{index}]"):
            for contestant in _expand(entry):
                found.setdefault(contestant.key, contestant)
                if len(found) > MAX_CONTESTANTS:
                    raise InputError("too many contestants", hint=f"at most {MAX_CONTESTANTS}")
    return tuple(found.values())


def _expand(entry: Mapping[str, Any]) -> Iterator[Contestant]:
    only_keys(entry, CONTESTANT_KEYS, "a contestant")
    if "engine" in entry and "without" in entry:
        raise InputError("given beside engine", where="without", hint="leave one of them out")
    options = entry.get("options", {})
    if not isinstance(options, dict):
        raise InputError("no table", where="options", hint="write options = { NAME = VALUE }")
    named = {key: _values(entry[key], key) for key in ("engine", "without") if key in entry}
    teams = [Contestant(_team(text, "engine")) for text in named.get("engine", ())]
    teams += [Contestant(without=_team(text, "without")) for text in named.get("without", ())]
    teams = teams or [Contestant()]
    strategies = _values(entry.get("strategy", "auto"), "strategy")
    choices = {key: _values(value, f"options.{key}") for key, value in options.items()}
    sizes = (len(teams), len(strategies), *map(len, choices.values()))
    if math.prod(sizes) > MAX_CONTESTANTS:
        raise InputError("too many contestants", hint=f"at most {MAX_CONTESTANTS}")
    for team, strategy in itertools.product(teams, strategies):
        keys = [_option_key(name, team.engines, strategy.lower()) for name in choices]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            text = f"{'.'.join(twice)} is given twice"
            raise InputError(text, where="options", hint="put its values into one list")
        for chosen in itertools.product(*choices.values()):
            by_engine: dict[str, dict[str, str]] = {}
            for (engine, option), value in zip(keys, chosen, strict=True):
                by_engine.setdefault(engine, {})[option] = value
            yield replace(team, strategy=strategy.lower(), options=by_engine)


def _option_key(name: str, engines: tuple[str, ...] | None, strategy: str) -> tuple[str, str]:
    """Return the owner and the option of ``population``, or of ``umda.population`` in a team."""
    owner, dot, option = name.partition(".")
    if not dot and engines is not None and len(engines) == 1:
        return engines[0], name
    owner = owner.strip().lower()
    if not dot or (engines is not None and owner not in {*engines, strategy, "quotients"}):
        known = ("umda",) if engines is None else engines
        choices = " or ".join(f'"{each}.{option if dot else name[:40]}"' for each in known)
        raise InputError(
            f"of which engine is {name[:40]}?", where="options", hint=f"write {choices}"
        )
    return owner, option


def _team(text: str, where: str) -> tuple[str, ...]:
    if text == HOST_GREEDY and where == "engine":
        return ()
    names = sorted({name.strip().lower() for name in text.split("+")})
    if not all(re.fullmatch(r"[\w-]{1,80}", name) for name in names):
        raise InputError(f"{text[:40]!r} names no engine", where=where, hint="write its name")
    return tuple(names)


def _values(value: Any, where: str) -> list[str]:
    with with_context(where):
        values = listed(value)
    return [str(item).lower() if isinstance(item, bool) else str(item) for item in values]
