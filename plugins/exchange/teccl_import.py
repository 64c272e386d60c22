"""TE-CCL results: flows of chunks in epochs, checked in epochs, and as a schedule where possible.

Links that take several epochs for a chunk, switches that copy, and parts of chunks are what the
model of cchybrid lacks; what can be judged without them is judged here.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

from cchybrid.model import Instance, Message, Schedule, Transfer
from cchybrid.model.errors import InputError
from cchybrid.model.json_fields import expect, parse_json, take
from cchybrid.plugin.imported import BrokenRule, Imported, ImportRequest, OwnBound, Place

from .epoch_networks import TOLERANCE, Demands, EpochNetwork, Link, epoch_bound, nearly, recognise
from .epoch_rules import EpochRules, Flow, MetBy, Route, demands_lacking
from .message_table import MAX_MESSAGES, collective_for
from .msccl_import import HOP_BY_HOP, judged_on_used, used_network
from .placement import nodes_by_number

MAX_EPOCH = 1_000_000
MAX_EPOCHS_OF_A_CHUNK = 1000
"""Epochs that a link takes for a chunk."""
MAX_TIME_ERROR = Fraction(1, 1000)
"""Part by which the time of the collective may differ from that of its epochs."""

_ROUTE = (
    r"(\d{1,9})->(\d{1,9})(?: with volume ([\d.eE+-]{1,30}))? in epoch (\d{1,9})"
    r"(?: via switches (\d{1,9}(?:[,> -]{1,4}\d{1,9}){0,20}))?"
)
_FLOW = re.compile(r"Chunk (\d{1,9}) from (\d{1,9}) traveled over " + _ROUTE)
_HOP = re.compile(_ROUTE)
_DEMAND = re.compile(
    r"Demand at (\d{1,9}) for chunk (\d{1,9}) from (\d{1,9}) met by epoch (\d{1,9})"
)


def recognises_teccl(text: str) -> bool:
    """Return whether a text may be a result of TE-CCL."""
    return "-Epochs_Required" in text and text.lstrip().startswith("{")


def read_teccl(text: str, request: ImportRequest) -> Imported:
    """Return a result of TE-CCL, checked in epochs.

    On a named network, and where the rates of the links are unknown, an epoch is a step.

    Raises
    ------
    InputError
        It is no such result, or parts of chunks cannot be judged.
    """
    record = expect(parse_json(text), dict, "the file")
    flows = _read_flows(record)
    met_by, on_paths = _read_demands(record)
    demands = _demands_of(met_by)
    listed = sum(flow.volume for flow in flows)
    routes = {flow.route for flow in flows}
    unlisted = [flow for flow in on_paths if not flow.is_part and flow.route not in routes]
    flows = _all_flows(flows, [flow for flow in on_paths if flow.is_part])
    lost = sum(flow.volume for flow in flows) - listed
    whole = all(abs(flow.volume - 1) <= TOLERANCE for flow in flows)
    copies = any(len(goals) > 1 for goals in demands.values())
    if copies and not whole:
        raise InputError(
            "parts of chunks with several destinations: which part it is, the file does not say",
            where="Flows", hint="give whole chunks, or every chunk one destination",
        )  # fmt: skip
    parts = not copies and any(flow.is_part for flow in flows)
    epochs = _keyed(record, "Epochs_Required", int)
    gpus = frozenset(node for flow in flows for node in (flow.source, flow.start, flow.end))
    gpus |= {goal for goals in demands.values() for goal in goals}
    used = frozenset(node for flow in flows for node in flow.switches)
    known = None
    facts = [f"{len(gpus)} GPUs, {sum(map(len, demands.values()))} demands met, {epochs} epochs"]
    if request.network is None:
        links = {link for flow in flows for link in flow.hops}
        known = recognise(gpus, links)
        if known is None and (near := nearly(gpus, links)):
            facts.append(f"{near}: not judged by the rates of that cluster")
    elif used:
        raise InputError(
            f"paths over switch {min(used)}, and its links to GPUs are not those of a network",
            where="--topology", hint="leave it out",
        )  # fmt: skip
    rates = None if known is None else _chunks_per_epoch(record, known)
    switches = used if known is None else used | known.switches
    broken = EpochRules(epochs, met_by, parts, switches, rates).broken(flows)
    if request.collective is None:  # otherwise the messages are compared with its own
        broken += demands_lacking(gpus, used, demands, known)
    if as_switches := used & (gpus if known is None else known.gpus):
        text = f"GPU {min(as_switches)} forwards chunks as a switch does"
        broken.append(BrokenRule("no-switch", "Flows", text))
    if unlisted and not broken:
        text = "a path has this flow, which is not in the list of flows"
        broken.append(BrokenRule("missing-demand", unlisted[0].place, text))
    if lost > TOLERANCE:
        facts.append(f"its list of flows lacks a volume of {float(lost):g} chunks of its paths")
    own = None
    if known is not None and rates is not None:
        broken += _wrong_time(record, epochs)
        lower, reason = epoch_bound(known, switches, demands, rates, parts=parts)
        own = OwnBound(epochs, lower, "epochs", f"{known.name}: {reason}")
        if known.gpus - gpus:
            every = _all_demands(known, demands)
            full, why = epoch_bound(known, known.switches, every, rates, parts=parts)
            facts.append(f"with all {len(known.gpus)} GPUs at least {full} epochs: {why}")
    imported = Imported(
        broken=tuple(broken), limits=tuple(_limits(flows, whole, rates)), facts=tuple(facts),
        own=own, meaning_checked=True,
    )  # fmt: skip
    if whole:
        imported = _with_schedule(imported, flows, demands, sorted(gpus), request)
        if own is None:
            # An epoch in which nothing is sent takes a step, too.
            imported = replace(imported, length=epochs)
    if not imported.broken and own is None and imported.schedule is None:
        raise InputError(
            f"{imported.limits[-1]}, and its links have unknown rates", where="Flows",
            hint="give whole chunks, or a result for NDv2 or DGX-2 without --topology",
        )  # fmt: skip
    return imported


def _wrong_time(record: Mapping[str, Any], epochs: int) -> list[BrokenRule]:
    """Return the broken rule if the time of the collective contradicts that of its epochs."""
    epoch, time = (
        Fraction(_keyed(record, key, float)) for key in ("Epoch_Duration", "Collective_Finish_Time")
    )
    if abs(time - epochs * epoch) <= MAX_TIME_ERROR * time:
        return []
    text = f"{float(time):g} s for {epochs} epochs of {float(epoch):g} s"
    return [BrokenRule("wrong-time", "Collective_Finish_Time", text)]


def _keyed(record: Mapping[str, Any], name: str, kind: type) -> Any:
    """Return the value of a key such as ``3-Epochs_Required``, whatever its number."""
    keys = [key for key in record if key.partition("-")[2].lower() == name.lower()]
    if not keys:
        raise InputError("the key is missing", where=name, hint="give a whole result of TE-CCL")
    if len(keys) > 1:
        raise InputError(f"{keys[0]} beside it", where=keys[1], hint="leave one of them out")
    value: Any = take(record, keys[0], kind, "")
    if kind is int and not 0 < value <= MAX_EPOCH:
        raise InputError(f"{value}", where=keys[0], hint=f"use 1 to {MAX_EPOCH}")
    return value


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
    return flows


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
    switches = tuple(map(int, re.findall(r"\d+", via or "")))
    ends, is_part = (int(start), int(end)), volume is not None
    return Flow(source, chunk, *ends, amount, is_part, int(epoch), switches, where)


def _all_flows(listed: list[Flow], paths: list[Flow]) -> list[Flow]:
    """Return the flows on the paths, and what the list has beyond them.

    Of equal parts of a chunk on one link in one epoch, the list names one only.
    """
    if not paths:
        return listed
    beyond: dict[Route, Fraction] = defaultdict(Fraction)
    for flow in listed:
        beyond[flow.route] += flow.volume
    for flow in paths:
        beyond[flow.route] -= flow.volume
    first = {flow.route: flow for flow in reversed(listed)}
    return [*paths, *(
        replace(first[route], volume=volume)
        for route, volume in beyond.items() if volume > TOLERANCE
    )]  # fmt: skip


def _demands_of(met_by: MetBy) -> Demands:
    """Return the nodes that need a chunk, per source and chunk."""
    found: dict[tuple[int, int], set[int]] = defaultdict(set)
    for source, chunk, goal in met_by:
        found[source, chunk].add(goal)
    return {key: frozenset(goals) for key, goals in found.items()}


def _read_demands(record: Mapping[str, Any]) -> tuple[MetBy, list[Flow]]:
    """Return the demands, and the flows on all paths."""
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
        found[source, chunk, goal] = min(epoch, found.get((source, chunk, goal), epoch))
        for number, path in enumerate(expect(paths, list, key)):
            for hop in path if isinstance(path, list) else [[0, path]]:
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


def _chunks_per_epoch(record: Mapping[str, Any], network: EpochNetwork) -> dict[Link, Fraction]:
    """Return the chunks per epoch of each link, from the duration, the time and the bandwidth.

    TE-CCL's bandwidth is a chunk of each GPU in the time, however many chunks a GPU has.
    """
    epoch, time, bandwidth = (
        Fraction(_keyed(record, key, float))
        for key in ("Epoch_Duration", "Collective_Finish_Time", "Algo_Bandwidth")
    )
    chunk = time * bandwidth / len(network.gpus)
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


def _all_demands(network: EpochNetwork, demands: Demands) -> Demands:
    """Return the demands of all GPUs, in the pattern of those given."""
    if any(len(goals) > 1 for goals in demands.values()):
        chunks = {chunk for _, chunk in demands}
        return {(s, c): network.gpus - {s} for s in network.gpus for c in chunks}
    return {(s, d): frozenset({d}) for s in network.gpus for d in network.gpus if s != d}


def _limits(flows: list[Flow], whole: bool, rates: Mapping[Link, Fraction] | None) -> list[str]:
    limits = []
    if rates is None:
        limits.append("the rates of its links are unknown: an epoch is a step, on every link")
    else:
        slow = {hop for flow in flows for hop in flow.hops if rates[hop] < 1}
        if slow:
            longest = max(ceil(1 / rates[hop]) for hop in slow)
            limits.append(f"links of up to {longest} epochs a chunk are no steps of this model")
    if any(flow.switches for flow in flows):
        limits.append("switches copy; here a path over a switch is a channel of its own")
    if not whole:
        smallest = min(flow.volume for flow in flows if abs(flow.volume - 1) > TOLERANCE)
        limits.append(f"parts of chunks, such as a volume of {float(smallest):g}: no schedule here")
    return limits


def _with_schedule(
    imported: Imported, flows: list[Flow], demands: Demands, gpus: list[int], request: ImportRequest
) -> Imported:
    """Return the result with a schedule: a step for each epoch in which something is sent."""
    index = nodes_by_number(gpus, request.network)
    messages = {
        (source, chunk): Message(index[source], tuple(sorted(index[goal] for goal in goals)))
        for (source, chunk), goals in sorted(demands.items())
        if source not in goals
    }
    terminals = index.values() if request.network is None else request.network.terminals
    collective, numbers = collective_for(request, messages, terminals)
    steps: dict[int, list[Transfer]] = defaultdict(list)
    places: dict[Place, str] = {}
    used = {epoch: k for k, epoch in enumerate(sorted({flow.epoch for flow in flows}))}
    for flow in sorted(flows, key=lambda flow: flow.epoch):
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
    facts = imported.facts if request.network else (*imported.facts, judged_on_used(network))
    return replace(imported, instance=instance, schedule=schedule, places=places, facts=facts)
