"""One run of designers: starts them, checks what they offer, and keeps the best network.

Designers run in worker processes, as engines do (``worker_pool``). The host checks the links of
every network that is offered, computes its cost again, and ends a designer that is wrong. Better
networks go to all other designers as news.

With a time limit, as many designers as there are threads run at a time, in slices: first every
designer once, by priority; then those that found the best network most recently, and of the others
those that had the least time. With an evaluation budget they run one after another without news,
so that the same seed always gives the same result.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cchybrid.checker.instance import EvidenceError
from cchybrid.design_checker import check_design
from cchybrid.host import events as ev
from cchybrid.host.designs.config import Best, DesignConfig, Entrant
from cchybrid.host.designs.result import DesignResult, Status
from cchybrid.host.event_bus import EventBus
from cchybrid.host.memory_budget import MemoryBudget
from cchybrid.host.run_config import seed_for
from cchybrid.host.versions import versions
from cchybrid.host.wire import FROM_DESIGNERS
from cchybrid.host.worker_control import LISTEN_SECONDS
from cchybrid.host.worker_pool import WorkerPool
from cchybrid.host.worker_process import GRACE_SECONDS
from cchybrid.model.errors import InputError, PluginError
from cchybrid.network_design.bounds import latency_bound
from cchybrid.network_design.cost import Cost
from cchybrid.network_design.ports import Links, check_links, links_of, network_of, ports_of
from cchybrid.network_design.record import design_record
from cchybrid.network_design.task import DesignTask
from cchybrid.plugin.engine import Stop
from cchybrid.plugin.records import Observer

FIRST_SLICE, LATER_SLICE = 0.1, 0.2
"""Shares of the time limit of a designer's first time slice, and of later ones."""
MAX_START_SECONDS, MAX_START_WAIT_SECONDS = 120.0, 600.0
"""Seconds after which a designer that has not started is ended: those in which it could work
(``WorkingTime``), and wall-clock seconds. It mainly compiles its kernels, once per installation;
the first 120 seconds of waiting for that do not count in the time limit."""
TOLERANCE = 1e-9
"""Difference of costs, relative and absolute, up to which they count as equal."""
MODULE = "cchybrid.host.designs.worker"
START = "start"
"""The name of the network that the search begins with, in the place of a designer."""


