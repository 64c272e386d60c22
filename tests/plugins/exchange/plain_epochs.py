"""Results of TE-CCL made by a plain greedy search, and judged by a plain simulation of epochs.

Neither imports anything of the importer; networks are given by their links.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.plugins.exchange.foreign_texts import teccl_demands, teccl_result

Links = Mapping[tuple[int, int], Fraction]
"""Gigabytes per second of each link."""
Sends = list[tuple[int, int, tuple[int, ...]]]
"""Epoch, source of the chunk, and the nodes on the way, of each flow of whole chunks."""


class Traffic:
    """Chunks that enter links, epoch by epoch, each link with its rate."""

    def __init__(self, links: Links, switches: Sequence[int], duration: float, size: float) -> None:
        """Take the seconds of an epoch, and the gigabytes of a chunk."""
        self.switches = set(switches)
        self.rates = {
            link: (rate * Fraction(duration) / Fraction(size)).limit_denominator(1000)
            for link, rate in links.items()
        }
        self.entered: dict[tuple[int, int], dict[int, set[int]]] = {
            link: defaultdict(set) for link in links
        }

    def times(self, epoch: int, nodes: Sequence[int]) -> tuple[list[int], int]:
        """Return the epoch in which each link is entered, and that of the arrival."""
        found = []
        for a, b in pairwise(nodes):
            found.append(epoch)
            if a not in self.switches:
                epoch += math.ceil(1 / self.rates[a, b])
            assert {a, b} - self.switches, "no known cluster has links between switches"
        return found, epoch

    def fits(self, link: tuple[int, int], epoch: int) -> bool:
        """Return whether no window with this epoch has too many chunks."""
        rate, entered = self.rates[link], self.entered[link]
        window = math.ceil(1 / rate)
        return all(
            sum(len(entered.get(k, ())) for k in range(first, first + window)) <= rate * window
            for first in range(epoch - window + 1, epoch + 1)
        )

    def enter(self, chunk: int, nodes: Sequence[int], times: Sequence[int]) -> list[set[int]]:
        """Put a chunk on its links; return the sets that it is new in."""
        entered = [self.entered[k][t] for k, t in zip(pairwise(nodes), times, strict=True)]
        new = [each for each in entered if chunk not in each]
        for each in new:
            each.add(chunk)
        return new


def greedy_allgather(
    links: Links, gpus: Sequence[int], switches: Sequence[int], duration: float, size: float
) -> tuple[Sends, int]:
    """Return the flows of an allgather of one chunk of each GPU, and its number of epochs."""
    traffic = Traffic(links, switches, duration, size)
    held: dict[int, dict[int, int]] = {gpu: {gpu: 0} for gpu in gpus}  # chunk: since which epoch
    out: defaultdict[int, list[int]] = defaultdict(list)
    for a, b in sorted(links):
        out[a].append(b)
    routes = [(a, b) for a in gpus for b in out[a] if b not in traffic.switches]
    routes += [(a, s, b) for a in gpus for s in out[a] if s in traffic.switches for b in out[s]
               if b != a]  # fmt: skip
    sends: Sends = []
    epoch = last = 0
    while any(len(chunks) < len(gpus) for chunks in held.values()):
        for nodes in routes:
            times, arrival = traffic.times(epoch, nodes)
            start, end = nodes[0], nodes[-1]
            for chunk, since in sorted(held[start].items()):
                if since > epoch or chunk in held[end]:
                    continue
                new = traffic.enter(chunk, nodes, times)
                if all(map(traffic.fits, pairwise(nodes), times)):
                    held[end][chunk] = arrival
                    last = max(last, arrival)
                    sends.append((epoch, chunk, nodes))
                else:
                    for each in new:
                        each.discard(chunk)
        epoch += 1
    return sends, last


def result_of(sends: Sends, epochs: int, gpus: Sequence[int], duration: float, size: float) -> str:
    """Return the file of an allgather of one chunk of each GPU."""
    flows = []
    for epoch, chunk, (start, *via, end) in sends:
        text = f"Chunk 0 from {chunk} traveled over {start}->{end} in epoch {epoch}"
        flows.append(text + (f" via switches {' -> '.join(map(str, via))}" if via else ""))
    paths = teccl_demands(gpus, epochs - 1)
    return teccl_result(flows, paths, epochs, duration, size * len(gpus))


def allgather_of(
    network: Any, duration: float = 0.005, size: float = 1 / 16, spare: int = 0
) -> str:
    """Return the file of a greedy allgather; by default links of NDv2 carry whole chunks."""
    gpus = sorted(network.gpus)
    sends, epochs = greedy_allgather(network.links, gpus, sorted(network.switches), duration, size)
    return result_of(sends, epochs + spare, gpus, duration, size)


def is_valid(text: str, links: Links, gpus: Sequence[int], switches: Sequence[int]) -> bool:
    """Return whether a file of whole chunks keeps the rules, epoch by epoch."""
    record = {key.partition("-")[2].lower(): value for key, value in json.loads(text).items()}
    epochs, duration = record["epochs_required"], record["epoch_duration"]
    finish = record["collective_finish_time"]
    if not math.isclose(finish, epochs * duration, rel_tol=1e-3):
        return False
    traffic = Traffic(links, switches, duration, finish * record["algo_bandwidth"] / len(gpus))
    flows = []
    for flow in record["flows"]:
        _, chunk, start, end, epoch, *via = map(int, re.findall(r"\d+", flow))
        flows.append((epoch, chunk, (start, *via, end)))
    if any(epoch >= epochs for epoch, *_ in flows):
        return False
    held: defaultdict[int, dict[int, int]] = defaultdict(dict, {gpu: {gpu: 0} for gpu in gpus})
    for epoch, chunk, nodes in sorted(flows):
        if held[nodes[0]].get(chunk, epochs + 1) > epoch:
            return False
        times, arrival = traffic.times(epoch, nodes)
        traffic.enter(chunk, nodes, times)
        held[nodes[-1]][chunk] = min(arrival, held[nodes[-1]].get(chunk, arrival))
    pairs = {}
    for key in record["chunk paths"]:
        goal, _, chunk, epoch = map(int, re.findall(r"\d+", key))
        pairs[chunk, goal] = min(epochs, epoch + 1)
    if set(pairs) != {(a, b) for a in gpus for b in gpus if a != b}:
        return False
    if any(held[goal].get(chunk, epochs + 1) > by for (chunk, goal), by in pairs.items()):
        return False
    links_and_epochs = (
        (link, epoch) for link, used in traffic.entered.items() for epoch in [*used]
    )
    return all(traffic.fits(link, epoch) for link, epoch in links_and_epochs)


def halved_alltoall(links: Links, gpus: Sequence[int], duration: float, size: float) -> str:
    """Return an all-to-all: each chunk in halves, one after the other, on a shortest path.

    An epoch must have room for a chunk on every link; ``size`` is that of a chunk.
    """
    flows: list[str] = []
    paths: dict[str, Any] = {}
    epoch = 0
    for source in gpus:
        before = {source: source}
        for node in (queue := [source]):  # breadth first: the list grows
            for a, b in sorted(links):
                if a == node and b not in before:
                    before[b] = a
                    queue.append(b)
        for goal in gpus:
            if goal == source:
                continue
            nodes = [goal]
            while nodes[0] != source:
                nodes.insert(0, before[nodes[0]])
            halves = [
                [[t, f"{a}->{b} with volume 0.5 in epoch {t}"]
                 for t, (a, b) in enumerate(pairwise(nodes), first)]
                for first in (epoch, epoch + 1)
            ]  # fmt: skip
            epoch += len(nodes)
            paths[f"Demand at {goal} for chunk {goal} from {source} met by epoch {epoch}"] = halves
            flows += [f"Chunk {goal} from {source} traveled over {text}"
                      for half in halves for _, text in half]  # fmt: skip
    return teccl_result(flows, paths, epoch, duration, size * len(gpus))


def is_valid_in_parts(text: str, links: Links, gpus: Sequence[int]) -> bool:
    """Return whether an all-to-all in parts of chunks keeps the rules, epoch by epoch.

    Amounts are exact, so a file must not depend on the rounding that is allowed.
    """
    record = {key.partition("-")[2].lower(): value for key, value in json.loads(text).items()}
    epochs, duration = record["epochs_required"], record["epoch_duration"]
    finish = record["collective_finish_time"]
    size = finish * record["algo_bandwidth"] / len(gpus)
    rates = Traffic(links, (), duration, size).rates
    on_paths: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    listed: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)

    def add(amounts: dict[tuple[int, ...], Fraction], source: int, chunk: int, hop: str) -> None:
        ends, volume, epoch = re.split(r" with volume | in epoch ", hop)
        a, b = map(int, ends.split("->"))
        amounts[int(epoch), a, b, source, chunk] += Fraction(volume)

    goals: dict[tuple[int, int], tuple[int, int]] = {}
    for key, paths in record["chunk paths"].items():
        goal, chunk, source, met_by = map(int, re.findall(r"\d+", key))
        goals[source, chunk] = goal, met_by
        for _, hop in (hop for path in paths for hop in path):
            add(on_paths, source, chunk, hop)
    for flow in record["flows"]:
        head, hop = flow.split(" traveled over ")
        chunk, source = map(int, re.findall(r"\d+", head))
        add(listed, source, chunk, hop)
    moves: defaultdict[int, list[tuple[tuple[int, int], int, int, Fraction]]] = defaultdict(list)
    for key in {*on_paths, *listed}:
        epoch, a, b, source, chunk = key
        moves[epoch].append(((a, b), source, chunk, max(on_paths[key], listed[key])))
    if {(source, goal) for (source, _), (goal, _) in goals.items()} != {
        (a, b) for a in gpus for b in gpus if a != b
    }:
        return False
    amount: defaultdict[tuple[int, int, int], Fraction] = defaultdict(Fraction)
    arrived: defaultdict[tuple[int, int, int], Fraction] = defaultdict(Fraction)
    for epoch in range(max(moves) + 1):
        used: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for (a, b), source, chunk, volume in moves[epoch]:
            amount[source, chunk, a] -= volume
            used[a, b] += volume
        if any(volume > rates[link] for link, volume in used.items()):
            return False
        if any(left < 0 and node != source for (source, _, node), left in amount.items()):
            return False
        for (_, b), source, chunk, volume in moves[epoch]:
            amount[source, chunk, b] += volume
            arrived[source, chunk, b] += volume
        for key, (goal, met_by) in goals.items():
            if met_by == epoch and arrived[*key, goal] < 1:
                return False
    complete = all(amount[*key, goal] >= 1 for key, (goal, _) in goals.items())
    in_time = max(moves) < epochs and math.isclose(finish, epochs * duration, rel_tol=1e-3)
    return complete and in_time
