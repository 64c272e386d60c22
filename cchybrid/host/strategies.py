"""Strategies: which engines work when, on what, with how many threads.

A strategy cuts a run into phases. ``auto`` is a bandit over an algorithm portfolio: every arm is
probed, then the arms with the best score get the time slices (``run_history``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from cchybrid.host.run_history import PROVER, ArmKey, RunHistory
from cchybrid.model.errors import InputError
from cchybrid.plugin.engine import NoOptions
from cchybrid.plugin.records import EngineInfo

View = Literal["instance", "quotients", "proof"]


@dataclass(frozen=True)
class Arm:
    """One way to spend a time slice.

    Parameters
    ----------
    engine
        What works; with the view ``proof`` a placeholder of the name ``prover``.
    threads
        How many it may use.
    view
        What it works on: the whole Problem, or quotients by groups of automorphisms, one after
        the other.
    """

    engine: EngineInfo
    threads: int
    view: View = "instance"

    @property
    def key(self) -> ArmKey:
        """What the history knows it by."""
        return self.engine.name, self.view


@dataclass(frozen=True)
class Phase:
    """Engines that work at the same time.

    Parameters
    ----------
    arms
        What works; none: wait until kernels are compiled.
    share
        The part of the time left that the phase may take at most, from when its engines have
        started.
    seconds
        The same as a number of seconds; ``None``: the share decides.
    patience
        Seconds without a better schedule after which the phase ends; ``None``: never.
    wait_for_all
        Whether even an early verdict waits until every engine has started, so that a broken one
        is named every time.
    min_seconds
        With less time left the phase is not begun.
    pause
        Whether its engines are halted at its end and go on in a later phase.
    """

    arms: tuple[Arm, ...]
    share: float = 1.0
    seconds: float | None = None
    patience: float | None = None
    wait_for_all: bool = False
    min_seconds: float = 0.0
    pause: bool = False


def _check_positive(options: Any, *names: str) -> None:
    for name in names:
        if not getattr(options, name) > 0:
            raise ValueError(f"{name} is {getattr(options, name)}; use a number above 0")


@dataclass(frozen=True)
class AutoOptions:
    """Options of the strategy ``auto``.

    The defaults were chosen by repeated runs of the suites ``smoke`` and ``thesis`` with limits of
    20 and 60 seconds; ``tests/benchmarks/bench_strategies.py`` compares.

    Parameters
    ----------
    first_probe_seconds, probe_seconds
        Seconds without a better schedule after which a probe ends: of the first two arms, and of
        the others.
    slice_seconds, max_slice_seconds
        Length of the first time slice after the probes, and of the longest one.
    max_proof_gap
        Steps between schedule and bound with which the prover takes part.
    """

    first_probe_seconds: float = 2.5
    probe_seconds: float = 1.2
    slice_seconds: float = 3.0
    max_slice_seconds: float = 15.0
    max_proof_gap: int = 2

    def __post_init__(self) -> None:
        _check_positive(
            self, "first_probe_seconds", "probe_seconds", "slice_seconds", "max_slice_seconds"
        )


@dataclass(frozen=True)
class RelayOptions:
    """Options of the strategy ``relay``.

    Parameters
    ----------
    patience_seconds
        Seconds without a better schedule after which the heuristics hand over.
    heuristic_share
        Share of the time that they have at most.
    """

    patience_seconds: float = 6.0
    heuristic_share: float = 1 / 3

    def __post_init__(self) -> None:
        _check_positive(self, "patience_seconds", "heuristic_share")


CONSTRUCTION_SHARE = 1 / 6
"""Share of the time that constructions have at most; they take a second or two, if any."""
PROBE_SHARE = 1 / 4
"""Share of the time left that a probe takes at most, so that a short run sees several arms."""
SLICE_GROWTH = 1.25
"""Factor between time slices: the longer nothing helps, the less is lost by changing arms."""
STRONGEST_PRIOR, PRIOR, WEAK_PRIOR = 0.3, 0.1, 0.03
"""Gain per second to expect before any contribution: of the heuristic of the highest priority, of
other arms, of weaker engines on quotients. The order matters, not the numbers: a single step won
of a gap of ten outweighs the difference."""
NEAR_PROOF_PRIOR, PROOF_PRIOR = 0.6, 0.2
"""The same for the prover, with a gap of one step, and with a larger one."""


def ranked(engines: Sequence[EngineInfo]) -> list[EngineInfo]:
    """Return engines in the order in which they are tried: by priority, then by name."""
    return sorted(engines, key=lambda engine: (engine.baseline, -engine.priority, engine.name))


def race(
    engines: Sequence[EngineInfo], threads: int, history: RunHistory, options: NoOptions
) -> Iterator[Phase]:
    """Run all engines at once from the start; exact ones get the threads that are left over."""
    yield Phase(_arms(engines, threads), wait_for_all=True)


def quotients(
    engines: Sequence[EngineInfo], threads: int, history: RunHistory, options: NoOptions
) -> Iterator[Phase]:
    """Run all engines at once, on nothing but quotients by groups of automorphisms."""
    arms = _arms(engines, threads)
    yield Phase(tuple(Arm(a.engine, a.threads, "quotients") for a in arms), wait_for_all=True)


def relay(
    engines: Sequence[EngineInfo], threads: int, history: RunHistory, options: RelayOptions
) -> Iterator[Phase]:
    """Run heuristics first; then the exact engine, which starts from their results.

    Constructions go before all others. The heuristics hand over after a share of the time, or
    when they have found nothing better for a while. What they found closes the case without any
    exact engine where it meets the bound; otherwise it is the exact engine's first incumbent and
    hint. Where the exact engine gives up early, because the instance is too large for it, the
    heuristics go on. Of several exact engines the one of the highest priority is handed to; the
    others work beside the heuristics.
    """
    first, engines = _constructions(engines)
    if first and engines:
        yield Phase(_arms(first, threads), share=CONSTRUCTION_SHARE)
    engines = engines or first
    last = [engine for engine in ranked(engines) if engine.proves][:1]
    others = [engine for engine in engines if engine not in last]
    if not others or not last:
        yield Phase(_arms(engines, threads), wait_for_all=True)
        return
    yield Phase(
        _arms(others, threads), share=options.heuristic_share, patience=options.patience_seconds
    )
    yield Phase(_arms(last, threads))
    yield Phase(_arms(others, threads), min_seconds=2.0)


def auto(
    engines: Sequence[EngineInfo], threads: int, history: RunHistory, options: AutoOptions
) -> Iterator[Phase]:
    """Give time slices to two arms at a time: to those that closed most of the gap per second.

    Constructions first. Then every arm but the weakest is probed: engines on quotients of the
    Problem, engines on the Problem itself, and the prover where the gap is small. Engines with a
    priority above 0 are probed first, in the order of their priority; others (plugins that do not
    claim a priority) after them. Then the two arms with the best score get the next slice; the
    others are halted, not ended, so that nothing is lost. An engine alone just works. Engines
    whose kernels are being compiled are probed when they are; where the other probes are over
    before, a phase without arms waits for it.
    """
    first, slow = _constructions(engines)
    if not slow or len(engines) == 1:
        yield Phase(_arms(engines, threads), wait_for_all=True)
        return
    if first:
        yield Phase(_arms(first, threads), share=CONSTRUCTION_SHARE)
    arms, priors = _portfolio(slow, max(1, threads // 2), history.ordered)

    def prior(arm: Arm) -> float:
        if arm.view == "proof":
            return NEAR_PROOF_PRIOR if history.gap == 1 else PROOF_PRIOR
        return priors[arm]

    waiting = [arm for arm in arms if prior(arm) > WEAK_PRIOR]
    seconds = options.slice_seconds
    while True:
        able = [arm for arm in arms if _is_able(arm, history, options)]
        if not able and not history.compiling:
            return
        fresh = [arm for arm in waiting if arm in able][:2]
        if fresh:
            waiting = [arm for arm in waiting if arm not in fresh]
            strongest = arms[0] in fresh
            patience = options.first_probe_seconds if strongest else options.probe_seconds
            yield Phase(tuple(fresh), share=PROBE_SHARE, patience=patience, pause=True)
        elif history.compiling:
            yield Phase(())
        else:
            best = sorted(able, key=lambda arm: -history.score(arm.key, prior(arm)))[:2]
            yield Phase(tuple(best), seconds=seconds, pause=True)
            seconds = min(options.max_slice_seconds, seconds * SLICE_GROWTH)


def _constructions(engines: Sequence[EngineInfo]) -> tuple[list[EngineInfo], list[EngineInfo]]:
    """Return the constructions that go first, and all other engines.

    A construction without a priority has still to show that it ends in a moment.
    """
    first = [e for e in engines if e.kind == "construction" and e.priority > 0]
    return first, [engine for engine in engines if engine not in first]


def _portfolio(
    engines: Sequence[EngineInfo], threads: int, ordered: bool
) -> tuple[list[Arm], dict[Arm, float]]:
    """Return all arms of ``auto`` in the order of their probes, and their priors."""
    known = [e for e in engines if e.priority > 0] or list(engines)
    heuristics = [engine for engine in ranked(known) if not engine.proves]
    exact = [engine for engine in ranked(known) if engine.proves]
    strongest = [*heuristics[:1], *exact[:1]]
    weaker = [*heuristics[1:], *exact[1:]]
    prover = Arm(EngineInfo(PROVER, "", "", kind="exact"), threads, "proof")

    def whole(*chosen: EngineInfo) -> list[Arm]:
        return [Arm(engine, threads) for engine in chosen]

    def divided(*chosen: EngineInfo) -> list[Arm]:
        return [Arm(engine, threads, "quotients") for engine in chosen]

    if ordered:  # engines that decide by clauses are strong where steps have an order
        arms = [
            *whole(*heuristics[:2]),
            *divided(*strongest[:1]),
            *whole(*exact[:1]),
            prover,
            *whole(*heuristics[2:], *exact[1:]),
            *divided(*strongest[1:], *weaker),
        ]
    else:
        arms = [
            *divided(*strongest[:1]),
            *whole(*heuristics[:1], *exact[1:], *heuristics[1:], *exact[:1]),
            *divided(*strongest[1:]),
            prover,
            *divided(*weaker),
        ]
    others = [engine for engine in ranked(engines) if engine not in known]
    arms += [*whole(*others), *divided(*others)]
    priors = dict.fromkeys(arms, PRIOR)
    for arm in arms:
        if arm.engine in heuristics[:1]:
            priors[arm] = STRONGEST_PRIOR
        elif arm.view == "quotients" and arm.engine not in exact[:1]:
            priors[arm] = WEAK_PRIOR
    return arms, priors


def _is_able(arm: Arm, history: RunHistory, options: AutoOptions) -> bool:
    if arm.key in history.finished or arm.engine.name in history.compiling:
        return False
    if arm.view != "proof":
        return True
    gap = history.gap
    return history.provable and gap is not None and gap <= options.max_proof_gap


def one_by_one(engines: Sequence[EngineInfo], threads: int) -> Iterator[Phase]:
    """Run one engine after another: this makes a run with an evaluation budget repeatable."""
    order = ("construction", "heuristic", "exact")
    for engine in sorted(ranked(engines), key=lambda engine: order.index(engine.kind)):
        yield Phase((Arm(engine, threads),))


class Strategy(NamedTuple):
    """A strategy: what yields its phases, and its options."""

    phases: Callable[[Sequence[EngineInfo], int, RunHistory, Any], Iterator[Phase]]
    Options: type


STRATEGIES: Mapping[str, Strategy] = {
    "auto": Strategy(auto, AutoOptions),
    "race": Strategy(race, NoOptions),
    "relay": Strategy(relay, RelayOptions),
    "quotients": Strategy(quotients, NoOptions),
}
"""Strategies by name."""


def check_strategy(name: str, where: str) -> None:
    """Refuse a name that is no key of ``STRATEGIES``; ``where`` is where the user wrote it."""
    if name not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise InputError(f"no strategy is called {name}", where=where, hint=f"use {known}")


def _arms(engines: Sequence[EngineInfo], threads: int) -> tuple[Arm, ...]:
    """Share out the threads: one for each heuristic and the rest for the exact engines, if any."""
    exact = [engine for engine in engines if engine.proves]
    receivers = exact or engines
    spare = threads - (len(engines) - len(receivers))
    share = max(1, spare // max(1, len(receivers)))
    return tuple(Arm(engine, share if engine in receivers else 1) for engine in engines)
