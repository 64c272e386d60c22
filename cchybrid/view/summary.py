"""The summary of a result: its verdict, its instance, and the transfers."""

from cchybrid.host.result import Result
from cchybrid.library.network_facts import read_line
from cchybrid.model import Instance, Schedule
from cchybrid.model.instance import counts_rounds_back
from cchybrid.model.shown import counted
from cchybrid.model.steps import count_transfers
from cchybrid.model.text import printable
from cchybrid.view.step_table import ends, path_text

MAX_TRANSFERS = 60
"""Transfers of the longest schedule that a summary lists."""


def summary(result: Result) -> str:
    """Return the text of ``Result.summary``."""
    head, *rest = result.lines()
    lines = [head, *facts(result.instance), *rest]
    found = result.contributed()
    if found:
        lines += ["contributions:", *(f"  {line}" for line in found)]
    if result.schedule is not None:
        lines += steps_lines(result.schedule)
    return "\n".join(lines)


def facts(instance: Instance) -> list[str]:
    """Return two lines: the network; the messages and the communication model."""
    model = instance.model
    collective = instance.collective
    parts = [
        counted(len(collective.messages) // collective.chunks, "message"),
        f"{model.switching} switching",
    ]
    if not model.hop_by_hop:
        routing = model.routing
        words = "any simple path" if routing == "any" else f"at most {routing} extra hops"
        words = words if model.table is None else str(routing)
        parts.append("shortest paths" if model.extra_hops == 0 else words)
    parts.append("all ports" if model.inject is None else _ports(instance))
    if collective.chunks > 1:
        parts.append(f"{collective.chunks} chunks each")
    if model.rounds:
        parts.append(f"rounds {'+'.join(map(str, model.rounds))}")
        parts += ["last first"] if counts_rounds_back(collective, model) else []
    network = instance.network
    return [f"network {printable(network.name)}: {read_line(network)}", ", ".join(parts)]


def _ports(instance: Instance) -> str:
    inject, accept = instance.model.inject, instance.model.accept
    if isinstance(inject, int) and isinstance(accept, int):
        same = counted(inject, "port")
        return same if inject == accept else f"{inject} to inject and {accept} to accept"
    return "ports by node"


def steps_lines(schedule: Schedule) -> list[str]:
    """Return the transfers, a line per step, or one line if they are too many."""
    transfers = count_transfers(schedule.steps)
    if transfers > MAX_TRANSFERS:
        return [f"{transfers:,} transfers: see schedule.to_frame() and schedule.plot()"]
    return [
        f"step {number}: "
        + ", ".join(
            f"{ends(schedule, transfer, parts=schedule.parts(number - 1, place))} "
            f"({path_text(schedule, transfer)})"
            for place, transfer in enumerate(step)
        )
        for number, step in enumerate(schedule.steps, 1)
        if step or schedule.instance.horizon != "ticks"
    ]
