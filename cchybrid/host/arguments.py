"""Readers of what callers give: names, options, and the limits of a run."""

from collections.abc import Callable, Mapping, Set
from typing import TYPE_CHECKING, Any

from cchybrid.model.errors import InputError, with_context
from cchybrid.model.text import described
from cchybrid.model.whole_numbers import whole
from cchybrid.plugin.engine import Budget
from cchybrid.system.processes import processor_count

if TYPE_CHECKING:
    from cchybrid.plugin.registry import Registry

MAX_NUMBER = 1 << 40
"""Exclusive limit of seconds, steps, evaluations, threads and mebibytes."""


def read_text(value: Any, where: str) -> str:
    """Return a name."""
    if not isinstance(value, str):
        raise InputError(f"{described(value)} is no name", where=where, hint="give a text")
    return value


def read_flag(value: Any, where: str) -> bool:
    """Return whether a flag is set."""
    if type(value).__name__ not in ("bool", "bool_"):  # also NumPy's
        raise InputError(f"{described(value)} is no flag", where=where, hint="use True or False")
    return bool(value)


def read_count(value: Any, where: str) -> int | None:
    """Return a whole number above 0, or ``None``."""
    hint = "use a whole number above 0 and below 2^40"
    if value is None:
        return None
    try:
        number = whole(value, where)
    except InputError:
        raise InputError(f"{described(value)} makes no sense", where=where, hint=hint) from None
    if not 0 < number < MAX_NUMBER:
        raise InputError(f"{number} makes no sense", where=where, hint=hint)
    return number


def read_seconds(value: Any, *, required: bool = False) -> float | None:
    """Return a number of seconds above 0, or ``None`` where it is not required."""
    if value is None and not required:
        return None
    try:
        number = 0.0 if isinstance(value, (bool, str)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = 0.0
    if not 0 < number < MAX_NUMBER:
        raise InputError(
            f"{described(value)} makes no sense",
            where="time_limit",
            hint="use a number above 0 and below 2^40",
        )
    return number


def read_seed(value: Any) -> int:
    """Return a seed."""
    try:
        number = whole(value, "seed")
    except InputError:
        number = -1
    if number < 0:
        raise InputError(
            f"{described(value)} is no seed", where="seed", hint="use a whole number from 0"
        )
    return number


def read_names(names: Any, where: str, hint: str) -> list[str]:
    """Return a name or several as a list."""
    listed = [names] if isinstance(names, str) else names
    if not isinstance(listed, (list, tuple, Set)):
        raise InputError(f"{described(names)} makes no sense", where=where, hint=hint)
    return [read_text(name, where) for name in listed]


def read_left_out(names: Any, taking_part: Set[str], registry: "Registry") -> set[str]:
    """Return the present names of the engines that are left out of those that would take part."""
    with with_context("without"):
        left_out = {registry.engine(n).name for n in read_names(names, "", "give their names")}
        for name in sorted(left_out - taking_part):
            raise InputError(f"{name} does not take part anyway", hint="drop it")
        if left_out and left_out == taking_part:
            raise InputError("no engine is left", hint="leave fewer out")
    return left_out


def read_budget(
    time_limit: Any, evaluations: Any, threads: Any, memory: Any, default_seconds: float
) -> Budget:
    """Return the budget of a run.

    Without a time limit and evaluations, ``default_seconds`` are the limit. The threads are by
    default one per processor, or one with evaluations, so that the run is repeatable.
    """
    seconds = read_seconds(time_limit)
    evaluations, threads, memory = (
        read_count(number, where)
        for where, number in (
            ("evaluations", evaluations), ("threads", threads), ("memory", memory),
        )
    )  # fmt: skip
    if seconds is None and evaluations is None:
        seconds = default_seconds
    if threads is None:
        threads = 1 if evaluations is not None else processor_count()
    return Budget(seconds, evaluations, threads, memory)


def read_options(
    options: Any, owner_of: Callable[[str], str], taking_part: Set[str], hint: str
) -> dict[str, dict[str, str]]:
    """Return the texts of options by their owner.

    Parameters
    ----------
    owner_of
        Returns the owner of this name: an engine, a strategy or a designer.
    taking_part
        The owners whose options are used; those of any other are refused.
    """
    options = {} if options is None else options
    if not isinstance(options, Mapping):
        raise InputError(f"{described(options)} makes no sense", where="options", hint=hint)
    texts: dict[str, dict[str, str]] = {}
    for name, values in options.items():
        if not isinstance(name, str) or not isinstance(values, Mapping):
            owner, _, key = str(name)[:80].partition(".")
            hint = f"write {{{owner!r}: {{{key!r}: {described(values)}}}}}" if key else hint
            what = f"{described(name)} is {described(values)}, no dictionary"
            raise InputError(what, where="options", hint=hint)
        owner = owner_of(name)
        if owner not in taking_part:
            raise InputError(
                f"{owner} does not take part", where="options", hint="name it, or drop the option"
            )
        texts.setdefault(owner, {}).update((key, str(value)) for key, value in values.items())
    return texts
