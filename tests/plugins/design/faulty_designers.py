"""A plugin whose designers break every rule that the host has to survive; and sound ones."""

import math
import os
import signal
import time
from collections.abc import Callable

from cchybrid_plugins.design.network.cost import Cost
from cchybrid_plugins.design.network.designer import DesignRun
from cchybrid_plugins.design.network.ports import Links, Ports, ports_of
from cchybrid_plugins.design.network.task import DesignTask

from cchybrid.plugin.engine import NoOptions, Stop
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import CostTermInfo, DesignerInfo


def ring(nodes: int) -> Links:
    """Return the links of a ring."""
    return (*path(nodes), (0, nodes - 1)) if nodes > 2 else path(nodes)


def path(nodes: int) -> Links:
    """Return the links of a path, which costs more than the ring."""
    return tuple((node, node + 1) for node in range(nodes - 1))


def cost_of(task: DesignTask, links: Links) -> float:
    return Cost(task)(ports_of(task.nodes, task.degree, links))


class Faulty:
    Options: type = NoOptions

    def __init__(self, options: object) -> None:
        self.options = options

    def unsupported(self, task: DesignTask) -> str | None:
        return None

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        return Stop.STALLED


def offer(run: DesignRun, task: DesignTask, links: Links) -> None:
    """Offer links at their cost, for one evaluation."""
    run.spend(1)
    run.offer(links, cost_of(task, links))


class Sound(Faulty):
    """Offers a ring."""

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        offer(run, task, ring(task.nodes))
        return Stop.STALLED


class Plain(Faulty):
    """Offers a path and waits."""

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        offer(run, task, path(task.nodes))
        while not run.should_stop():
            time.sleep(0.02)
        return Stop.LIMIT


class Informed(Faulty):
    """Notes how many links the network has that it begins with, and ends."""

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        run.spend(1)
        run.note(known=float(len(run.known() or ())))
        return Stop.STALLED


