"""The jobs of workers on a design task: a designer, or the check of its options (``worker``)."""

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import IO, Any

from cchybrid.host.shared_instance import ReceivedInstance
from cchybrid.host.wire import Line
from cchybrid.host.worker_link import WorkerLink, read_engine
from cchybrid.model.errors import PluginError
from cchybrid.plugin.engine import Stop
from cchybrid.system.kernel_cache import compiling

from .network.cost import Cost
from .network.ports import Links, ports_of
from .network.task import DesignTask, layout
from .network.terms import TERMS


class DesignWorkerRun(WorkerLink):
    """The ``DesignRun`` of a designer in a worker."""

    def __init__(self, job: Line, out: IO[bytes]) -> None:
        super().__init__(job, out)
        self._best: float | None = None
        self._known: tuple[float, Links] | None = None
        for line in job["news"]:
            self.receive(line)

    def work(self, job: Line, received: ReceivedInstance) -> None:
        """Construct the designer and run it; in a job of kind ``options`` only read its options."""
        designer_class, options = read_engine(job, "designers")
        if job["kind"] == "options":
            self.send("end", stop=Stop.EXHAUSTED.value)
            return
        task = DesignTask.from_json(received.record)
        designer: Any = designer_class(options)
        prepare = getattr(designer, "prepare", None)
        if prepare is not None:
            with compiling(job["target_name"]):
                prepare()
        prepare_terms(name for name, _ in task.weights)
        reason = designer.unsupported(task)
        if reason is not None:
            self.send("unsupported", text=str(reason))
            return
        self.send("started", options=asdict(options))
        self.working = True
        self.send_end(Stop(designer.design(task, self)))

    def receive(self, line: Line) -> None:
        """Apply a line of news from the host."""
        super().receive(line)
        if "network" in line:
            self._known = line["cost"], tuple((a, b) for a, b in line["network"])

    def offer(self, links: Iterable[tuple[int, int]], cost: float) -> None:
        """See ``DesignRun.offer``; ``best`` counts the offer before the host has checked it."""
        cost = float(cost)
        if not math.isfinite(cost):  # JSON has neither infinity nor NaN
            kind = "whose cost is not a number" if math.isnan(cost) else "of infinite cost"
            raise PluginError(f"offered a network {kind}")
        listed = [[int(a), int(b)] for a, b in links]
        self.send("designed", links=listed, cost=cost, spent=self._spent)
        if self._best is None or cost < self._best:
            self._best = cost

    def best(self) -> float | None:
        """See ``DesignRun.best``."""
        return self._best

    def known(self) -> Links | None:
        """See ``DesignRun.known``."""
        if self._known is None or (self._best is not None and self._best <= self._known[0]):
            return None
        return self._known[1]


def prepare_terms(names: Iterable[str]) -> None:
    """Compile the kernels of these cost terms, once per installation; names of plugins are skipped.

    Every term is computed for a ring of 8 nodes.
    """
    weights = tuple((name, 1.0) for name in names if name in TERMS)
    if not weights:
        return
    task = DesignTask(8, 3, weights, positions=layout("backplane", 8), collective="AAS")
    Cost(task).values(ports_of(8, 3, [(node, (node + 1) % 8) for node in range(8)]))
