"""Who works when: a strategy cuts a run into phases and gives every engine its share of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from cchybrid.host.course import Course
from cchybrid.model.errors import InputError
from cchybrid.plugin.records import EngineInfo

View = Literal["instance", "quotients", "proof"]

PROVER = "prover"
"""The worker that looks for a proof that the best schedule is the best there is."""


@dataclass(frozen=True)
class Seat:
    """One engine's place in a phase.

    Parameters
    ----------
    view
        What it works on: the whole Problem, or quotients by groups of automorphisms, one after
        the other. ``proof`` is the seat of the prover, which is no engine.
    """

    engine: EngineInfo
    threads: int
    view: View = "instance"

    @property
    def name(self) -> str:
        """The name of its worker."""
        return f"{self.engine.name} on quotients" if self.view == "quotients" else self.engine.name


@dataclass(frozen=True)
class Phase:
    """Engines that work at the same time.

    ``share`` is the part of the time left that the phase may take at most; the phase also ends
    when its engines have ended, or after ``patience`` seconds without a better schedule. With
    ``muster`` even an early verdict waits until every engine has started to work, so that a
    broken one is named every time. With fewer than ``least`` seconds left it is not begun. With
    ``pause`` its engines are halted at its end, and go on when they have a seat again.
    """

    seats: tuple[Seat, ...]
    share: float = 1.0
    patience: float | None = None
    muster: bool = False
    least: float = 0.0
    pause: bool = False


PATIENCE = 6.0
"""Seconds without a better schedule after which a relay hands over."""
FIRST_GLANCE, GLANCE = 2.5, 1.2
"""The same for the first turn of each worker of ``auto``: the strongest two, and the others."""
TURN, LONGEST_TURN = 3.0, 15.0
"""Seconds of a later turn of ``auto``: in the beginning, and at most."""
WEAK = 0.03
"""What a way promises that gets no glance: its turn comes when others have had theirs in vain."""
PROVABLE = 2
"""Steps between schedule and bound with which the prover takes part."""

Strategy = Callable[[Sequence[EngineInfo], int, Course], Iterator[Phase]]


def race(engines: Sequence[EngineInfo], threads: int, course: Course) -> Iterator[Phase]:
    """All engines at once from the start; exact ones get the threads that are left over."""
    yield Phase(_seats(engines, threads), muster=True)


def quotients(engines: Sequence[EngineInfo], threads: int, course: Course) -> Iterator[Phase]:
    """All engines at once, on nothing but quotients by groups of automorphisms."""
    seats = _seats(engines, threads)
    yield Phase(tuple(Seat(seat.engine, seat.threads, "quotients") for seat in seats), muster=True)


def relay(engines: Sequence[EngineInfo], threads: int, course: Course) -> Iterator[Phase]:
    """Heuristics first; then the exact engine, which starts from their results and drafts.

    Engines that end by themselves in a moment go before all others. The heuristics hand over after
    a third of the time, or when they have found nothing better for a while. What they found closes
    the case without any exact engine where it meets the bound; otherwise it is the exact engine's
    first incumbent and hint. Where the exact engine gives up early, because the instance is too
    large for it, the heuristics go on. Of several exact engines the last one is handed to; the
    others work beside the heuristics.
    """
    quick = [engine for engine in engines if engine.kind == "construction"]
    slow = [engine for engine in engines if engine.kind != "construction"]
    if quick and slow:
        yield Phase(_seats(quick, threads), share=1 / 6)
        engines = slow
    exact = [engine for engine in engines if engine.proves]
    first = [engine for engine in engines if engine not in exact[-1:]]
    if not first or not exact:
        yield from race(engines, threads, course)
        return
    yield Phase(_seats(first, threads), share=1 / 3, patience=PATIENCE)
    yield Phase(_seats(exact[-1:], threads))
    yield Phase(_seats(first, threads), least=2.0)


def auto(engines: Sequence[EngineInfo], threads: int, course: Course) -> Iterator[Phase]:
    """Everything in turns, two workers at a time; who has paid off has the next turn.

    First what ends in a moment. Then a glance at the ways to go on: the strongest engines on
    quotients of the Problem, all on the Problem itself, the strongest first (engines are
    registered with the strongest of their kind last), and the prover where few steps are open.
    The weaker ones on quotients come when nothing else has helped for long. After that the two
    that promise most by what they brought so far per second; workers are halted in between, not
    ended, so that nothing they know is lost. An engine alone just works.
    """
    quick = [engine for engine in engines if engine.kind == "construction"]
    slow = [engine for engine in engines if engine.kind != "construction"]
    if not slow or len(engines) == 1:
        yield from race(engines, threads, course)
        return
    if quick:
        yield Phase(_seats(quick, threads), share=1 / 6)
    share = max(1, threads // 2)
    ways = _ways(slow, share, course.ordered)
    waiting = [way for way in ways if _prior(way, slow, course) > WEAK]
    turn = TURN
    while True:
        able = [way for way in ways if _is_able(way, course)]
        if not able:
            return
        fresh = [way for way in waiting if way in able][:2]
        if fresh:
            waiting = [way for way in waiting if way not in fresh]
            patience = FIRST_GLANCE if ways[0] in fresh else GLANCE
            yield Phase(tuple(fresh), share=1 / 4, patience=patience, pause=True)
        else:
            best = sorted(able, key=lambda way: -course.worth(way.name, _prior(way, slow, course)))[
                :2
            ]
            left = max(course.left or 0.0, 1e-3)
            yield Phase(tuple(best), share=min(1.0, turn / left), pause=True)
            turn = min(LONGEST_TURN, turn * 1.25)


def _prior(way: Seat, engines: Sequence[EngineInfo], course: Course) -> float:
    """Return what a worker promises that has not brought anything yet, as a share of the gap."""
    strongest, exact = _by_strength(engines)
    if way.view == "proof":
        return 0.6 if course.gap == 1 else 0.2
    if way.engine in strongest[:1]:
        return 0.3
    return WEAK if way.view == "quotients" and way.engine not in exact[:1] else 0.1


def _by_strength(engines: Sequence[EngineInfo]) -> tuple[list[EngineInfo], list[EngineInfo]]:
    """Return the heuristics and the exact engines, the strongest first."""
    ranked = sorted(engines, key=lambda engine: (engine.baseline, -engine.priority, engine.name))
    heuristics = [engine for engine in ranked if not engine.proves]
    return heuristics, [engine for engine in ranked if engine.proves]


def _is_able(way: Seat, course: Course) -> bool:
    if way.name in course.spent:
        return False
    if way.view != "proof":
        return True
    return course.provable and course.gap is not None and course.gap <= PROVABLE


def _ways(engines: Sequence[EngineInfo], threads: int, ordered: bool) -> list[Seat]:
    """Return everything that ``auto`` can do, in the order of the first turns."""
    heuristics, exact = _by_strength(engines)
    strongest = [*heuristics[:1], *exact[:1]]
    weaker = [*heuristics[1:], *exact[1:]]
    prover = Seat(EngineInfo(PROVER, "", "", kind="exact"), threads, "proof")

    def whole(*those: EngineInfo) -> list[Seat]:
        return [Seat(engine, threads) for engine in those]

    divided = [Seat(engine, threads, "quotients") for engine in (*strongest, *weaker)]
    if ordered:  # what decides by clauses is strong where steps have an order
        decides = [*divided[:1], *whole(*exact[:1]), prover]
        return [
            *whole(*heuristics[:2]),
            *decides,
            *whole(*heuristics[2:], *exact[1:]),
            *divided[1:],
        ]
    searches = whole(*heuristics[:1], *exact[1:], *heuristics[1:], *exact[:1])
    return [*divided[:1], *searches, *divided[1:2], prover, *divided[2:]]


def one_by_one(engines: Sequence[EngineInfo], threads: int, course: Course) -> Iterator[Phase]:
    """One engine after another: what makes a run with an evaluation budget repeatable."""
    for engine in sorted(engines, key=lambda engine: engine.proves):
        yield Phase((Seat(engine, threads),))


STRATEGIES: Mapping[str, Strategy] = {
    "auto": auto,
    "race": race,
    "relay": relay,
    "quotients": quotients,
}
"""Strategies by name."""


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