class Seeded(Faulty):
    """Offers the ring with chords that the seed chooses."""

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        seed = run.seed
        while not run.should_stop():
            run.spend(1)
            seed = (seed * 48271 + 11) % (2**31 - 1)
            a, b = sorted((seed % task.nodes, seed // 1000 % task.nodes))
            if b - a > 1 and (a, b) != (0, task.nodes - 1):
                links = (*ring(task.nodes), (a, b))
                found, best = cost_of(task, links), run.best()
                if best is None or found < best:
                    run.offer(links, found)
        return Stop.LIMIT


class Crash(Faulty):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        os.kill(os.getpid(), signal.SIGSEGV)
        return Stop.STALLED


class Raise(Faulty):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        raise RuntimeError("the designer broke\nin two lines")


class Vanish(Faulty):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        os._exit(0)


class Liar(Faulty):
    """Offers a ring as a network of cost 1."""

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        run.offer(ring(task.nodes), 1.0)
        time.sleep(600)
        return Stop.STALLED


class Offers(Faulty):
    """Offers links that are wrong at a cost that is not."""

    links: Callable[[int], Links]

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        run.offer(type(self).links(task.nodes), cost_of(task, ring(task.nodes)))
        return Stop.STALLED


class Outside(Offers):
    """Links a node that does not exist."""

    links = staticmethod(lambda nodes: (*ring(nodes), (0, nodes)))


class Loop(Offers):
    """Links a node to itself."""

    links = staticmethod(lambda nodes: (*ring(nodes), (2, 2)))


class Star(Offers):
    """Gives one node too many links."""

    links = staticmethod(lambda nodes: tuple((0, node) for node in range(1, nodes)))


class Twice(Offers):
    """Has a link twice."""

    links = staticmethod(lambda nodes: (*ring(nodes), (1, 0)))


class Apart(Offers):
    """Leaves a node out: its cost is infinite."""

    links = staticmethod(lambda nodes: path(nodes)[:-1])


class Infinite(Faulty):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        run.offer(path(task.nodes)[:-1], math.inf)
        return Stop.STALLED


class NotANumber(Faulty):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        run.offer(ring(task.nodes), math.nan)
        return Stop.STALLED


class Garbage(Faulty):
    """Sends a line of its own making."""

    LINE = b"this is no event"

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        run._out.write(self.LINE + b"\n")  # type: ignore[attr-defined]
        run._out.flush()  # type: ignore[attr-defined]
        time.sleep(600)
        return Stop.STALLED


class Triples(Garbage):
    LINE = b'{"event":"designed","links":[[0,1,2]],"cost":1.0,"spent":0}'


class Fractions(Garbage):
    LINE = b'{"event":"designed","links":[[0.5,1]],"cost":1.0,"spent":0}'


class Bound(Garbage):
    """Sends an event of engines."""

    LINE = b'{"event":"bound","steps":2}'


class Falsely(Faulty):
    """Exact; says that nothing is better than a path."""

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        offer(run, task, path(task.nodes))
        time.sleep(0.3)
        return Stop.EXHAUSTED


class Twofold(Faulty):
    """Exact; finds a path and a ring, and says that nothing is better."""

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        for links in (path(task.nodes), ring(task.nodes)):
            offer(run, task, links)
        return Stop.EXHAUSTED


class Nothing(Faulty):
    """Exact; says that there is no network at all."""

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        run.spend(1)
        return Stop.EXHAUSTED


class Unspent(Faulty):
    """Calls nothing of the run."""

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        time.sleep(600)
        return Stop.STALLED


class Picky(Faulty):
    def unsupported(self, task: DesignTask) -> str | None:
        return "it likes no task at all"


DESIGNERS = (
    Sound, Plain, Informed, Seeded, Crash, Raise, Vanish, Liar, Outside, Loop, Star, Twice,
    Apart, Infinite, NotANumber, Garbage, Triples, Fractions, Bound, Falsely, Twofold, Nothing,
    Unspent, Picky,
)  # fmt: skip
EXACT = (Falsely, Twofold, Nothing)


@hookimpl
def cchybrid_designers() -> tuple[DesignerInfo, ...]:
    named = [
        DesignerInfo(
            kind.__name__.lower(),
            f"{__name__}:{kind.__name__}",
            kind.__doc__ or "",
            kind="exact" if kind in EXACT else "heuristic",
        )
        for kind in DESIGNERS
    ]
    return (*named, DesignerInfo("missing", f"{__name__}:NoSuchClass", ""))


def empty_ports(task: DesignTask, ports: Ports) -> float:
    """Return the number of empty ports."""
    return float(sum(int(other) == node for node, row in enumerate(ports) for other in row))


def broken(task: DesignTask, ports: Ports) -> float:
    raise ZeroDivisionError("no cost\nin two lines")


def not_a_number(task: DesignTask, ports: Ports) -> float:
    return math.nan


def text(task: DesignTask, ports: Ports) -> str:
    return "a lot"


def spoils_ports(task: DesignTask, ports: Ports) -> float:
    ports[:] = 0
    return 1.0


@hookimpl
def cchybrid_cost_terms() -> list[CostTermInfo]:
    return [
        CostTermInfo("empty-ports", f"{__name__}:empty_ports", "empty ports"),
        CostTermInfo("few-links", f"{__name__}:empty_ports", "empty ports", maximised=True),
        CostTermInfo("broken", f"{__name__}:broken", "raises"),
        CostTermInfo("not-a-number", f"{__name__}:not_a_number", "has no value"),
        CostTermInfo("text", f"{__name__}:text", "returns a text"),
        CostTermInfo("spoils", f"{__name__}:spoils_ports", "writes to the ports"),
        CostTermInfo("absent", f"{__name__}:no_such_function", "cannot be loaded"),
        CostTermInfo("Latency", f"{__name__}:broken", "has the name of a term of cchybrid"),
    ]
