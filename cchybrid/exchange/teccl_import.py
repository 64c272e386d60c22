"""TE-CCL results: flows of chunks in epochs, checked in epochs, and as a schedule where possible.

Links that take several epochs for a chunk, switches that copy, and parts of chunks are what the
model of cchybrid lacks; what can be judged without them is judged here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Any

from cchybrid.exchange.epoch_networks import EpochNetwork, Link, epoch_bound, recognise
from cchybrid.exchange.message_table import MAX_MESSAGES, collective_of
from cchybrid.exchange.msccl_import import HOP_BY_HOP, used_network
from cchybrid.model import Instance, Message, Schedule, Transfer
from cchybrid.model.errors import InputError
from cchybrid.model.json_fields import expect, parse_json, take
from cchybrid.model.shown import counted
from cchybrid.plugin.imported import BrokenRule, Imported, ImportRequest, OwnBound, Place

MAX_EPOCH = 1_000_000
MAX_EPOCHS_OF_A_CHUNK = 1000
"""Epochs that a link takes for a chunk."""
TOLERANCE = Fraction(1, 1000)
"""Volume of a chunk below which differences are those of a solver's arithmetic."""

_ROUTE = (
    r"(\d{1,9})->(\d{1,9})(?: with volume ([\d.eE+-]{1,30}))? in epoch (\d{1,9})"
    r"(?: via switches ([\d,> -]{1,200}))?"
)
_FLOW = re.compile(r"Chunk (\d{1,9}) from (\d{1,9}) traveled over " + _ROUTE)
_HOP = re.compile(_ROUTE)
_DEMAND = re.compile(
    r"Demand at (\d{1,9}) for chunk (\d{1,9}) from (\d{1,9}) met by epoch (\d{1,9})"
)


@dataclass(frozen=True)
class Flow:
    """A chunk (or a part of it) that travels from one GPU to another, over switches or not."""

    source: int
    chunk: int
    start: int
    end: int
    volume: Fraction
    epoch: int
    switches: tuple[int, ...]
    where: str

    @property
    def place(self) -> str:
        """The place in the file's terms."""
        via = f" via {', '.join(map(str, self.switches))}" if self.switches else ""
        where = f"epoch {self.epoch}, {self.where} ({self.start}->{self.end}{via})"
        return f"{where}, chunk {self.chunk} from {self.source}"

    @property
    def hops(self) -> list[Link]:
        """The links on the way."""
        return list(pairwise((self.start, *self.switches, self.end)))


def recognises_teccl(text: str) -> bool:
    """Return whether a text may be a result of TE-CCL."""
    return "-Epochs_Required" in text and text.lstrip().startswith("{")


def read_teccl(text: str, request: ImportRequest) -> Imported:
    """Return a result of TE-CCL, checked in epochs.

    Raises
    ------
    InputError
        It is no such result.
    """
    record = expect(parse_json(text), dict, "the file")
    flows = _read_flows(record)
    met, paths = _read_demands(record)
    listed = sum(flow.volume for flow in flows)
    if paths:  # of parts of chunks, the list of flows names those that are equal once only
        flows = sorted(paths, key=lambda flow: flow.epoch)
    lost = sum(flow.volume for flow in flows) - listed
    epochs = _keyed(record, "Epochs_Required", int)
    demands: dict[tuple[int, int], set[int]] = defaultdict(set)
    for source, chunk, goal in met:
        demands[source, chunk].add(goal)
    gpus = {node for flow in flows for node in (flow.source, flow.start, flow.end)}
    gpus |= {goal for goals in demands.values() for goal in goals}
    used = {node for flow in flows for node in flow.switches}
    known = recognise(gpus, {link for flow in flows for link in flow.hops})
    rates = None if known is None else _chunks_per_epoch(record, known, demands)
    broken = _check_flows(flows, met, epochs, used, rates)
    broken += _check_demands(gpus, used, demands, known)
    facts = [f"{len(gpus)} GPUs, {len(met)} demands met, {epochs} epochs"]
    if lost > TOLERANCE:
        facts.append(f"its list of flows lacks a volume of {float(lost):g} chunks of its paths")
    own = OwnBound(epochs, 0, "epochs", "the network is none of those known, so no bound")
    if known is not None and rates is not None:
        sets = {key: frozenset(goals) for key, goals in demands.items()}
        lower, reason = epoch_bound(known, frozenset(used) | known.switches, sets, rates)
        own = OwnBound(epochs, lower, "epochs", f"{known.name}: {reason}")
        missing = known.gpus - gpus
        if missing:
            every = _all_demands(known, sets)
            full, why = epoch_bound(known, known.switches, every, rates)
            facts.append(f"with all {len(known.gpus)} GPUs at least {full} epochs: {why}")
    limits = _limits(flows, rates)
    imported = Imported(broken=tuple(broken), limits=tuple(limits), facts=tuple(facts), own=own)
    if any(abs(flow.volume - 1) > TOLERANCE for flow in flows):
        return imported
    return _with_schedule(imported, flows, demands, sorted(gpus), request)


