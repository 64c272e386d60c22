"""Designers that break one rule of the contract each, to test the conformance suite."""

import math
import random
import threading
from dataclasses import replace
from typing import Any

from cchybrid_plugins.design.network.designer import DesignRun
from cchybrid_plugins.design.network.ports import Links
from cchybrid_plugins.design.network.task import DesignTask

from cchybrid.plugin.engine import Stop
from cchybrid.plugin.records import DesignerInfo
from tests.plugins.design.faulty_designers import Faulty, cost_of, path, ring

RELEASE = threading.Event()


class Sound(Faulty):
    """Offers a ring, or a path where the wire of the ring is too long, if the cost is finite."""

    def unsupported(self, task: DesignTask) -> str | None:
        if math.isinf(cost_of(task, self.links(task))):
            return "a ring does not stay connected"
        return None

    def links(self, task: DesignTask) -> Links:
        return ring(task.nodes) if task.allowed[0, task.nodes - 1] else path(task.nodes)

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        run.spend(1)
        links = self.links(task)
        cost, best = cost_of(task, links), run.best()
        if cost < (math.inf if best is None else best):
            run.offer(links, cost)
        return Stop.STALLED


class NoOptionsAtAll(Sound):
    Options: Any = None


class Unbuildable(Sound):
    def __init__(self) -> None:
        super().__init__(None)


class RaisesInUnsupported(Sound):
    def unsupported(self, task: DesignTask) -> str | None:
        raise KeyError("no such thing")


class FalseInUnsupported(Sound):
    def unsupported(self, task: DesignTask) -> str | None:
        return False  # type: ignore[return-value]


class Slow(Sound):
    """Works for a second at a time."""

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        while not run.should_stop():
            RELEASE.wait(1.0)
        return Stop.LIMIT


class DiesInWorkers(Sound):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        if type(run).__name__ == "DesignWorkerRun":
            raise RuntimeError("not here")
        return super().design(task, run)


class ReturnsNothing(Sound):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        super().design(task, run)
        return None  # type: ignore[return-value]


class Liar(Sound):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        run.offer(self.links(task), 1.0)
        return Stop.STALLED


class LongWires(Sound):
    def links(self, task: DesignTask) -> Links:
        return ring(task.nodes)


class Texts(Sound):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        run.offer([("a", "b")], 1.0)  # type: ignore[list-item]
        return Stop.STALLED


class NotesText(Sound):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        run.note(colour="red")  # type: ignore[arg-type]
        return super().design(task, run)


class ClaimsPaths(Sound):
    """Says that no network is better than a path."""

    def links(self, task: DesignTask) -> Links:
        return path(task.nodes)

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        super().design(task, run)
        return Stop.EXHAUSTED


class GlobalRandom(Sound):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        random.random()
        return super().design(task, run)


class Mutates(Sound):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        task.allowed[0, 1] = not task.allowed[0, 1]
        return Stop.STALLED


class Endless(Sound):
    """Offers a ring and does not stop before it has to."""

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        super().design(task, run)
        run.spend(10_000)
        for _ in range(20):
            RELEASE.wait(0.1)
        return Stop.LIMIT


class Coarse(Sound):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        super().design(task, run)
        run.spend(9_999)
        return Stop.LIMIT


class Remembers(Sound):
    """Offers a path when it is constructed for the second time, a ring before."""

    runs = 0

    def links(self, task: DesignTask) -> Links:
        Remembers.runs += 1
        return ring(task.nodes) if Remembers.runs % 2 else path(task.nodes)


class TrustsKnown(Sound):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        if run.known() is not None:
            raise TypeError("a network came from elsewhere")
        return super().design(task, run)


def info(designer: type, **changes: Any) -> DesignerInfo:
    """Return the record of a designer of this module."""
    made = DesignerInfo(
        designer.__name__.lower(), f"{__name__}:{designer.__name__}", "does something"
    )
    return replace(made, **changes)
