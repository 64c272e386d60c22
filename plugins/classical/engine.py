"""The engine: makes every classical construction that applies, and offers what it gives."""

from __future__ import annotations

from dataclasses import dataclass

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Problem
from cchybrid.problem.origin import InstanceOrigin

from .constructions import CONSTRUCTIONS, Construction
from .offers import FlawedError, assigned, flaw
from .setting import DoesNotApplyError, Setting


class Classical:
    """Constructions from the literature: deterministic, about a second, baselines and first ideas.

    The seed matters to those that search for the tree or the ring that they need.
    """

    @dataclass(frozen=True)
    class Options:
        """What users may set.

        Parameters
        ----------
        only
            The one construction to make; "" makes all.
        """

        only: str = ""

        def __post_init__(self) -> None:
            names = [construction.name for construction in CONSTRUCTIONS]
            if self.only and self.only not in names:
                raise ValueError(f"no construction {self.only!r}; use {', '.join(names)}")

    def __init__(self, options: Options) -> None:
        self.options = options

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse only what has no network to look at: one construction applies to all others."""
        if not isinstance(problem.origin, InstanceOrigin):
            return "not compiled from an instance"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Make one construction after the other, as long as something is left to better."""

        def check() -> None:
            if run.should_stop():
                raise _OverError

        least: int | None = None

        def wants(steps: int) -> bool:
            # Whoever expects so many steps or more may end up with what the bound leaves open.
            return run.wants(max(steps, run.lower())) and (least is None or steps < least)

        setting = Setting(problem, run.seed, check, wants)
        try:
            for construction in self._chosen():
                if next(run.targets(), None) is None:
                    check()
                    return Stop.EXHAUSTED
                if not wants(setting.least):
                    break
                try:
                    drafted, found = assigned(problem, construction.make(setting.begun()))
                except (DoesNotApplyError, FlawedError):
                    continue
                finally:
                    run.spend(1)
                if flaw(drafted, found) is None and (least is None or found.steps < least):
                    least = found.steps
                    run.offer(found, drafted)
                    run.note(steps=least)
            check()
        except _OverError:
            return Stop.LIMIT
        return Stop.STALLED if next(run.targets(), None) is not None else Stop.EXHAUSTED

    def _chosen(self) -> tuple[Construction, ...]:
        only = self.options.only
        return tuple(c for c in CONSTRUCTIONS if only in ("", c.name))


class _OverError(Exception):
    """The run is over."""