def _keyed(record: Mapping[str, Any], name: str, kind: type) -> Any:
    """Return the value of a key such as ``3-Epochs_Required``, whatever its number."""
    for key in record:
        if key.partition("-")[2].lower() == name.lower():
            value: Any = take(record, key, kind, "")
            if kind is int and not 0 < value <= MAX_EPOCH:
                raise InputError(f"{value}", where=key, hint=f"use 1 to {MAX_EPOCH}")
            return value
    raise InputError("the key is missing", where=name, hint="give a whole result of TE-CCL")


def _read_flows(record: Mapping[str, Any]) -> list[Flow]:
    listed = _keyed(record, "Flows", list)
    if len(listed) > MAX_MESSAGES:
        raise InputError(f"more than {MAX_MESSAGES:,} flows", hint="audit a smaller file")
    flows = []
    for index, text in enumerate(listed):
        found = _FLOW.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise InputError(
                f"{str(text)[:60]!r} is no flow", where=f"Flows[{index}]",
                hint="write Chunk C from S traveled over A->B in epoch E",
            )  # fmt: skip
        chunk, source, *rest = found.groups()
        flows.append(_flow(int(source), int(chunk), rest, f"flow {index}", f"Flows[{index}]"))
    return sorted(flows, key=lambda flow: flow.epoch)


def _flow(source: int, chunk: int, fields: list[Any], where: str, place: str) -> Flow:
    start, end, volume, epoch, via = fields
    try:
        rough = float(volume or 1)  # first, as an exponent may be huge
        amount = Fraction(volume or 1) if 0 < rough <= MAX_EPOCH else Fraction(0)
    except ValueError:
        amount = Fraction(0)
    if not amount or int(epoch) > MAX_EPOCH:
        raise InputError(
            f"volume {volume}, epoch {epoch}", where=place,
            hint=f"use numbers above 0 and up to {MAX_EPOCH}",
        )  # fmt: skip
    switches = tuple(map(int, re.findall(r"\d{1,9}", via or "")))
    return Flow(source, chunk, int(start), int(end), amount, int(epoch), switches, where)


def _read_demands(record: Mapping[str, Any]) -> tuple[dict[tuple[int, int, int], int], list[Flow]]:
    """Return the epoch by which each demand (source, chunk, destination) is said to be met.

    And, where paths have volumes, the flows on all paths.
    """
    found: dict[tuple[int, int, int], int] = {}
    flows: list[Flow] = []
    for key, paths in _keyed(record, "Chunk paths", dict).items():
        match = _DEMAND.fullmatch(key)
        if match is None:
            raise InputError(
                f"{key[:60]!r} is no demand", where="Chunk paths",
                hint="write Demand at D for chunk C from S met by epoch E",
            )  # fmt: skip
        goal, chunk, source, epoch = map(int, match.groups())
        found[source, chunk, goal] = epoch
        for number, path in enumerate(expect(paths, list, key)):
            for hop in path if isinstance(path, list) else ():
                text = hop[1] if isinstance(hop, list) and len(hop) == 2 else None
                hop_found = _HOP.fullmatch(text) if isinstance(text, str) else None
                if hop_found is None:
                    raise InputError(
                        f"{str(hop)[:60]!r} is no hop", where=key,
                        hint='write [E, "A->B with volume V in epoch E"]',
                    )  # fmt: skip
                where = f"path {number} to {goal}"
                flows.append(_flow(source, chunk, list(hop_found.groups()), where, key))
    if not found:
        raise InputError("no demands", where="Chunk paths", hint="give a whole result of TE-CCL")
    return found, flows


