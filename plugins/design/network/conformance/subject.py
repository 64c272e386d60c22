"""The designer under test, and a run that records every breach of contract."""

import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from cchybrid.model.errors import InputError, PluginError
from cchybrid.plugin.conformance.subject import MAX_RUNS, PluginSubject
from cchybrid.plugin.conformance.watch import ConformanceError, Watched, arrays_of, changes, watch
from cchybrid.plugin.records import DesignerInfo

from ..local_run import LocalDesignRun
from ..task import DesignTask


class CheckedDesignRun(LocalDesignRun):
    """A ``LocalDesignRun`` that records every breach of contract in ``faults``."""

    def __init__(self, task: DesignTask, **rest: Any) -> None:
        self.faults: list[str] = []
        self.stopped = False
        super().__init__(task, **{"seed": 1, **rest})

    def should_stop(self) -> bool:
        """See ``DesignRun.should_stop``."""
        return self.stopped or super().should_stop()

    def offer(self, links: Iterable[tuple[int, int]], cost: float) -> None:
        """Keep a valid offer; record anything else as a fault."""
        try:
            listed = tuple((operator.index(a), operator.index(b)) for a, b in links)
            cost = float(cost)
        except (TypeError, ValueError) as error:
            self.faults.append(f"offered what are no links and a cost: {error}")
            return
        if not math.isfinite(cost):
            self.faults.append(f"offered a network of cost {cost}; offer connected networks only")
            return
        try:
            super().offer(listed, cost)
        except InputError as error:
            self.faults.append(f"offered a network that is not allowed: {error}")
        except PluginError as error:
            self.faults.append(
                f"{error}; compute costs by cchybrid_plugins.design.network.cost.Cost"
            )

    def spend(self, evaluations: int) -> None:
        """Count evaluations, a whole number."""
        try:
            super().spend(operator.index(evaluations))
        except TypeError:
            self.faults.append(f"spent {evaluations!r}; give run.spend a whole number")

    def note(self, **metrics: float) -> None:
        """Keep metrics, which must be numbers."""
        try:
            super().note(**{name: float(value) for name, value in metrics.items()})
        except (TypeError, ValueError):
            self.faults.append(f"noted {metrics}; give run.note numbers only")


@dataclass(frozen=True)
class DesignerSubject(PluginSubject):
    """The designer under test."""

    info: DesignerInfo | None

    def supports(self, task: DesignTask) -> bool:
        """Return whether the designer supports the task."""
        return self.construct().unsupported(task) is None

    def run(
        self,
        make: Callable[[], CheckedDesignRun],
        due: Callable[[CheckedDesignRun], bool],
        reason: str,
    ) -> tuple[CheckedDesignRun, Watched]:
        """Run a new designer on ``make()``, and raise a ``ConformanceError`` for its first fault.

        If it returns too late, it is run again, as it may have compiled code.
        """
        for _ in range(MAX_RUNS):
            run, watched, faults = self._once(make(), due, reason)
            if not watched.slow:
                break
        if faults:
            raise ConformanceError(faults[0])
        return run, watched

    def _once(
        self, run: CheckedDesignRun, due: Callable[[CheckedDesignRun], bool], reason: str
    ) -> tuple[CheckedDesignRun, Watched, list[str]]:
        designer, task = self.construct(), run.task
        before = arrays_of(task, ("allowed", "wires"))
        watched = watch(
            "design", run, lambda: designer.design(task, run), due, reason, self.patience
        )
        return run, watched, [*run.faults, *watched.faults, *changes("task", task, before)]
