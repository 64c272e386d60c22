"""A run of a designer in this process, for tests, measurements and authors of designers."""

import math
import time
from collections.abc import Iterable

from cchybrid.model.errors import PluginError

from .cost import Cost
from .ports import Links, check_links, links_of, ports_of
from .task import DesignTask


class LocalDesignRun:
    """A ``DesignRun`` that keeps the best network offered.

    Parameters
    ----------
    seconds
        Wall-clock seconds, or ``None``.
    evaluations
        The number of networks to evaluate, or ``None``.
    target
        A cost that ends the run, or ``None``.
    initial
        The links of a network to begin with, or ``None``.
    """

    def __init__(
        self,
        task: DesignTask,
        *,
        seed: int = 0,
        seconds: float | None = None,
        evaluations: int | None = None,
        target: float | None = None,
        initial: Links | None = None,
    ) -> None:
        self.task, self.seed, self.target = task, seed, target
        self.evaluations, self.spent = evaluations, 0
        self.links: Links | None = None
        self.metrics: dict[str, float] = {}
        self.offers: list[tuple[float, float]] = []
        """Seconds and cost of every network that was better than those before."""
        self._cost = Cost(task)
        self._best: float | None = None
        self._started = time.monotonic()
        self._end = math.inf if seconds is None else self._started + seconds
        self._initial = initial
        if initial is not None:
            self.offer(initial, self._cost(ports_of(task.nodes, task.degree, initial)))

    def should_stop(self) -> bool:
        """See ``DesignRun.should_stop``."""
        if (
            self.target is not None
            and self._best is not None
            and self._best <= self.target + self.task.tolerance
        ):
            return True
        if self.evaluations is not None and self.spent >= self.evaluations:
            return True
        return time.monotonic() >= self._end

    def offer(self, links: Iterable[tuple[int, int]], cost: float) -> None:
        """See ``DesignRun.offer``.

        Raises
        ------
        InputError
            If the task does not allow the network.
        PluginError
            If the cost is not the stated one.
        """
        listed = tuple(links)
        check_links(self.task, listed)
        ports = ports_of(self.task.nodes, self.task.degree, listed)
        found = self._cost(ports)
        if not math.isclose(found, cost, rel_tol=1e-9, abs_tol=self.task.tolerance):
            raise PluginError(f"a network of cost {found} was offered as one of cost {cost}")
        if self._best is None or found < self._best:
            self._best, self.links = found, links_of(ports)
            self.offers.append((time.monotonic() - self._started, found))

    def best(self) -> float | None:
        """See ``DesignRun.best``."""
        return self._best

    def known(self) -> Links | None:
        """See ``DesignRun.known``."""
        return self._initial if len(self.offers) <= 1 else None

    def spend(self, evaluations: int) -> None:
        """See ``DesignRun.spend``."""
        self.spent += evaluations

    def note(self, **metrics: float) -> None:
        """See ``DesignRun.note``."""
        self.metrics.update(metrics)
