"""The interface for engine authors: ``Engine`` to implement, ``Run`` to call.

An engine offers assignments and reports bounds. The host keeps the time, verifies every offer and
derives the status of the result.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, ClassVar, Generic, Protocol, TypeVar, get_type_hints

import numpy as np

from cchybrid.library.nearest import did_you_mean
from cchybrid.model.errors import InputError
from cchybrid.plugin.records import API, EngineInfo
from cchybrid.problem import Assignment, Problem

MAX_OPTION = 1 << 53
"""Largest absolute value of an option that is a number."""

Chosen = TypeVar("Chosen")
"""The class of the options of an engine."""

__all__ = [
    "API", "Budget", "Engine", "EngineBase", "EngineInfo", "NoOptions", "Run", "RunBase", "Stop",
    "cut_to", "is_complete", "read_options",
]  # fmt: skip


class Stop(StrEnum):
    """The reason for which an engine returned."""

    EXHAUSTED = "exhausted"
    """Nothing is left to do: the search space is searched, or best meets bound."""
    LIMIT = "limit"
    """The budget is spent, or the host asked to stop."""
    STALLED = "stalled"
    """The engine gave up; more time would not help."""


@dataclasses.dataclass(frozen=True)
class Budget:
    """The budget of an engine.

    Parameters
    ----------
    seconds
        Wall-clock seconds, or ``None``. The host enforces this limit.
    evaluations
        Candidate evaluations as counted by ``Run.spend``, or ``None``. With this budget, one
        thread and a seed, a run is repeatable.
    threads
        Threads that the engine may use at the same time.
    memory
        Mebibytes of address space that the worker may use, or ``None``.
    """

    seconds: float | None = None
    evaluations: int | None = None
    threads: int = 1
    memory: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the limits that are set, by name."""
        return {key: limit for key, limit in vars(self).items() if limit is not None}


@dataclasses.dataclass(frozen=True)
class NoOptions:
    """The options of an engine that has none."""


class Run(Protocol):
    """The connection of an engine to the host. All methods may be called from any thread.

    Attributes
    ----------
    seed
        The seed of all random choices.
    budget
        The budget.
    target
        The user's number of steps: a schedule of at most this many ends the run. ``None``: find the
        fewest steps.
    """

    seed: int
    budget: Budget
    target: int | None

    def targets(self) -> Iterator[int]:
        """Yield the numbers of steps to try next, each at most once.

        With a ``target``, only the target. Otherwise, while there is no schedule, numbers upwards
        from the lower bound; afterwards one less than the best, unless that is below the lower
        bound. Results of other engines are taken into account. Ends when no number is left or the
        run is over.
        """

    def wants(self, steps: int) -> bool:
        """Return whether a schedule of this number of steps is still of use."""

    def offer(self, assignment: Assignment, problem: Problem | None = None) -> None:
        """Submit a full assignment; the host lifts and verifies it.

        Parameters
        ----------
        problem
            The Problem of the assignment, if it is the run's Problem with other options
            (``cchybrid.problem.extend``, ``list_hops`` or ``list_transfers``).
        """

    def suggest(self, assignment: Assignment) -> None:
        """Submit a near-solution that still has conflicts, as a start for other engines."""

    def bound(
        self, steps: int, evidence: Mapping[str, Any] | None = None, *, instance: bool = False
    ) -> None:
        """Report that no schedule has fewer steps ("none in S steps" is ``bound(S + 1)``).

        Without evidence, which only engines of kind ``exact`` may leave out, the bound is a claim.
        It counts only if the Problem is complete or ``instance`` is true.

        Parameters
        ----------
        evidence
            Evidence that the checker can check.
        instance
            Whether the bound holds for the instance, not only for the listed options.
        """

    def best(self) -> int | None:
        """Return the steps of the best schedule of any engine, or ``None``."""

    def lower(self) -> int:
        """Return the best lower bound of any engine or provider."""

    def hint(self, steps: int, *, complete: bool = False) -> Assignment | None:
        """Return the best near-solution of this number of steps, else the best schedule cut to it.

        Deliveries that are not made have option and step -1; with ``complete``, only what makes
        every required delivery is returned. Schedules of at most ``steps`` steps that are offered
        afterwards are recorded as seeded by the engine whose work was returned by the last call.
        """

    def migrant(self, steps: int) -> Assignment | None:
        """Return the best near-solution of this number of steps that was not returned before.

        A search calls it now and then, to take part in what other engines have found meanwhile. It
        costs nothing where there is none.
        """

    def started_from(self, given: Assignment) -> None:
        """Record that what is offered next comes from this one of several hints and migrants.

        Otherwise schedules are recorded as seeded by the engine of the last one that was returned.
        """

    def progress(self, steps: int, conflicts: int) -> None:
        """Report the fewest conflicts left so far in the search for this number of steps.

        Quotients are ranked by it, and studies compare engines by it. It may be called often: it
        is throttled to a few reports per second.
        """

    def note(self, **metrics: float) -> None:
        """Report other figures of the search, for the log and the live view; throttled."""

    def spend(self, evaluations: int) -> None:
        """Count candidate evaluations against the budget."""

    def should_stop(self) -> bool:
        """Return whether the engine should return now; call it at least a few times per second."""