def _chunks_per_epoch(
    record: Mapping[str, Any], network: EpochNetwork, demands: Mapping[tuple[int, int], object]
) -> dict[Link, Fraction]:
    """Return the chunks per epoch of each link, from the duration, the time and the bandwidth."""
    epoch, time, bandwidth = (
        Fraction(_keyed(record, key, float))
        for key in ("Epoch_Duration", "Collective_Finish_Time", "Algo_Bandwidth")
    )
    scatters = not _copies(demands)
    per_source = 1 if scatters else len({chunk for _, chunk in demands})
    chunk = time * bandwidth / len(network.gpus) / per_source
    if not (epoch > 0 and chunk > 0):
        raise InputError("a time or bandwidth of 0", where="Epoch_Duration", hint="correct it")
    rates = {
        link: (rate * epoch / chunk).limit_denominator(MAX_EPOCHS_OF_A_CHUNK)
        for link, rate in network.links.items()
    }
    if not all(Fraction(1, MAX_EPOCHS_OF_A_CHUNK) <= each <= MAX_EPOCH for each in rates.values()):
        raise InputError(
            "an epoch that is far too short or too long for a chunk", where="Epoch_Duration",
            hint="give seconds, and gigabytes per second",
        )  # fmt: skip
    return rates


def _copies(demands: Mapping[tuple[int, int], Any]) -> bool:
    return any(len(goals) > 1 for goals in demands.values())


def _check_flows(
    flows: list[Flow],
    met: Mapping[tuple[int, int, int], int],
    epochs: int,
    switches: set[int],
    rates: Mapping[Link, Fraction] | None,
) -> list[BrokenRule]:
    """Return the first broken rule of each kind: who has what, when, and how much."""
    copied: dict[tuple[int, int], set[int]] = {}
    for source, chunk, goal in met:
        copied.setdefault((source, chunk), set()).add(goal)
    copies = _copies(copied)
    # Per source, chunk and node: the epochs (exclusive) at which volume has arrived.
    arrivals: dict[tuple[int, int, int], list[tuple[int, Fraction]]] = defaultdict(list)
    sent: dict[tuple[int, int, int], Fraction] = defaultdict(Fraction)
    broken: dict[str, BrokenRule] = {}
    for flow in flows:
        if flow.epoch >= epochs:
            text = f"it is after the last of {epochs} epochs"
            broken.setdefault("too-late", BrokenRule("too-late", flow.place, text))
        here = (flow.source, flow.chunk, flow.start)
        if flow.start != flow.source:
            arrived = sum((v for when, v in arrivals[here] if when <= flow.epoch), Fraction())
            needed = flow.volume + (0 if copies else sent[here])
            if arrived + TOLERANCE < needed:
                text = f"GPU {flow.start} has {float(arrived):g} of the chunk by then"
                text += f" and sends {float(needed):g}"
                broken.setdefault("not-informed", BrokenRule("not-informed", flow.place, text))
        sent[here] += flow.volume
        lasts = _duration(flow, switches, rates) if copies else 1
        arrivals[flow.source, flow.chunk, flow.end].append((flow.epoch + lasts, flow.volume))
    for (source, chunk, goal), _ in sorted(met.items()):
        key = (source, chunk, goal)
        arrived = sum((v for when, v in arrivals[key] if when <= epochs), Fraction())
        if arrived - (0 if copies else sent[key]) + TOLERANCE < 1:
            place = f"demand at {goal} for chunk {chunk} from {source}"
            text = f"{float(arrived):g} of the chunk arrives within {epochs} epochs"
            broken.setdefault("missing-demand", BrokenRule("missing-demand", place, text))
            break
    if rates is not None:
        overload = _overload(flows, copies, switches, rates)
        if overload is not None:
            broken["link-overload"] = overload
    return list(broken.values())


def _duration(flow: Flow, switches: set[int], rates: Mapping[Link, Fraction] | None) -> int:
    """Return the epochs of a whole chunk; switches forward at once, unknown links take one."""
    if rates is None:
        return 1
    return sum(ceil(1 / rates[hop]) for hop in flow.hops if hop[0] not in switches)


