"""The interface of strategies: they get engines and the history of a run, and yield phases."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, get_args

from cchybrid.model.errors import PluginError
from cchybrid.model.text import error_line
from cchybrid.plugin.records import EngineInfo, load_target

ArmKey = tuple[str, str]
"""Name of the engine or the prover, and the view: ``instance``, ``quotients`` or ``proof``."""
PROVER = "prover"
"""Name of the worker that searches for a proof that the best schedule is optimal."""
View = Literal["instance", "quotients", "proof"]


@dataclass(frozen=True)
class Arm:
    """An arm of the portfolio: an engine, and what it works on.

    Parameters
    ----------
    engine
        The engine; with the view ``proof`` a placeholder with the name ``prover``.
    threads
        Threads that it may use.
    view
        ``instance``: the whole Problem. ``quotients``: quotients by groups of automorphisms, one
        after another. ``proof``: a proof that the best schedule is optimal.
    """

    engine: EngineInfo
    threads: int
    view: View = "instance"

    @property
    def key(self) -> ArmKey:
        """The key of the arm in the run history."""
        return self.engine.name, self.view


@dataclass(frozen=True)
class Phase:
    """Arms that run at the same time, for a limited time.

    Parameters
    ----------
    arms
        The arms. Without any, the phase waits until the kernels of one more engine are compiled.
    share
        Largest part of the remaining time that the phase may take, counted from when its engines
        have started.
    seconds
        Largest number of seconds that the phase may take; ``None``: the share is the limit. Until
        an engine has offered a schedule, neither ``seconds`` nor ``patience`` ends the phase: only
        its share of the time (twice the share if its engines are stopped afterwards).
    patience
        Seconds without a better schedule after which the phase ends; ``None``: no such limit.
    wait_for_all
        Whether the phase waits for all engines to start even if the best schedule meets the best
        bound earlier, so that the report of broken engines does not depend on the speed of others.
    pause
        Whether engines are paused at the end of the phase, to continue in a later one; otherwise
        they are stopped.
    """

    arms: tuple[Arm, ...]
    share: float = 1.0
    seconds: float | None = None
    patience: float | None = None
    wait_for_all: bool = False
    pause: bool = False


class History(Protocol):
    """The state of a run, which changes while its strategy waits for the next phase.

    Attributes
    ----------
    ordered
        Whether some delivery requires another, so that the order of the steps matters.
    hop_by_hop
        Whether switching is store-and-forward.
    deliveries
        The number of required deliveries.
    provable
        Whether the prover may take part.
    best, lower
        Steps of the engines' best schedule, ``None`` without one, and the best bound.
    gap
        Steps between the best schedule and the best bound, ``None`` without a schedule.
    gains
        The number of better schedules, bounds and near-solutions so far.
    asymmetric
        Whether no symmetry of the instance was found, so that no arm can work on quotients.
    compiling
        Engines whose kernels are being compiled; a phase with one of them waits for it.
    finished
        Keys of the arms that have nothing left to do; they are left out of a phase.
    """

    ordered: bool
    hop_by_hop: bool
    deliveries: int
    provable: bool
    best: int | None
    lower: int
    gains: int
    asymmetric: bool
    compiling: set[str]
    finished: set[ArmKey]

    @property
    def gap(self) -> int | None:
        """See the class."""

    def worked(self, arm: ArmKey) -> float:
        """Return the seconds of all time slices of an arm."""

    def score(self, arm: ArmKey, prior: float) -> float:
        """Return the gain per second to expect of an arm; ``prior``, before it has worked."""


class Strategy(NamedTuple):
    """The target of a ``StrategyInfo``: the phases of a strategy, and its options.

    Attributes
    ----------
    phases
        ``phases(engines, threads, history, options)`` yields phases; when one is over, it is asked
        for the next one.
    Options
        The class of the options, as that of an engine.
    """

    phases: Callable[[Sequence[EngineInfo], int, History, Any], Iterator[Phase]]
    Options: type


def planned(
    target: str, engines: Sequence[EngineInfo], threads: int, history: History, options: Any
) -> Iterator[Phase]:
    """Yield the phases of a strategy, which may be a plugin's.

    Raises
    ------
    PluginError
        It fails, or yields what is no phase of engines that take part.
    """
    try:
        for phase in load_target(target).phases(engines, threads, history, options):
            _check(phase, engines)
            yield phase
    except Exception as error:
        raise PluginError(error_line(error)) from error


def _check(phase: Any, engines: Sequence[EngineInfo]) -> None:
    """Raise a ``ValueError`` unless this is a phase of these engines and the prover."""
    if not isinstance(phase, Phase):
        raise ValueError(f"{phase!r:.60} is no Phase")
    for arm in phase.arms:
        if not (isinstance(arm, Arm) and arm.view in get_args(View)):
            raise ValueError(f"{arm!r:.60} is no Arm")
        if (arm.view == "proof") != (arm.engine.name == PROVER):
            raise ValueError(f"the view {arm.view} is not for {arm.engine.name}")
        if arm.view != "proof" and arm.engine not in engines:
            raise ValueError(f"engine {arm.engine.name} does not take part")
        if arm.threads < 1:
            raise ValueError(f"{arm.engine.name} has {arm.threads} threads")
