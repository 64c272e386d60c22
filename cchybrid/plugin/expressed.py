"""The gate of exporters: features of schedules, and the refusal of those that a format lacks.

The list of features is closed. An exporter names those that its format expresses or states
(``ExporterInfo.expresses``); any other one is refused. Without any feature a schedule delivers
whole messages by wormhole switching on shortest paths, with all ports and one round a step, and
all its channels have capacity 1 in each direction.
"""

from cchybrid.model import Instance, Schedule
from cchybrid.model.errors import InputError

FEATURES = frozenset({
    "store-and-forward", "tdm", "times", "groups",
    "extra hops", "routing table", "limited ports", "ports by node", "rounds",
    "empty steps", "chunks", "combining", "allreduce", "scan", "wide channels", "half duplex",
    "endpoints",
    "switches",
})  # fmt: skip
"""All features of schedules."""


def features(schedule: Schedule) -> set[str]:
    """Return the features of a schedule."""
    instance = schedule.instance
    network, collective, model = instance.network, instance.collective, instance.model
    present = {
        "store-and-forward": model.hop_by_hop,
        "tdm": model.periodic,
        "times": bool(network.times),
        "groups": bool(network.groups),
        "extra hops": not model.hop_by_hop and model.extra_hops != 0,
        "routing table": model.table is not None,
        "limited ports": model.inject is not None,
        "ports by node": isinstance(model.inject, tuple) or isinstance(model.accept, tuple),
        "rounds": bool(model.rounds),
        "empty steps": not all(schedule.steps),
        "chunks": collective.chunks > 1,
        "combining": collective.kind == "combine",
        "allreduce": collective.kind == "allreduce",
        "scan": collective.with_sums and collective.kind != "allreduce",
        "wide channels": any(channel.capacity > 1 for channel in network.channels),
        "half duplex": bool(network.half_duplex),
        "endpoints": bool(network.endpoints),
        "switches": bool(network.switches),
    }
    return {name for name, there in present.items() if there}


def refuse_slots_ticks_groups(instance: Instance, what: str) -> None:
    """Raise an ``InputError`` for time slots, ticks, or groups of channels."""
    if instance.horizon != "steps" or instance.network.groups:
        kind = "time slots" if instance.horizon == "slots" else "channels with times of their own"
        kind = kind if instance.horizon != "steps" else "groups of channels"
        raise InputError(
            f"{what}: not for {kind}",
            where=instance.name,
            hint="verify and prove take them; in Python, schedule.to_frame() lists the transfers",
        )


def refuse_unexpressed(schedule: Schedule, name: str, expresses: tuple[str, ...]) -> None:
    """Raise an ``InputError`` if a schedule has a feature that a format does not express."""
    missing = features(schedule).difference(expresses)
    if missing:
        raise InputError(
            f"the format {name} does not express {', '.join(sorted(missing))}",
            where=schedule.instance.name,
            hint="use the schedule file, which has them"
            if missing & {"tdm", "times", "groups"}
            else "use --to html, or another format of docs/export.md that does",
        )
