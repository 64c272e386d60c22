"""The rules of flows in epochs, as the two programs of TE-CCL have them.

An allgather is a program of whole chunks: on a link that carries R chunks per epoch a chunk takes
w = ceil(1/R) epochs, and in w epochs in a row at most w R chunks may begin; a switch forwards a
chunk at once, in the epoch in which it has arrived, to any number of GPUs. An all-to-all
is a program of parts of chunks, which are never copied: every link, also one out of a switch, takes
one epoch, in which it carries at most R.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil

from cchybrid.model.shown import counted
from cchybrid.plugin.imported import BrokenRule

from .epoch_networks import TOLERANCE, Demands, EpochNetwork, Link

MetBy = Mapping[tuple[int, int, int], int]
"""Per source, chunk and destination, the epoch by whose end the whole chunk has arrived."""
Route = tuple[int, int, int, int, int, tuple[int, ...]]
"""Source, chunk, start, end, epoch and switches of a flow."""


@dataclass(frozen=True)
class Flow:
    """A chunk (or a part of it) that travels from one GPU to another, over switches or not.

    ``is_part`` tells whether the file states its volume.
    """

    source: int
    chunk: int
    start: int
    end: int
    volume: Fraction
    is_part: bool
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
    def route(self) -> Route:
        """All of the flow but its volume."""
        return self.source, self.chunk, self.start, self.end, self.epoch, self.switches

    @property
    def hops(self) -> list[Link]:
        """The links on the way."""
        return list(pairwise((self.start, *self.switches, self.end)))


@dataclass(frozen=True)
class EpochRules:
    """The rules of a result.

    Parameters
    ----------
    epochs
        The number of epochs.
    met_by
        The demands, and when the file says that they are met.
    parts
        Whether parts of chunks are sent, and none is copied.
    switches
        The nodes that forward at once.
    rates
        Chunks per epoch of each link; ``None`` if they are unknown: then links have room for all,
        and take one epoch.
    """

    epochs: int
    met_by: MetBy
    parts: bool
    switches: frozenset[int]
    rates: Mapping[Link, Fraction] | None

    def broken(self, flows: Iterable[Flow]) -> list[BrokenRule]:
        """Return the first broken rule of each kind: who has what, when, and how much."""
        flows = sorted(flows, key=lambda flow: flow.epoch)
        found = [self._too_late(flows), self._not_informed(flows), self._overload(flows)]
        return [each for each in found if each is not None]

    def _too_late(self, flows: list[Flow]) -> BrokenRule | None:
        for flow in flows:
            if flow.epoch >= self.epochs:
                text = f"it is after the last of {self.epochs} epochs"
                return BrokenRule("too-late", flow.place, text)
        return None

    def _not_informed(self, flows: list[Flow]) -> BrokenRule | None:
        """Return the first flow that sends what has not arrived, or a demand that is not met."""
        # Per source, chunk and node: the epochs (exclusive) at which volume has arrived.
        arrivals: dict[tuple[int, int, int], list[tuple[int, Fraction]]] = defaultdict(list)
        sent: dict[tuple[int, int, int], Fraction] = defaultdict(Fraction)

        def arrived(key: tuple[int, int, int], by: int) -> Fraction:
            return sum((v for when, v in arrivals[key] if when <= by), Fraction())

        def left(key: tuple[int, int, int], by: int) -> Fraction:
            return arrived(key, by) - (sent[key] if self.parts else 0)

        for flow in flows:
            if flow.start != flow.source:
                has = left((flow.source, flow.chunk, flow.start), flow.epoch)
                if has + TOLERANCE < flow.volume:
                    text = f"GPU {flow.start} has {float(has):g} of the chunk by then"
                    text += f" and sends {float(flow.volume):g}"
                    return BrokenRule("not-informed", flow.place, text)
            sent[flow.source, flow.chunk, flow.start] += flow.volume
            *_, (_, arrival) = self._passages(flow)
            arrivals[flow.source, flow.chunk, flow.end].append((arrival, flow.volume))
        for key, epoch in sorted(self.met_by.items()):
            source, chunk, goal = key
            place = f"demand at {goal} for chunk {chunk} from {source}"
            by, stays = arrived(key, epoch + 1), left(key, self.epochs)
            if stays + TOLERANCE < 1:
                text = f"{float(stays):g} of the chunk arrives within {self.epochs} epochs"
                return BrokenRule("missing-demand", place, text)
            if by + TOLERANCE < 1:
                text = f"{float(by):g} of the chunk arrives by epoch {epoch}, when it is to be met"
                return BrokenRule("missing-demand", place, text)
        return None

    def _passages(self, flow: Flow) -> Iterator[tuple[Link | None, int]]:
        """Yield each link with the epoch in which it is entered; at last the one of arrival."""
        epoch = flow.epoch
        for link in flow.hops:
            yield link, epoch
            if self.parts or link[0] not in self.switches or link[1] in self.switches:
                epoch += self._window(link)
        yield None, epoch

    def _window(self, link: Link) -> int:
        """Return the epochs in a row in which the volume that enters a link has a limit."""
        return 1 if self.parts or self.rates is None else ceil(1 / self.rates[link])

    def _overload(self, flows: list[Flow]) -> BrokenRule | None:
        """Return the first epochs in which a link carries more than its rate."""
        if self.rates is None:
            return None
        load: dict[Link, dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
        seen: set[tuple[Link, int, int, int]] = set()
        for flow in flows:
            for link, epoch in self._passages(flow):
                key = (link or (-1, -1), epoch, flow.source, flow.chunk)
                if link is not None and (self.parts or key not in seen):
                    load[link][epoch] += flow.volume  # what a switch copies has entered it once
                seen.add(key)
        for link, by_epoch in sorted(load.items()):
            window = self._window(link)
            totals = [
                (epoch, window, sum(by_epoch.get(epoch + k, Fraction()) for k in range(window)))
                for epoch in sorted(by_epoch)
            ]
            if self.parts:  # tolerances must not add up
                totals.append((0, self.epochs, sum(by_epoch.values())))
            for epoch, count, total in totals:
                limit = self.rates[link] * count
                if total > limit + TOLERANCE:
                    text = f"link {link[0]}->{link[1]} carries {float(total):g} chunks"
                    text += f" in {counted(count, 'epoch')}, {float(limit):g} at most"
                    return BrokenRule("link-overload", f"epoch {epoch}", text)
        return None


def demands_lacking(
    gpus: frozenset[int], switches: frozenset[int], demands: Demands, known: EpochNetwork | None
) -> list[BrokenRule]:
    """Return the first pair of GPUs of the network between which a chunk or all are not demanded.

    Where some chunk has several destinations, each has all GPUs.
    """
    everyone = known.gpus if known is not None else gpus
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
    if any(len(goals) > 1 for goals in demands.values()):
        for (source, chunk), goals in sorted(demands.items()):
            if lacking := everyone - goals - {source}:
                text = f"chunk {chunk} from GPU {source} is not demanded at GPU {min(lacking)}"
                return [BrokenRule("missing-demand", "Chunk paths", text)]
    return []
