"""``throughput``: the fewest rounds per chunk of endless schedules, checked independently."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from cchybrid.checker.throughput import check_throughput
from cchybrid.host.arguments import read_seconds
from cchybrid.host.instances import instance as named_instance
from cchybrid.host.run_result import RunResult
from cchybrid.host.versions import versions
from cchybrid.library.graphs import EXACT
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.model.instance import write_json
from cchybrid.model.shown import counted
from cchybrid.model.text import printable
from cchybrid.plugin.expressed import refuse_slots_ticks_groups

MAX_SHOWN = 12
"""Channels of a cut that are shown by name."""


def shown_fraction(number: Fraction) -> str:
    """Return a fraction as text, and its value if it is not whole."""
    return str(number) if number.denominator == 1 else f"{number} = {float(number):.6g}"


@dataclass(frozen=True, kw_only=True, repr=False)
class ThroughputResult(RunResult):
    """The result of ``throughput``; the checker has confirmed the trees and the bound.

    Further attributes are those of ``RunResult``.

    Attributes
    ----------
    instance
        The instance, with any routing.
    rounds_per_chunk
        Rounds that the trees take for one chunk of every message, as the number of chunks grows.
    bound
        Rounds per chunk that every schedule needs.
    kind
        The kind of the evidence for the bound.
    record
        The ``cchybrid-throughput/1`` object, with the trees and the evidence.
    """

    instance: Instance
    rounds_per_chunk: Fraction
    bound: Fraction
    kind: str
    record: Mapping[str, Any]

    @property
    def sentence(self) -> str:
        """The verdict in one line: rounds per chunk, and whether fewer are impossible."""
        first = f"{shown_fraction(self.rounds_per_chunk)} rounds per chunk"
        name = printable(self.instance.full_name)
        if self.certified:
            return f"{name}: {first}, optimal (certified)"
        bound = shown_fraction(self.bound)
        return f"{name}: {first}; at least {bound} are needed (certified)"

    def details(self) -> list[str]:
        """Return the reason of the bound, and the size of the schedule."""
        trees = self.record["trees"]
        what = "trees" if any(len(tree["paths"]) > 1 for tree in trees) else "paths"
        chunks, rounds = (counted(self.record[f"{name}s"], name) for name in ("chunk", "round"))
        height = f"; height {self.height}" if what == "trees" else ""
        return [
            f"bound: {self._reason()}",
            f"schedule: {len(trees)} {what} carry {chunks} of every message in {rounds}, again "
            f"and again{height}",
            *([f"left out: {self.left_out}"] if self.left_out else []),
        ]

    @property
    def left_out(self) -> str:
        """The part of the search that the time limit left out, and why; "" if it was complete."""
        return str(self.record.get("made_by", {}).get("left_out", ""))

    def _reason(self) -> str:
        """Return the proof of the bound as a sentence."""
        rows = self.record["evidence"].get("channels", ())
        priced = {(a, b) for a, b, _ in rows}
        messages = self.instance.collective.deliver_messages
        # Of messages to several nodes our evidence is a cut: a price of 1 for the channels into it;
        # other evidence may make one message pay for several of these channels.
        is_cut = {*self.record["evidence"]} == {"kind", "channels"} and (
            all(price == 1 for *_, price in rows) and len(priced) == len(rows)
        )
        if not is_cut or all(len(message.destinations) == 1 for message in messages):
            where = counted(len(priced), "priced channel") if priced else "priced ports"
            return (
                f"every message pays at least its cheapest path over {where}, "
                "and a round offers a limited total"
            )
        network = self.instance.network
        sizes = {(a, b): size for a, b, size in network.channels}
        hops = [(b, a) if self._backwards else (a, b) for a, b, _ in rows]
        capacity = sum(sizes[hop] for hop in hops)
        needed = self.bound * capacity
        shown = ", ".join("->".join(map(network.node_name, hop)) for hop in hops[:MAX_SHOWN])
        rest = f" and {len(hops) - MAX_SHOWN} more" if len(hops) > MAX_SHOWN else ""
        channels = "channel" if len(hops) == 1 else f"{len(hops)} channels"
        times = "once" if needed == 1 else f"{needed} times"
        return (
            f"all messages together use the {channels} {shown}{rest}, of capacity {capacity}, "
            f"at least {times} per chunk"
        )

    @property
    def certified(self) -> bool:
        """Whether no schedule takes fewer rounds per chunk."""
        return self.rounds_per_chunk == self.bound

    @property
    def trees(self) -> list[Mapping[str, Any]]:
        """The trees: per tree its ``root``, its ``chunks`` and its ``paths``."""
        return list(self.record["trees"])

    @property
    def height(self) -> int:
        """The largest number of paths one after another in a tree."""
        highest = 0
        for tree in self.record["trees"]:
            depth = {tree["root"]: 0}
            for path in tree["paths"]:
                first, last = (path[-1], path[0]) if self._backwards else (path[0], path[-1])
                depth[last] = depth[first] + 1
            highest = max(highest, *depth.values())
        return highest

    @property
    def _backwards(self) -> bool:
        return self.instance.collective.kind == "combine"

    def message_rate(self, bandwidth: Fraction | float) -> Fraction:
        """Return the rate at which every message moves.

        Parameters
        ----------
        bandwidth
            The data per time that a capacity of 1 stands for, such as 25 (GB/s).
        """
        return Fraction(bandwidth) / self.rounds_per_chunk

    def total_rate(self, bandwidth: Fraction | float) -> Fraction:
        """Return the rate of all messages together; of an allgather the algorithmic bandwidth."""
        return self.message_rate(bandwidth) * len(self.instance.collective.messages)

    def save(self, path: str | Path) -> None:
        """Write the ``cchybrid-throughput/1`` file."""
        write_json(dict(self.record), path)

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object, fractions as text."""
        return {
            "instance": self.instance.full_name,
            "rounds_per_chunk": str(self.rounds_per_chunk),
            "bound": str(self.bound),
            "certified": self.certified,
            "evidence": self.record["evidence"],
            "chunks": self.record["chunks"],
            "rounds": self.record["rounds"],
            "trees": len(self.record["trees"]),
            "height": self.height,
            "left_out": self.left_out,
            **super().to_json(),
        }


