"""Schedules replayed in SimGrid, an independent simulator of networks.

The platform has a link for every channel (one for both channels of a half-duplex pair), with its
capacity, and a link for the ports of every node, if they are limited. Every transfer is a
communication over the links of its path, which gets the bandwidth of a channel of capacity 1 at
most. SimGrid shares links that are used beyond their capacity, so a transfer that shares one takes
longer than it would alone. The time of its hops goes by before it uses them: with latencies of
links, the shares of a link would be in inverse proportion to those of the paths.

Source: H. Casanova et al., Versatile, scalable, and accurate simulation of distributed applications
and platforms, 2014, doi:10.1016/j.jpdc.2014.06.008.
"""

import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, pairwise, permutations
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from cchybrid.model import Instance, Schedule
from cchybrid.model.collective import Message, Reduction
from cchybrid.model.errors import InputError
from cchybrid.model.instance import make_folder, write_text
from cchybrid.problem.routes import Routes

from . import smpi
from .time_models import TimeModel

PROGRAM = Path(__file__).with_name("replay_program.py")
TOLERANCE = 1e-3
"""Relative difference of durations that the simulator's arithmetic may cause."""
MAX_SECONDS = 600.0
SYSTEM_PYTHON = "/usr/bin/python3"
"""The interpreter that finds the module of Debian's package python3-simgrid."""

NodePath = tuple[int, ...]


@dataclass(frozen=True)
class Row:
    """The simulated microseconds for one message size.

    By the schedule, with all messages at once, and by the collective of an MPI library, if there is
    one and SMPI is installed.
    """

    size: int
    schedule: float
    exchange: float
    library: float | None = None