def _overload(
    flows: list[Flow], copies: bool, switches: set[int], rates: Mapping[Link, Fraction]
) -> BrokenRule | None:
    """Return the first epochs in which a link carries more than its rate.

    Links out of switches are left out, as the file does not say when a switch forwards.
    """
    volumes: dict[Link, dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    seen: set[tuple[Link, int, int, int]] = set()
    for flow in flows:
        hop = flow.hops[0]
        key = (hop, flow.epoch, flow.source, flow.chunk)
        if hop[0] in switches or (copies and key in seen):
            continue  # a switch copies what it has received once
        seen.add(key)
        volumes[hop][flow.epoch] += flow.volume
    for hop, by_epoch in sorted(volumes.items()):
        # Whole chunks take several epochs on a slow link; parts of chunks are sent in each.
        window = ceil(1 / rates[hop]) if copies else 1
        limit = rates[hop] * window
        for epoch in sorted(by_epoch):
            total = sum((by_epoch.get(epoch + k, Fraction()) for k in range(window)), Fraction())
            if total > limit + TOLERANCE:
                text = f"link {hop[0]}->{hop[1]} carries {float(total):g} chunks"
                text += f" in {counted(window, 'epoch')}, {float(limit):g} at most"
                return BrokenRule("link-overload", f"epoch {epoch}", text)
    return None


def _check_demands(
    gpus: set[int],
    switches: set[int],
    demands: Mapping[tuple[int, int], set[int]],
    known: EpochNetwork | None,
) -> list[BrokenRule]:
    """Return the first pair of GPUs of the network between which nothing is demanded."""
    everyone = known.gpus if known is not None else frozenset(gpus)
    pairs = {(source, goal) for (source, _), goals in demands.items() for goal in goals}
    complete = len(everyone) * (len(everyone) - 1)
    for source in sorted(everyone):
        for goal in sorted(everyone):
            if source != goal and (source, goal) not in pairs:
                text = f"nothing is demanded from GPU {source} to GPU {goal}"
                if switches & everyone:
                    text += f": GPU {min(switches & everyone)} is used as a switch"
                text += f"; {len(pairs)} of {complete} pairs of {len(everyone)} GPUs are served"
                return [BrokenRule("missing-demand", "Chunk paths", text)]
    return []


def _all_demands(
    network: EpochNetwork, demands: Mapping[tuple[int, int], frozenset[int]]
) -> dict[tuple[int, int], frozenset[int]]:
    """Return the demands of all GPUs, in the pattern of those given."""
    if _copies(demands):
        chunks = {chunk for _, chunk in demands}
        return {(s, c): network.gpus - {s} for s in network.gpus for c in chunks}
    return {(s, d): frozenset({d}) for s in network.gpus for d in network.gpus if s != d}


def _limits(flows: list[Flow], rates: Mapping[Link, Fraction] | None) -> list[str]:
    limits = []
    if rates is None:
        limits.append("the rates of its links are unknown: every link counts as one epoch")
    else:
        slow = {hop for flow in flows for hop in flow.hops if rates[hop] < 1}
        if slow:
            longest = max(ceil(1 / rates[hop]) for hop in slow)
            limits.append(f"links of up to {longest} epochs a chunk are no steps of this model")
    if any(flow.switches for flow in flows):
        limits.append("switches copy; here a path over a switch is a channel of its own")
    parts = sorted({flow.volume for flow in flows if abs(flow.volume - 1) > TOLERANCE})
    if parts:
        limits.append(f"parts of chunks, such as a volume of {float(parts[0]):g}: no schedule here")
    return limits


def _with_schedule(
    imported: Imported,
    flows: list[Flow],
    demands: Mapping[tuple[int, int], set[int]],
    gpus: list[int],
    request: ImportRequest,
) -> Imported:
    """Return the result with a schedule: a step for each epoch in which something is sent."""
    index = {gpu: number for number, gpu in enumerate(gpus)}
    messages = {
        (source, chunk): Message(index[source], tuple(sorted(index[goal] for goal in goals)))
        for (source, chunk), goals in demands.items()
        if source not in goals
    }
    collective, numbers = collective_of(sorted(messages.items()))
    steps: dict[int, list[Transfer]] = defaultdict(list)
    places: dict[Place, str] = {}
    used = {epoch: k for k, epoch in enumerate(sorted({flow.epoch for flow in flows}))}
    for flow in flows:
        key = (flow.source, flow.chunk)
        if key not in numbers:
            return replace(
                imported, limits=(*imported.limits, "it sends chunks that are not demanded")
            )
        step = used[flow.epoch]
        places[step, len(steps[step])] = flow.place
        steps[step].append(Transfer(numbers[key], (index[flow.start], index[flow.end])))
    listed = [steps[k] for k in range(len(used))]
    network = request.network or replace(
        used_network(request.name, len(gpus), listed), node_names=tuple(map(str, gpus))
    )
    instance = Instance(network, collective, HOP_BY_HOP)
    schedule = Schedule(instance, tuple(map(tuple, listed)))
    return replace(imported, instance=instance, schedule=schedule, places=places)