class Engine(Protocol):
    """An optimizer, constructed with its options in its own worker process.

    An engine may also have a method ``prepare()``, which is called once before ``solve``, for
    work that takes long and is no search, such as compilation; it does not count as search time.

    Attributes
    ----------
    Options
        A frozen dataclass whose fields have defaults and are of type int, float, bool or str; it
        raises ``ValueError`` from ``__post_init__`` for values out of range. Users set its fields
        with ``--option ENGINE.FIELD=VALUE``. A class method ``defaults_beside`` is optional: it
        takes the named values by field, and returns defaults that hold beside them.
    """

    Options: ClassVar[type]

    def __init__(self, options: Any) -> None:
        """Construct the engine with an ``Options`` object."""

    def unsupported(self, problem: Problem) -> str | None:
        """Return why the engine cannot work on this problem, or ``None`` if it can."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Search until ``run.should_stop()`` or until nothing is left to do; return the reason."""


class EngineBase(Generic[Chosen]):
    """Base class of engines and designers: keeps the options, and refuses nothing.

    Attributes
    ----------
    options
        The ``Options`` object.
    """

    def __init__(self, options: Chosen) -> None:
        self.options = options

    def unsupported(self, problem: Any) -> str | None:
        """Return ``None``, as for an engine that works on every problem."""
        return None


class RunBase(Run):
    """Base class of runs: derives ``targets`` and ``wants`` from the other methods."""

    def migrant(self, steps: int) -> Assignment | None:
        """See ``Run.migrant``; ``None`` where no other engine works."""
        return None

    def started_from(self, given: Assignment) -> None:
        """See ``Run.started_from``; without effect where seeds are not recorded."""
        return

    def targets(self) -> Iterator[int]:
        """See ``Run.targets``."""
        tried: set[int] = set()
        while not self.should_stop():
            best, lower = self.best(), self.lower()
            if self.target is not None:
                target = self.target
            elif best is not None:
                target = best - 1
            else:
                target = lower
                while target in tried:
                    target += 1
            if target < lower or target in tried or (best is not None and best <= target):
                return
            tried.add(target)
            yield target

    def wants(self, steps: int) -> bool:
        """See ``Run.wants``."""
        best = self.best()
        if self.should_stop() or steps < self.lower() or (best is not None and steps >= best):
            return False
        return self.target is None or steps <= self.target


def read_options(engine: str, kind: type, texts: Mapping[str, str], listing: str = "") -> Any:
    """Return an ``Options`` object from the texts of the user.

    Parameters
    ----------
    engine
        The engine's name, for error messages.
    kind
        The frozen dataclass.
    texts
        Field names and values as text; a dash in a name counts as an underscore.
    listing
        The command that lists the options, for error messages; without it the error lists them.

    Raises
    ------
    InputError
        For unknown names and for values of the wrong type or out of range.
    """
    hints = get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind)]
    values: dict[str, Any] = {}
    for name, text in texts.items():
        field = name.replace("-", "_")
        where = f"--option {engine}.{name}"
        if field not in names:
            raise no_such_option(engine, name, names, listing)
        values[field] = _read_value(text, hints[field], where)
    defaults_beside = getattr(kind, "defaults_beside", dict)
    try:
        return kind(**{**defaults_beside(values), **values})
    except (ValueError, TypeError) as error:
        raise InputError(
            str(error), where=f"options of {engine}", hint="correct the value"
        ) from None


def no_such_option(engine: str, name: str, known: Sequence[str], listing: str = "") -> InputError:
    """Return the error for an option that an engine, designer or strategy does not have.

    Parameters
    ----------
    known
        The names of its options.
    listing
        The command that lists them; without it the error does.
    """
    rest = f"`{listing}` lists its options" if listing else "use " + (", ".join(known) or "none")
    return InputError(
        f"{engine} has no option {name}",
        where=f"--option {engine}.{name}",
        hint=did_you_mean(name.replace("-", "_"), known, rest),
    )


def _read_value(text: str, kind: Any, where: str) -> Any:
    if kind is bool:
        if text.lower() in ("true", "yes", "on", "1"):
            return True
        if text.lower() in ("false", "no", "off", "0"):
            return False
        raise InputError(f"{text!r} is not true or false", where=where, hint="write true or false")
    if kind in (int, float):
        try:
            value = kind(text) if text.isascii() else math.nan
        except ValueError:
            value = math.nan
        if not abs(value) <= MAX_OPTION:  # false for what is not a number
            name = "an integer" if kind is int else "a number"
            name += f" of at most {MAX_OPTION}" if abs(value) > MAX_OPTION else ""
            raise InputError(f"{text[:40]!r} is not {name}", where=where, hint=f"write {name}")
        return value
    return text


def is_complete(problem: Problem, assignment: Assignment | None) -> bool:
    """Return whether there is an assignment and every required delivery has a place in it."""
    return assignment is not None and bool((assignment.option[problem.required] >= 0).all())


def best_assignment(run: Run, problem: Problem) -> Assignment | None:
    """Return the best schedule of any engine, or ``None``."""
    # No near-solution has more steps than deliveries, so this hint is the best schedule, uncut.
    return run.hint(problem.deliveries + 1)


def cut_to(assignment: Assignment, steps: int) -> Assignment:
    """Return the assignment without the deliveries of step ``steps`` and later."""
    late = assignment.step >= steps
    return Assignment(
        np.where(late, -1, assignment.option).astype(np.int32),
        np.where(late, -1, assignment.step).astype(np.int32),
    )
