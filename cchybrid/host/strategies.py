"""Who works when: a strategy cuts a run into phases and gives every engine its share of threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cchybrid.errors import InputError
from cchybrid.records import EngineInfo


@dataclass(frozen=True)
class Seat:
    """One engine's place in a phase."""

    engine: EngineInfo
    threads: int


@dataclass(frozen=True)
class Phase:
    """Engines that work at the same time.

    ``share`` is the part of the time left that the phase may take at most; the phase also ends
    when its engines have ended, or after ``patience`` seconds without a better schedule. With
    ``muster`` even an early verdict waits until every engine has started to work, so that a
    broken one is named every time. With fewer than ``least`` seconds left it is not begun.
    """

    seats: tuple[Seat, ...]
    share: float = 1.0
    patience: float | None = None
    muster: bool = False
    least: float = 0.0


PATIENCE = 6.0
"""Seconds without a better schedule after which a relay hands over."""

Strategy = Callable[[Sequence[EngineInfo], int], list[Phase]]


def race(engines: Sequence[EngineInfo], threads: int) -> list[Phase]:
    """All engines at once from the start; exact ones get the threads that are left over."""
    return [Phase(_seats(engines, threads), muster=True)]


def relay(engines: Sequence[EngineInfo], threads: int) -> list[Phase]:
    """Heuristics first; then the exact engine, which starts from their results and drafts.

    Engines that end by themselves in a moment go before all others. The heuristics hand over after
    a third of the time, or when they have found nothing better for a while. What they found closes
    the case without any exact engine where it meets the bound; otherwise it is the exact engine's
    first incumbent and hint. Where the exact engine gives up early, because the instance is too
    large for it, the heuristics go on. Of several exact engines the last one is handed to; the
    others work beside the heuristics.
    """
    quick = [engine for engine in engines if engine.quick]
    slow = [engine for engine in engines if not engine.quick]
    if quick and slow:
        return [Phase(_seats(quick, threads), share=1 / 6), *relay(slow, threads)]
    exact = [engine for engine in engines if engine.proves]
    first = [engine for engine in engines if engine not in exact[-1:]]
    if not first or not exact:
        return race(engines, threads)
    return [
        Phase(_seats(first, threads), share=1 / 3, patience=PATIENCE),
        Phase(_seats(exact[-1:], threads)),
        Phase(_seats(first, threads), least=2.0),
    ]


def one_by_one(engines: Sequence[EngineInfo], threads: int) -> list[Phase]:
    """One engine after another: what makes a run with an evaluation budget repeatable."""
    ordered = sorted(engines, key=lambda engine: engine.proves)
    return [Phase((Seat(engine, threads),)) for engine in ordered]


STRATEGIES: Mapping[str, Strategy] = {"auto": relay, "race": race, "relay": relay}
"""Strategies by name; ``auto`` is the one that served best so far."""


def check_strategy(name: str, where: str) -> None:
    """Refuse a name that is no key of ``STRATEGIES``; ``where`` says who wrote it."""
    if name not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise InputError(f"no strategy is called {name}", where=where, mend=f"use {known}")


def _seats(engines: Sequence[EngineInfo], threads: int) -> tuple[Seat, ...]:
    """Share out the threads: one for each heuristic and the rest for the exact engines, if any."""
    exact = [engine for engine in engines if engine.proves]
    takers = exact or engines
    spare = threads - (len(engines) - len(takers))
    share = max(1, spare // max(1, len(takers)))
    return tuple(Seat(engine, share if engine in takers else 1) for engine in engines)
