"""Strategies: which engines run when, on what, with how many threads.

A strategy is a generator of phases, and the session runs one phase after another (``session``). A
phase is a set of arms that run at the same time; an arm is an engine on the whole Problem, an
engine on quotients (``quotient_search``), or the prover.

``auto`` is a bandit over an algorithm portfolio:

1. External engines, which other distributions register, are probed beside the constructions,
   ``MAX_EXTERNAL`` at a time, in the first tenth of the time; then the constructions run to their
   end, a second or two. All that follows holds for external engines, too, after those of cchybrid.
2. All arms are listed in the order of their probes, each with a prior: the gain per second to
   expect before it has contributed anything.
3. Probes, two arms at a time (first three where messages are forwarded, as one of these usually
   declines; where an arm decides gaps, and the gap is one or two steps, that one and at most one
   per thread): every arm with a prior above ``WEAK_PRIOR`` gets a short time slice, which ends
   after a second or two without a better schedule.
4. Then the two arms with the best score get the next time slice, and so on. The score is
   (prior + gain) / (1 + seconds), where the gain is the sum of the shares of the gap between
   schedule and bound that the arm has closed, halved after each of its slices (``run_history``).
   Slices grow by a quarter each, up to a maximum. Probes and slices are longer in proportion for
   instances of more than ``LARGE_DELIVERIES`` deliveries, as every move of an engine takes longer.
5. An arm leaves when it has nothing left to do. The prover takes part only while the gap is small.

Arms that are not in the current phase are paused, and continue where they were; if all workers hold
too much memory, paused ones are ended, and start anew in their next phase. Until an engine has
offered a schedule, neither its seconds nor its patience ends a phase: only its share of the time.

``race`` runs all engines at once, ``relay`` the exact engine and heuristics in turn,
``quotients`` all engines on quotients only. With an evaluation budget, ``one_by_one`` takes their
place.

References
----------
C. P. Gomes and B. Selman, Algorithm portfolios, Artificial Intelligence 126 (2001) 43-62,
https://doi.org/10.1016/S0004-3702(00)00081-3.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from cchybrid.plugin.engine import NoOptions
from cchybrid.plugin.records import EngineInfo
from cchybrid.plugin.strategy import PROVER, Arm, History, Phase, Strategy

AUTO_SECONDS = ("first_probe_seconds", "probe_seconds", "slice_seconds", "max_slice_seconds")
"""The options of ``auto`` that are longer for large instances."""


@dataclass(frozen=True)
class AutoOptions:
    """Options of the strategy ``auto``.

    The defaults were chosen by repeated runs of the suites ``smoke`` and ``thesis`` with limits of
    20 and 60 seconds; ``cchybrid bench run smoke --strategy auto --strategy race`` compares.

    Parameters
    ----------
    first_probe_seconds, probe_seconds
        Seconds without a better schedule after which a probe ends: of the first two arms, and of
        the others.
    slice_seconds, max_slice_seconds
        Length of the first time slice after the probes, and of the longest one.

        All these seconds hold up to ``LARGE_DELIVERIES``, and are longer in proportion above.
    max_proof_gap
        Largest gap, in steps between schedule and bound, at which the prover takes part.
    """

    first_probe_seconds: float = 2.5
    probe_seconds: float = 1.2
    slice_seconds: float = 3.0
    max_slice_seconds: float = 15.0
    max_proof_gap: int = 2

    def __post_init__(self) -> None:
        _check_positive(self, *AUTO_SECONDS)

    def scaled(self, deliveries: int) -> "AutoOptions":
        """Return the options with longer seconds if there are more than ``LARGE_DELIVERIES``."""
        scale = max(1.0, deliveries / LARGE_DELIVERIES)
        return replace(self, **{name: scale * getattr(self, name) for name in AUTO_SECONDS})


@dataclass(frozen=True)
class RelayOptions:
    """Options of the strategy ``relay``.

    Parameters
    ----------
    slice_seconds
        Length of the shortest time slices; the first one of the exact engine is twice as long.
    growth
        Factor on the length of a side's slices after one that gained something; after one that did
        not, it is halved.
    """

    slice_seconds: float = 2.0
    growth: float = 1.25

    def __post_init__(self) -> None:
        _check_positive(self, "slice_seconds", "growth")
        if self.growth < 1:
            raise ValueError(f"growth is {self.growth}; use a number of at least 1")


def _check_positive(options: Any, *names: str) -> None:
    for name in names:
        if not 0 < getattr(options, name) < inf:
            raise ValueError(f"{name} is {getattr(options, name)}; use a number above 0")


LARGE_DELIVERIES = 20_000
"""Required deliveries up to which the seconds of ``AutoOptions`` hold. Above, all four are longer
in proportion, as starting and every move of an engine take longer."""
MANY_DELIVERIES, SPECIAL_SHARE = 100_000, 9 / 10
"""Required deliveries above which engines for direct messages only get a share of the remaining
time before any probe: they need half a minute and more, and others never contributed there."""
MAX_CONSTRUCTION_SHARE = 1 / 3
"""Largest share of the time for constructions."""
EXTERNAL_SHARE, MAX_EXTERNAL = 1 / 10, 4
"""Share of the time in which all external engines are probed, and the number probed at a time (at
least one per thread). It is above two, as engines that start one after another take half a second
each, which does not count in the share."""
MAX_PROBE_SHARE = 1 / 4
"""Largest share of the remaining time for a probe, so that a short run probes several arms."""
FIRST_SHARE = 1 / 3
"""Largest share of the remaining time for a slice of ``relay`` until there is a schedule."""
SLICE_GROWTH = 1.25
"""Factor between the lengths of successive time slices."""
STRONGEST_PRIOR, PRIOR, WEAK_PRIOR = 0.3, 0.1, 0.03
"""Priors: of the heuristic of the highest priority, and of heuristics for direct messages only; of
other arms; of weaker engines on quotients, which are not probed. Only their order matters at first:
closing one step of a gap of three outweighs the differences."""
NEAR_PROOF_PRIOR, PROOF_PRIOR = 0.6, 0.2
"""Priors of the prover where messages are forwarded: with a gap of one step, and with a larger gap.
In scatters it has ``PRIOR``: it closed none of the thesis', as their bounds are nearly always
reached."""
NEAR_EXACT_PRIOR = 0.5
"""Prior of the first exact engine where messages are forwarded and the gap is one or two steps: it
repairs schedules of other engines."""
NEAR_DECISION_PRIOR = 1.0
"""Prior of heuristics that decide numbers of steps, in the same case: a decision takes longer than
a probe, so they get a time slice after every probe, and one of the first afterwards."""


def auto(
    engines: Sequence[EngineInfo], threads: int, history: History, options: AutoOptions
) -> Iterator[Phase]:
    """Probe the arms, then give time slices to the two arms with the best score; see the module.

    A single engine runs without slices. An engine whose kernels are being compiled is probed when
    they are ready. If all other probes are over before, a phase without arms waits for that, but
    for external engines only if no other arm can work.
    """
    options = options.scaled(history.deliveries)
    messages = {"any", "forwarded" if history.ordered else "direct"}
    if history.ordered and history.hop_by_hop:
        messages.add("hop by hop")
    engines = [each for each in engines if each.messages in messages] or engines
    constructions, others = _constructions(engines)
    if not others or len(engines) == 1:
        yield Phase(_arms(engines, threads), wait_for_all=True)
        return
    first = _arms(constructions, threads) if constructions else ()
    arms, priors = _portfolio(others, max(1, threads // 2), history.ordered)
    external = [
        arm
        for arm in arms
        if arm.engine.external and arm.view == "instance" and _is_active(arm, history, options)
    ]
    size = max(MAX_EXTERNAL, threads)
    starts = range(0, len(external), size)
    for start in starts:
        group = (*([] if start else first), *external[start : start + size])
        share = EXTERNAL_SHARE / len(starts)
        yield Phase(group, share=share, patience=options.probe_seconds, pause=True)
    if first:
        yield Phase(first, share=MAX_CONSTRUCTION_SHARE)
    special = [arm for arm in arms if arm.view == "instance" and arm.engine.messages == "direct"]
    special = [arm for arm in special if _is_active(arm, history, options)]
    if special and history.deliveries > MANY_DELIVERIES:
        yield Phase(tuple(special), share=SPECIAL_SHARE, pause=True)

    def prior(arm: Arm) -> float:
        if arm.view == "proof" and history.ordered:
            return NEAR_PROOF_PRIOR if history.gap == 1 else PROOF_PRIOR
        if history.ordered and history.gap in (1, 2):
            if arm.engine.decides and arm.view == "instance":
                return NEAR_DECISION_PRIOR
            if arm == exact:
                return NEAR_EXACT_PRIOR
        return priors[arm]

    own = [arm for arm in arms if arm.view == "instance" and not arm.engine.external]
    exact = next((arm for arm in own if arm.engine.proves), None)
    awaited = {engine.name for engine in others if not engine.external}
    to_probe = [arm for arm in arms if arm not in external and prior(arm) > WEAK_PRIOR]
    seconds = options.slice_seconds
    decider = next((a for a in arms if a.engine.decides and a.view == "instance"), None)
    has_had_slice = False
    while True:
        active = [arm for arm in arms if _is_active(arm, history, options)]
        if not active and not history.compiling:
            return
        probed = [arm for arm in to_probe if arm in active]
        begun = arms[0] not in to_probe
        if (
            begun
            and not has_had_slice
            and decider in active
            and decider not in to_probe
            and prior(decider) == NEAR_DECISION_PRIOR
        ):
            yield Phase((decider,), seconds=options.slice_seconds, pause=True)
            has_had_slice = True
        elif probed:
            has_had_slice = False
            is_first = probed[0] == arms[0]
            together = 2
            if is_first and decider in probed and prior(decider) == NEAR_DECISION_PRIOR:
                probed.sort(key=lambda arm: arm != decider)
                together = min(together, threads)
            elif is_first and history.ordered and all(_is_search(arm) for arm in probed[:3]):
                together = 3
            probed = probed[:together]
            to_probe = [arm for arm in to_probe if arm not in probed]
            patience = options.first_probe_seconds if is_first else options.probe_seconds
            yield Phase(tuple(probed), share=MAX_PROBE_SHARE, patience=patience, pause=True)
        elif not active or awaited & history.compiling:
            yield Phase(())
        else:
            best = sorted(active, key=lambda arm: -history.score(arm.key, prior(arm)))[:2]
            yield Phase(tuple(best), seconds=seconds, pause=True)
            seconds = min(options.max_slice_seconds, seconds * SLICE_GROWTH)


def _constructions(engines: Sequence[EngineInfo]) -> tuple[list[EngineInfo], list[EngineInfo]]:
    """Return the constructions of cchybrid, and all other engines.

    An external construction may take long, so it counts as any other engine.
    """
    first = [e for e in engines if e.kind == "construction" and not e.external]
    return first, [engine for engine in engines if engine not in first]


def _portfolio(
    engines: Sequence[EngineInfo], threads: int, ordered: bool
) -> tuple[list[Arm], dict[Arm, float]]:
    """Return all arms of ``auto`` in the order of their probes, and their priors.

    Engines of cchybrid come first, in the order of their priority, then external ones in theirs.

    Parameters
    ----------
    threads
        Threads of each arm.
    ordered
        Whether some delivery requires another, so that the order of the steps matters: then exact
        engines and the prover are probed earlier.
    """
    own = [engine for engine in engines if not engine.external] or list(engines)
    heuristics = [engine for engine in ranked(own) if not engine.proves]
    exact = [engine for engine in ranked(own) if engine.proves]
    # Heuristics only for messages that are not forwarded are probed first, and not on quotients.
    special = [engine for engine in heuristics if engine.messages == "direct"]
    heuristics = [engine for engine in heuristics if engine not in special]
    strongest = [*heuristics[:1], *exact[:1]]
    weaker = [*heuristics[1:], *exact[1:]]
    prover = Arm(EngineInfo(PROVER, "", "", kind="exact"), threads, "proof")

    def on_instance(*chosen: EngineInfo) -> list[Arm]:
        return [Arm(engine, threads) for engine in chosen]

    def on_quotients(*chosen: EngineInfo) -> list[Arm]:
        return [Arm(engine, threads, "quotients") for engine in chosen]

    if ordered:
        arms = [
            *on_instance(*heuristics[:3]),
            *on_quotients(*strongest[:1]),
            *on_instance(*exact[:1]),
            prover,
            *on_instance(*heuristics[3:], *exact[1:]),
            *on_quotients(*strongest[1:], *weaker),
        ]
    else:
        arms = [
            *on_quotients(*strongest[:1]),
            *on_instance(*special, *heuristics[:1], *exact[1:], *heuristics[1:], *exact[:1]),
            *on_quotients(*strongest[1:]),
            prover,
            *on_quotients(*weaker),
        ]
    others = [engine for engine in ranked(engines) if engine not in own]
    arms += [*on_instance(*others), *on_quotients(*others)]
    priors = dict.fromkeys(arms, PRIOR)
    for arm in arms:
        if arm.engine in (*special, *heuristics[:1]):
            priors[arm] = STRONGEST_PRIOR
        elif arm.view == "quotients" and arm.engine not in exact[:1]:
            priors[arm] = WEAK_PRIOR
    return arms, priors


def _is_search(arm: Arm) -> bool:
    """Return whether an arm is a heuristic on the whole Problem."""
    return arm.view == "instance" and not arm.engine.proves


def _is_active(arm: Arm, history: History, options: AutoOptions) -> bool:
    """Return whether an arm has something left to do and can start now."""
    if arm.key in history.finished or arm.engine.name in history.compiling:
        return False
    if arm.view == "quotients" and history.asymmetric:
        return False
    if arm.view != "proof":
        return True
    gap = history.gap
    return history.provable and gap is not None and gap <= options.max_proof_gap


def relay(
    engines: Sequence[EngineInfo], threads: int, history: History, options: RelayOptions
) -> Iterator[Phase]:
    """Run constructions, then the exact engine of the highest priority and heuristics in turn.

    Each side starts from the other's best schedule and near-solutions. Its slices grow while it
    gains (a better schedule, bound or near-solution), and are halved when it does not. Other exact
    engines run with the heuristics.
    """
    constructions, others = _constructions(engines)
    if constructions and others:
        yield Phase(_arms(constructions, threads), share=MAX_CONSTRUCTION_SHARE)
    others = others or constructions
    exact = [engine for engine in ranked(others) if engine.proves][:1]
    heuristics = [engine for engine in others if engine not in exact]
    if not heuristics or not exact:
        yield Phase(_arms(others, threads), wait_for_all=True)
        return
    sides = [_arms(exact, threads), _arms(heuristics, threads)]
    # The exact engine decides whole models in seconds, if at all.
    seconds = {sides[0]: 2 * options.slice_seconds, sides[1]: options.slice_seconds}
    while sides:
        for side in tuple(sides):
            active = tuple(arm for arm in side if arm.key not in history.finished)
            if not active:
                sides.remove(side)
                continue
            before = history.gains
            yield Phase(active, share=FIRST_SHARE, seconds=seconds[side], pause=True)
            if history.gains > before:
                seconds[side] *= options.growth
            else:
                seconds[side] = max(options.slice_seconds, seconds[side] / 2)


def race(
    engines: Sequence[EngineInfo], threads: int, history: History, options: NoOptions
) -> Iterator[Phase]:
    """Run all engines at once; heuristics get a thread each, exact engines the others."""
    yield Phase(_arms(engines, threads), wait_for_all=True)


def quotients(
    engines: Sequence[EngineInfo], threads: int, history: History, options: NoOptions
) -> Iterator[Phase]:
    """Run all engines at once, on quotients by groups of automorphisms only."""
    arms = _arms(engines, threads)
    yield Phase(tuple(Arm(a.engine, a.threads, "quotients") for a in arms), wait_for_all=True)


def one_by_one(engines: Sequence[EngineInfo], threads: int) -> Iterator[Phase]:
    """Run one engine after another, so that a run with an evaluation budget is repeatable."""
    order = ("construction", "heuristic", "exact")
    for engine in sorted(ranked(engines), key=lambda engine: order.index(engine.kind)):
        yield Phase((Arm(engine, threads),))


def ranked(engines: Iterable[EngineInfo]) -> list[EngineInfo]:
    """Return engines in the order in which they are tried: by priority, then by name.

    External engines are tried after those of cchybrid, whatever their priority.
    """
    return sorted(engines, key=lambda e: (e.baseline, e.external, -e.priority, e.name))


def _arms(engines: Sequence[EngineInfo], threads: int) -> tuple[Arm, ...]:
    """Return the engines as arms: one thread for each heuristic, the others for exact engines.

    Without exact engines, the heuristics share all threads.
    """
    exact = [engine for engine in engines if engine.proves]
    scaled = exact or engines
    spare = threads - (len(engines) - len(scaled))
    share = max(1, spare // max(1, len(scaled)))
    return tuple(Arm(engine, share if engine in scaled else 1) for engine in engines)


AUTO = Strategy(auto, AutoOptions)
RACE = Strategy(race, NoOptions)
RELAY = Strategy(relay, RelayOptions)
QUOTIENTS = Strategy(quotients, NoOptions)