@dataclass(frozen=True)
class Replay:
    """The outcome of a replay.

    Attributes
    ----------
    rows
        Times by message size.
    delayed
        The transfers that took longer than alone: step, index in the step, and how many times as
        long, for the last size.
    transfers
        The number of transfers of the schedule.
    library
        The name of the collective of MPI, or "".
    remark
        Why there are no times of such a collective, and what the exchange passes; or "".
    several_rounds
        Whether a step has several rounds: a transfer may take that many times as long.
    """

    name: str
    rows: tuple[Row, ...]
    delayed: tuple[tuple[int, int, float], ...]
    transfers: int
    library: str = ""
    remark: str = ""
    several_rounds: bool = False

    @property
    def undisturbed(self) -> bool:
        """Whether every transfer took as long as alone."""
        return not self.delayed

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``cchybrid simulate --json`` prints."""
        return {
            "name": self.name,
            "transfers": self.transfers,
            "undisturbed": self.undisturbed,
            "delayed": [
                {"step": step, "transfer": place, "times_as_long": round(factor, 6)}
                for step, place, factor in self.delayed
            ],
            "times": [
                {
                    "bytes": row.size,
                    "schedule_us": round(row.schedule, 6),
                    "exchange_us": round(row.exchange, 6),
                    "library_us": None if row.library is None else round(row.library, 6),
                }
                for row in self.rows
            ],
            "library": self.library or None,
            "remark": self.remark or None,
        }

    def lines(self) -> list[str]:
        """Return the verdict as text; steps and transfers count from 1."""
        alone = "alone, times the rounds of its step" if self.several_rounds else "alone"
        if self.undisturbed:
            limit = "at most " if self.several_rounds else ""
            took = f"takes {limit}as long as {alone}"
            return [f"{self.name}: each of {self.transfers} transfers {took}"]
        step, place, factor = self.delayed[0]
        return [
            f"{self.name}: {len(self.delayed)} of {self.transfers} transfers are delayed",
            f"  step {step + 1}, transfer {place + 1}: {factor:.2f} times as long as {alone}",
        ]


def replay(
    schedule: Schedule, model: TimeModel, sizes: Sequence[int], folder: Path | None = None
) -> Replay:
    """Replay a schedule, valid or not, and an exchange of all its messages at once.

    The collective of an MPI library is simulated too, where SMPI is installed.

    Parameters
    ----------
    sizes
        Bytes of a message, before any cut into chunks.
    folder
        Where the platform (``platform.xml``), the plan (``plan.json``) and the program are kept; by
        default nowhere.

    Raises
    ------
    InputError
        SimGrid is not installed, or its program fails.
    """
    python = simgrid_python()
    hosts = _Hosts()
    steps = [hosts.step(path for _, path in step) for step in schedule.steps]
    every = sorted({tuple(path) for step in schedule.steps for _, path in step})
    direct = direct_paths(schedule.instance)
    chunks = [size / schedule.instance.collective.chunks for size in sizes]
    plan = {
        "sizes": chunks,
        "startup": model.startup,
        "per_hop": model.per_hop,
        "runs": [steps, [hosts.step(direct)], [hosts.step([path]) for path in every]],
    }
    text = platform(schedule.instance, replace(model, per_hop=0.0), hosts.paths)
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary) if folder is None else folder
        make_folder(place)
        write_text(text, place / "platform.xml")
        write_text(json.dumps(plan), place / "plan.json")
        if folder is not None:
            write_text(PROGRAM.read_text(encoding="utf-8"), place / "replay.py")
        results = _run(python, place)
        call, remark, library = _library_times(schedule.instance, model, sizes, place)
    endpoints = schedule.instance.network.endpoints
    if any(node in endpoints for path in direct for node in path[1:-1]):
        passed = "all at once, messages pass endpoints, where a schedule has to forward them"
        remark = f"{remark}; {passed}" if remark else passed
    count = len(sizes)
    alone = dict(zip(every, results[2 * count + count - 1]["durations"], strict=True))
    last = results[count - 1]["durations"]
    # All runs have one clock: a short time after long ones is a difference of large numbers.
    rounding = 4 * math.ulp(sum(each["time"] for each in results))
    delayed = []
    for number, (step, rounds) in enumerate(zip(schedule.steps, schedule.rounds, strict=True)):
        for index, (_, path) in enumerate(step):
            expected = alone[tuple(path)][0] + (rounds - 1) * chunks[-1] / model.bandwidth
            took = last[number][index]
            if took - expected > TOLERANCE * expected + rounding:
                delayed.append((number, index, took / expected if expected else math.inf))
    rows = [
        Row(size, results[place]["time"], results[count + place]["time"], library[place])
        for place, size in enumerate(sizes)
    ]
    transfers = sum(map(len, schedule.steps))
    return Replay(
        schedule.instance.name, tuple(rows), tuple(delayed), transfers, call, remark,
        max(schedule.rounds, default=1) > 1,
    )  # fmt: skip


def _library_times(
    instance: Instance, model: TimeModel, sizes: Sequence[int], folder: Path
) -> tuple[str, str, list[float | None]]:
    """Return the name of MPI's collective, or why there are no times, and its times by size.

    Its messages take shortest paths. Each takes a start-up, at the same time as others.
    """
    nothing: list[float | None] = [None] * len(sizes)
    call = smpi.library_call(instance)
    if call is None:
        return "", "MPI has no collective for these messages", nothing
    if not smpi.is_installed():
        return "", "SMPI is not installed; on Debian: apt-get install libsimgrid-dev", nothing
    routes = Routes(instance.network, 0)
    paths = {
        (f"node-{a}", f"node-{b}"): next(iter(routes.paths(a, b)), None)
        for a, b in permutations(call.nodes, 2)
    }
    found = {pair: path for pair, path in paths.items() if path is not None}
    if len(found) < len(paths):
        return "", "some nodes do not reach each other, so MPI's collective is left out", nothing
    text = platform(instance, model, found, startup=model.startup)
    try:
        return call.name, "", [*smpi.times(call, text, sizes, folder)]
    except InputError as error:  # the replay itself is complete
        return "", f"MPI's collective is left out: {error}", nothing


def platform(
    instance: Instance,
    model: TimeModel,
    paths: dict[tuple[str, str], NodePath],
    startup: float = 0.0,
) -> str:
    """Return the network as a platform of SimGrid (XML); a unit of time is a microsecond.

    Parameters
    ----------
    paths
        The path between every pair of hosts that exchange messages.
    startup
        Microseconds that every message takes in addition.
    """
    network = instance.network
    shared = {(b, a): (a, b) for a, b in network.half_duplex}
    names = {(a, b): f"{a}-{b}" if (a, b) in network.half_duplex else f"{a}>{b}"
             for a, b, _ in network.channels}  # fmt: skip
    names.update({one: names[other] for one, other in shared.items()})
    latency, width = f"{model.per_hop:.9g}s", model.bandwidth
    links = {names[a, b]: (capacity * width, latency) for a, b, capacity in network.channels}
    ports: dict[tuple[str, int], str] = {}
    for node in range(network.nodes):
        for side, limit in (
            ("inject", instance.model.inject_limit(node)),
            ("accept", instance.model.accept_limit(node)),
        ):
            if limit:
                ports[side, node] = f"{side} {node}"
                links[f"{side} {node}"] = (limit * width, "0s")
    routes = []
    for (first, last), path in paths.items():
        over = [ports.get(("inject", path[0])), *(names[hop] for hop in pairwise(path))]
        # A link of its own, with the bandwidth of one channel, however wide the path is.
        own = f"{first} {last}"
        links[own] = (width, f"{startup:.9g}s")
        over += [ports.get(("accept", path[-1])), own]
        inner = "".join(f"<link_ctn id={quoteattr(name)}/>" for name in over if name)
        routes.append(
            f'    <route src={quoteattr(first)} dst={quoteattr(last)} symmetrical="NO">'
            f"{inner}</route>"
        )
    hosts = sorted({host for pair in paths for host in pair})
    lines = [
        "<?xml version='1.0'?>",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        '<platform version="4.1">',
        f'  <zone id={quoteattr(network.name)} routing="Full">',
        *(f'    <host id={quoteattr(host)} speed="1Gf"/>' for host in hosts),
        *(
            f'    <link id={quoteattr(name)} bandwidth="{speed:.9g}Bps" latency="{delay}"/>'
            for name, (speed, delay) in links.items()
        ),
        *routes,
        "  </zone>",
        "</platform>",
    ]
    return "\n".join(lines) + "\n"


class _Hosts:
    """Names of hosts: those of a transfer are its own, as long as its step lasts.

    SimGrid has a single route between two hosts; between two nodes a schedule may have several, and
    on one of them several transfers of a step.
    """

    def __init__(self) -> None:
        self.paths: dict[tuple[str, str], NodePath] = {}
        self._names: dict[tuple[NodePath, int], tuple[str, str]] = {}
        self._count: Counter[tuple[int, int]] = Counter()

    def step(self, paths: Iterable[NodePath]) -> list[tuple[str, str, int]]:
        """Return the two hosts and the hops of every path of a step."""
        used: Counter[NodePath] = Counter()
        found = []
        for path in map(tuple, paths):
            found.append((*self._ends(path, used[path]), len(path) - 1))
            used[path] += 1
        return found

    def _ends(self, path: NodePath, copy: int) -> tuple[str, str]:
        if (path, copy) not in self._names:
            first, last = path[0], path[-1]
            number = self._count[first, last]
            self._count[first, last] += 1
            more = f".{number}" if number else ""
            names = f"node-{first}{more}", f"node-{last}{more}"
            self._names[path, copy] = names
            self.paths[names] = path
        return self._names[path, copy]


def direct_paths(instance: Instance) -> list[NodePath]:
    """Return a shortest path for every message, from its source to each destination.

    It passes an endpoint only where no other path leads there, as an endpoint may forward whole
    messages.

    Raises
    ------
    InputError
        No path leads to a destination.
    """
    network = instance.network
    routes = [Routes(each, 0) for each in (network, replace(network, endpoints=()))]
    pairs = []
    for message in instance.collective.messages:
        if isinstance(message, Message):
            pairs += [(message.source, other) for other in message.destinations]
        elif isinstance(message, Reduction):
            pairs += [(other, message.destination) for other in message.sources]
        else:
            pairs += [(a, b) for a in message.members for b in message.needing(a)]
    paths = {p: next(chain(*(each.paths(*p) for each in routes)), None) for p in {*pairs}}
    found = [path for pair in pairs if (path := paths[pair]) is not None]
    if len(found) < len(pairs):
        raise InputError(
            f"a destination of {instance.name} cannot be reached",
            where="schedule", hint="name a schedule whose messages all have a path",
        )  # fmt: skip
    return found


@cache
def simgrid_python() -> str:
    """Return a Python interpreter that has SimGrid's module.

    Raises
    ------
    InputError
        There is none.
    """
    for python in (sys.executable, SYSTEM_PYTHON):
        try:
            done = subprocess.run(
                [python, "-c", "import simgrid"], capture_output=True, timeout=60, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return python
    raise InputError("SimGrid is not installed", hint="on Debian: apt-get install python3-simgrid")


def _run(python: str, folder: Path) -> Any:
    words = [python, "-I", str(PROGRAM), "platform.xml", "plan.json"]
    return json.loads(smpi.run(words, folder, "SimGrid", MAX_SECONDS).splitlines()[-1])