class DesignSession:
    """One run of designers on a task.

    Parameters
    ----------
    observers
        Pairs of the name of a plugin and a function that is called with every event.
    accepted
        Called with the links and the cost of every network that was checked, also of those that
        are not better than the best.
    """

    def __init__(
        self,
        task: DesignTask,
        config: DesignConfig,
        observers: Iterable[tuple[str, Observer]] = (),
        accepted: Callable[[Links, float], None] | None = None,
    ) -> None:
        self.task, self.config = task, config
        self._accepted = accepted
        self._bus = EventBus(observers)
        self._pool = WorkerPool(MODULE, FROM_DESIGNERS)
        self._memory = MemoryBudget(config.budget.memory)
        self._cost = Cost(task)
        self._bound = latency_bound(task).cost(task)
        self._best = Best()
        self._initial_news: dict[str, Any] = {}
        self._entrants = [Entrant(info, seat) for seat, info in enumerate(config.designers, 1)]
        self._checked = 0.0
        """Seconds that the check of options took; they do not count in the time limit."""
        self._waited = 0.0
        self._proven_by = ""
        self._refused: str | None = None
        self._troubles: list[str] = []
        self._remarks: list[str] = []
        self._evaluations: dict[str, int] = {}
        self._options: dict[str, Mapping[str, Any]] = {}
        self._interrupted = False
        self._stopping = False

    def run(self) -> DesignResult:
        """Run until the cost meets its bound or the target, the budget is spent, or Ctrl-C.

        Raises
        ------
        InputError
            If a designer rejects its options, or the task does not allow the initial network.
        """
        self._bus.emit("run", 0.0, {"task": self._title(), "seed": self.config.seed})
        try:
            self._take_initial()
            self._check_options()
            if self.config.budget.evaluations is not None:
                self._run_one_by_one()
            else:
                self._race()
            self._stop_all()
        except KeyboardInterrupt:
            self._interrupted = True
        finally:
            self._pool.close()
        if self._refused is not None:
            raise InputError(self._refused)
        result = self._conclude()
        self._bus.emit("result", result.seconds, result.to_json())
        return result

    def _check_options(self) -> None:
        """Let every designer check the options that the user set for it."""
        for entrant in self._entrants:
            if self.config.options.get(entrant.info.name):
                self._pool.start(entrant.seat, self._job(entrant, "options"), b"")
        end = time.monotonic() + MAX_START_WAIT_SECONDS
        while self._pool.seats and self._refused is None and time.monotonic() < end:
            for _, event in self._pool.listen(LISTEN_SECONDS):
                if isinstance(event, ev.Refused):
                    self._refused = self._refused or event.text
        for seat in self._pool.seats:
            self._pool.dismiss(seat)
        self._checked = self._now()

    # The order of work

    def _race(self) -> None:
        while not self._over() and self._alive():
            self._fill_slots()
            self._listen()
            self._end_unstarted()
            self._end_slices()

    def _run_one_by_one(self) -> None:
        for entrant in self._entrants:
            if self._over():
                return
            self._open(entrant)
            while not entrant.ended and not self._over():
                self._listen()
                self._end_unstarted()

    def _fill_slots(self) -> None:
        """Start or resume designers while fewer run than there are threads."""
        running = sum(entrant.running_since is not None for entrant in self._alive())
        waiting = [entrant for entrant in self._alive() if entrant.running_since is None]
        waiting.sort(key=lambda entrant: (entrant.slices > 0, -entrant.improved, entrant.worked))
        for entrant in waiting[: max(0, self.config.budget.threads - running)]:
            if entrant.opened:
                self._pool.resume(entrant.seat)
                entrant.running_since = self._now()
            else:
                self._open(entrant)

    def _end_unstarted(self) -> None:
        """End designers that do not start."""
        for entrant in self._alive():
            begun = entrant.running_since
            if begun is not None and not entrant.started and entrant.seat in self._pool.seats:
                worked, waited = self._pool.working_time(entrant.seat), self._now() - begun
                if worked >= MAX_START_SECONDS or waited >= MAX_START_WAIT_SECONDS:
                    self._fault(entrant, f"did not start within {worked:.0f} seconds of work")

    def _end_slices(self) -> None:
        """Pause designers whose time slice is over, if others wait."""
        limit, now = self.config.budget.seconds, self._now()
        for entrant in self._alive():
            if entrant.running_since is None:
                continue
            worked = now - entrant.running_since
            share = FIRST_SLICE if entrant.slices == 0 else LATER_SLICE
            none_waits = all(other.running_since is not None for other in self._alive())
            if limit is None or none_waits or not entrant.started or worked < share * limit:
                continue
            entrant.slices += 1
            entrant.worked += worked
            entrant.running_since = None
            self._pool.pause([entrant.seat])

    def _release_memory(self) -> None:
        """End designers while the whole run needs too much memory.

        First paused ones: a later time slice starts them again, with the best network so far.
        Others are ended only above the memory limit, and take no further part.
        """

        def gain(seat: int) -> float:
            return self._entrants[seat - 1].improved

        text = f"ended, as the run exceeded {self._memory.mebibytes:,} MiB of memory"
        paused, working = self._memory.superfluous(self._pool, gain)
        for seat in (*paused, *working):
            entrant = self._entrants[seat - 1]
            for event in self._pool.dismiss(seat):
                self._apply(entrant, event)
            if seat in working and not entrant.ended:
                self._fault(entrant, text)
            entrant.opened = entrant.started = False

    def _open(self, entrant: Entrant) -> None:
        entrant.opened, entrant.running_since = True, self._now()
        self._pool.start(entrant.seat, self._job(entrant, "design"), b"")

    def _job(self, entrant: Entrant, kind: str) -> dict[str, Any]:
        info, budget = entrant.info, self.config.budget
        repeatable = budget.evaluations is not None
        return {
            "kind": kind,
            "engine": info.name,
            "target_name": info.target,
            "options": dict(self.config.options.get(info.name, {})),
            "seed": seed_for(self.config.seed, info.name),
            "budget": {
                "seconds": None,
                "evaluations": budget.evaluations,
                "threads": 1,
                "memory": budget.memory,
            },
            "task": self.task.to_json(),
            "news": self._initial_news if repeatable else self._news(),
        }

    def _stop_all(self) -> None:
        """Let the designers return; take what they offer until then."""
        self._stopping = True
        for seat in self._pool.seats:
            self._pool.resume(seat)
        self._pool.ask_to_stop(self._pool.seats)
        end = time.monotonic() + 2 * GRACE_SECONDS
        while self._pool.seats and time.monotonic() < end:
            self._listen()

    # The clock

    def _now(self) -> float:
        return self._bus.now()

    def _over(self) -> bool:
        if self._refused is not None or self._meets(self._bound) or self._meets(self.config.target):
            return True
        if self._proven_by:
            return True
        limit = self.config.budget.seconds
        return limit is not None and self._now() - self._checked - self._waited >= limit

    def _meets(self, cost: float | None) -> bool:
        return cost is not None and self._best.cost <= cost + TOLERANCE

    def _alive(self) -> list[Entrant]:
        return [entrant for entrant in self._entrants if not entrant.ended]

    # Events

    def _listen(self) -> None:
        before = self._now()
        running = [entrant for entrant in self._alive() if entrant.running_since is not None]
        waits = any(not entrant.started for entrant in running)
        for seat, event in self._pool.listen(LISTEN_SECONDS):
            self._apply(self._entrants[seat - 1], event)
        if self._memory.is_due() and not self._stopping:
            self._release_memory()
        if waits:
            self._waited = min(self._waited + self._now() - before, MAX_START_SECONDS)

    def _apply(self, entrant: Entrant, event: Any) -> None:
        name = entrant.info.name
        match event:
            case ev.Designed() if not entrant.ended:
                self._take(entrant, event)
            case ev.Started(_, options):
                entrant.started = True
                entrant.running_since = self._now()
                self._options[name] = options
                self._pool.mark_started(entrant.seat)
                self._bus.emit("started", self._now(), {"engine": name})
            case ev.Note(metrics):
                self._bus.emit("note", self._now(), {"engine": name, "metrics": dict(metrics)})
            case ev.End(stop, evaluations):
                entrant.ended = True
                self._evaluations[name] = evaluations or 0
                if stop is Stop.EXHAUSTED and entrant.info.kind == "exact":
                    self._take_claim(entrant)
            case ev.Unsupported(text):
                entrant.ended = True
                self._remarks.append(f"{name}: {text}")
            case ev.Refused(text):
                self._refused = self._refused or text
            case ev.Failed(text) | ev.Garbled(text):
                self._fault(entrant, text)
            case ev.Trouble(text):
                self._trouble(name, text)
            case ev.Overdue():
                self._trouble(name, "did not return although it was asked to stop")
            case ev.Exited() if self._stopping:
                entrant.ended = True
            case ev.Exited() if not entrant.ended:
                words = f": {event.last_words}" if event.last_words else ""
                self._fault(entrant, f"ended its process ({event.how} {event.code}){words}")
            case ev.Silent() if self.config.budget.evaluations is not None:
                self._fault(entrant, "does not say what it spends of its evaluations")
            case ev.Silent(lasted):
                self._bus.emit("silent", self._now(), {"engine": name, "lasted": lasted})

    def _take(self, entrant: Entrant, event: ev.Designed) -> None:
        """Check a network that a designer offers; one that is no better than its own is dropped."""
        if event.cost >= entrant.best or self._meets(self.config.target):
            return
        try:
            check_links(self.task, event.links)
        except InputError as error:
            self._fault(entrant, f"offered a network that is not allowed: {error}")
            return
        ports = ports_of(self.task.nodes, self.task.degree, event.links)
        try:
            cost = self._cost(ports)
        except PluginError as error:
            self._fault(entrant, str(error))
            return
        if not math.isclose(cost, event.cost, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            self._fault(entrant, f"offered a network of cost {cost:g} as one of {event.cost:g}")
            return
        entrant.best = cost
        if cost < self._best.cost:
            entrant.improved = self._now()
        self._accept(links_of(ports), cost, entrant.info.name, entrant.seat)

    def _take_claim(self, entrant: Entrant) -> None:
        """Believe an exact designer that no network is better than its best, unless one is."""
        name, own, best = entrant.info.name, entrant.best, self._best.cost
        if math.isinf(best):
            entrant.claims = True
        elif own <= best + TOLERANCE:
            entrant.claims, self._proven_by = True, name
        else:
            entrant.claims = False
            if self._proven_by == name:
                self._proven_by = ""
            below = (
                "there is no network"
                if math.isinf(own)
                else (f"no network has a cost below {own:g}")
            )
            self._trouble(name, f"claims that {below}, but one has {best:g}")

    def _accept(self, links: Links, cost: float, name: str, seat: int) -> None:
        if self._accepted is not None:
            self._accepted(links, cost)
        if cost >= self._best.cost:
            return
        now = self._now()
        self._best = Best(links, cost, name, now)
        for entrant in self._entrants:
            if entrant.claims:
                self._take_claim(entrant)
        values = self._values()
        self._bus.emit("network", now, {"designer": name, "cost": cost, "values": values})
        if self.config.budget.evaluations is None:
            self._pool.share(self._news(), seat)

    def _news(self) -> dict[str, Any]:
        if not self._best.links:
            return {}
        return {"network": [list(link) for link in self._best.links], "cost": self._best.cost}

    def _fault(self, entrant: Entrant, text: str) -> None:
        entrant.ended = True
        self._trouble(entrant.info.name, text)
        self._pool.dismiss(entrant.seat)

    def _trouble(self, name: str, text: str) -> None:
        self._troubles.append(f"{name} {text}")
        self._bus.emit("trouble", self._now(), {"engine": name, "text": text})

    def _take_initial(self) -> None:
        links = self.config.initial
        if links is None:
            return
        check_links(self.task, links)
        ports = ports_of(self.task.nodes, self.task.degree, links)
        cost = self._cost(ports)
        if math.isinf(cost):
            raise InputError(
                "the network has an infinite cost", where="initial", hint="use a connected one"
            )
        self._accept(links_of(ports), cost, START, 0)
        self._initial_news = self._news()

    # The result

    def _conclude(self) -> DesignResult:
        best, config = self._best, self.config
        found = bool(best.links)
        certified = found and self._meets(self._bound) and self._is_certified()
        status: Status = "unknown"
        if found:
            status = "optimal" if certified or self._proven_by else "feasible"
        return DesignResult(
            task=self.task,
            status=status,
            certified=certified,
            proven_by="" if certified else self._proven_by,
            network=network_of(self.task, best.links) if found else None,
            links=best.links,
            cost=best.cost if found else None,
            values=self._values() if found else {},
            bound=self._bound,
            designer=best.designer,
            seconds=self._now(),
            seconds_to_best=best.seconds,
            evaluations=dict(self._evaluations),
            seed=config.seed,
            budget=config.budget.to_json(),
            versions=versions(),
            options=dict(self._options),
            troubles=(*self._troubles, *self._bus.troubles),
            remarks=tuple(self._remarks),
            interrupted=self._interrupted,
        )

    def _is_certified(self) -> bool:
        try:
            check_design(design_record(self.task, self._best.links))
        except EvidenceError as error:
            self._troubles.append(f"the checker rejects the network: {error}")
            return False
        return True

    def _values(self) -> dict[str, float]:
        return self._cost.values(ports_of(self.task.nodes, self.task.degree, self._best.links))

    def _title(self) -> str:
        costs = ", ".join(name for name, _ in self.task.weights)
        return f"{self.task.nodes} nodes of degree {self.task.degree}, {costs}"
