"""A plugin that implements nearly every hook once, to see each of them at work."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cchybrid.host.local_executor import LocalExecutor
from cchybrid.model import Collective, Instance, LowerBound, Message, Network, Schedule
from cchybrid.model.errors import InputError
from cchybrid.plugin.engine import EngineInfo
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.imported import Imported, ImportRequest
from cchybrid.plugin.records import (
    BenchmarkKind,
    BoundInfo,
    CheckInfo,
    CollectiveInfo,
    CostTermInfo,
    ExecutorInfo,
    ExporterInfo,
    ImporterInfo,
    NameInfo,
    Observer,
    ProofFormatInfo,
    Roles,
    StrategyInfo,
    TopologyInfo,
)

LOG_VARIABLE = "FULL_PLUGIN_LOG"
"""Environment variable: the file that the observer writes to."""


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    return [EngineInfo("plain", "tests.faulty_engines:Sound", "first fit")]


def double_star(leaves: str) -> Network:
    """Return two linked hubs with the same number of leaves; the first half is the first star."""
    size = int(leaves) + 1
    if size < 2:
        raise InputError("a star without leaves", hint="use at least 1")
    links = [(hub, hub + leaf) for hub in (0, size) for leaf in range(1, size)]
    return Network.from_links("double star", 2 * size, [(0, size), *links])


@hookimpl
def cchybrid_topologies() -> list[TopologyInfo]:
    return [
        TopologyInfo(
            "double-star",
            "double-star-N",
            r"double-star-(\d+)",
            double_star,
            "two linked hubs with N leaves each",
            "double-star-3",
        )
    ]


def swap(roles: Roles) -> Collective:
    """The first half of the nodes exchanges a message each with the second half."""
    nodes, half = roles.participants, len(roles.participants) // 2
    pairs = zip(nodes, nodes[half:] + nodes[:half], strict=True)
    return Collective("swap", tuple(Message(a, (b,)) for a, b in pairs))


@hookimpl
def cchybrid_collectives() -> list[CollectiveInfo]:
    return [CollectiveInfo("swap", "swap", swap, "the halves of the network change places")]


def halves(instance: Instance) -> Iterator[LowerBound]:
    """The cut between the first and the second half of the nodes."""
    inside = set(range(instance.network.nodes // 2))
    crossing = sum(
        message.source not in inside and not inside.isdisjoint(message.destinations)
        for message in instance.collective.deliver_messages
    )
    into = [
        channel
        for channel in instance.network.channels
        if channel.target in inside and channel.source not in inside
    ]
    steps = -(-crossing // sum(channel.capacity for channel in into))
    prices = [[channel.source, channel.target, 1] for channel in into]
    yield LowerBound(steps, {"kind": "linear", "steps": steps, "channels": prices})


@hookimpl
def cchybrid_bounds() -> list[BoundInfo]:
    return [BoundInfo("halves", f"{__name__}:halves", "cuts the node numbers in two", order=5)]


def arrows(schedule: Schedule) -> str:
    """A line per transfer: the step, and the nodes with arrows between them."""
    return "".join(
        f"{number}: {'->'.join(map(str, transfer.path))}\n"
        for number, step in enumerate(schedule.steps, 1)
        for transfer in step
    )


@hookimpl
def cchybrid_exporters() -> list[ExporterInfo]:
    return [ExporterInfo("arrows", arrows, "a line of arrows per transfer")]


def is_arrows(text: str) -> bool:
    """Whether a text is what ``arrows`` writes."""
    return text.startswith("1: ") and "->" in text


def read_arrows(text: str, request: ImportRequest) -> Imported:
    """Return the instance of a file of arrows only: the network that the user names."""
    if request.network is None or request.collective is None:
        raise InputError("arrows without a network", hint="set --topology and --collective")
    hops = [line.split(": ")[1].split("->") for line in text.splitlines()]
    instance = Instance(request.network, request.collective)
    return Imported(instance, facts=(f"{len(hops)} arrows",))


@hookimpl
def cchybrid_importers() -> list[ImporterInfo]:
    return [ImporterInfo("arrows", is_arrows, read_arrows, "a line of arrows per transfer")]


def write_claim(
    instance: object, certificate: Mapping[str, Any], folder: Path, seconds: float
) -> list[Path]:
    """Write the number of steps that the certificate refutes; it must be even."""
    if certificate["claim"]["steps"] % 2:
        raise ValueError("an odd number\nof steps")
    folder.mkdir()
    (folder / "claim.txt").write_text(str(certificate["claim"]["steps"]))
    return [folder / "claim.txt"]


@hookimpl
def cchybrid_proof_formats() -> list[ProofFormatInfo]:
    return [ProofFormatInfo("claim-text", f"{__name__}:write_claim", "Write the steps alone.")]


def empty_ports(task: Any, ports: Any) -> float:
    """Return the number of ports without a link."""
    return float((ports == np.arange(task.nodes)[:, None]).sum())


@hookimpl
def cchybrid_cost_terms() -> list[CostTermInfo]:
    return [CostTermInfo("empty-ports", f"{__name__}:empty_ports", "ports without a link")]


class Threads(LocalExecutor):
    """The executor of this machine under another name."""


@hookimpl
def cchybrid_strategies() -> list[StrategyInfo]:
    return [StrategyInfo("together", "cchybrid.host.strategies:RACE", "all at once")]


@hookimpl
def cchybrid_executors() -> list[ExecutorInfo]:
    return [ExecutorInfo("threads", f"{__name__}:Threads", "jobs on this machine")]


def write_down(event: Mapping[str, Any]) -> None:
    """Append the event to the file that the environment names."""
    if LOG_VARIABLE in os.environ:
        with open(os.environ[LOG_VARIABLE], "a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")


@hookimpl
def cchybrid_observers() -> list[Observer]:
    return [write_down]


@hookimpl
def cchybrid_benchmarks() -> list[BenchmarkKind]:
    return [BenchmarkKind("sums", "tests.plugins.bench.fourth_kind:Sums", "sums of numbers")]


def check_total(path: Path, record: Any, explain: bool, as_json: bool) -> bool:
    """Check whether the numbers of a file have the total that it states."""
    holds = sum(record["numbers"]) == record["total"]
    print(json.dumps({"holds": holds}) if as_json else f"{path}: {holds}")
    return holds


@hookimpl
def cchybrid_checks() -> list[CheckInfo]:
    return [CheckInfo("total/1", f"{__name__}:check_total", "numbers and their total")]


@hookimpl
def cchybrid_names() -> list[NameInfo]:
    return [NameInfo("double_star", f"{__name__}:double_star", "two linked stars")]


@hookimpl
def cchybrid_plugins() -> list[str]:
    return []