def throughput(
    network: Any,
    collective: Any = None,
    *,
    root: Any = None,
    transmitters: Any = None,
    receivers: Any = None,
    participants: Any = None,
    fail_links: Sequence[str] = (),
    fail_nodes: Sequence[Any] = (),
    unit: Any = None,
    time_limit: float = 60.0,
) -> ThroughputResult:
    """Return the fewest rounds per chunk of a collective, over any routes, with trees and proof.

    Parameters
    ----------
    network
        Anything that ``cchybrid.network`` takes, or an instance file, or an ``Instance``; with
        no half-duplex links, limited ports, chunks or rounds.
    collective
        A name such as ``allgather``, or messages, as ``cchybrid.instance`` takes them. Either all
        messages go to the same nodes, or each has one destination.
    root, transmitters, receivers, participants
        Roles in a named collective: nodes by name or number.
    fail_links, fail_nodes
        Links ``A-B`` (``A>B``: one direction) and nodes without which the network is used.
    unit
        What a capacity of 1 is, as ``cchybrid.network`` takes it; by default exact.
    time_limit
        Seconds for the search; trees of shortest paths, which take a few more, are found without
        it.

    Raises
    ------
    InputError
        If a name is wrong, a destination cannot be reached, or the throughput is not defined, as
        for an allreduce.

    Examples
    --------
    >>> from cchybrid_plugins.pipelining.throughput import throughput
    >>> found = throughput("dgx-1", "allgather")
    >>> found.rounds_per_chunk, found.certified
    (Fraction(7, 6), True)
    """
    named = {
        "collective": collective, "root": root, "transmitters": transmitters,
        "receivers": receivers, "participants": participants,
        "fail_links": fail_links, "fail_nodes": fail_nodes, "unit": unit,
    }  # fmt: skip
    if not isinstance(network, Instance):
        exact = {**named, "unit": EXACT if unit is None else unit}
        return throughput_of(named_instance(network, **exact), time_limit)
    for where, value in named.items():
        if value not in (None, ()):
            raise InputError(
                "the instance names the messages already", where=where, hint="leave it out"
            )
    return throughput_of(network, time_limit)


def throughput_of(instance: Instance, time_limit: float = 60.0) -> ThroughputResult:
    """Return the fewest rounds per chunk of an instance over any routes; see ``throughput``."""
    from .proof.throughput import throughput_record

    read_seconds(time_limit, required=True)
    refuse_slots_ticks_groups(instance, "throughput")
    started = time.monotonic()
    found = throughput_instance(instance)
    record = throughput_record(found, time_limit)
    seconds = round(time.monotonic() - started, 3)
    record["made_by"] |= {"version": versions()["cchybrid"], "seconds": seconds}
    return checked_throughput(found, record, seconds)


def checked_throughput(
    instance: Instance, record: Mapping[str, Any], seconds: float = 0.0
) -> ThroughputResult:
    """Return the result of a ``cchybrid-throughput/1`` object, once the checker has accepted it."""
    verdict = check_throughput(record)
    return ThroughputResult(
        instance=instance,
        rounds_per_chunk=verdict.rounds_per_chunk,
        bound=verdict.bound,
        kind=verdict.kind,
        record=record,
        seconds=seconds,
        versions=versions(),
    )


def throughput_instance(instance: Instance) -> Instance:
    """Return the instance whose throughput is meant: with any routes (tables are refused later)."""
    return instance.with_model(routing=instance.model.table or "any")
