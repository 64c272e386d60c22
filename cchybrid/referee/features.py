"""The gate: the fields of an instance that the rules of the referee know.

The referee refuses an instance with a field or a kind of message that is not listed here, until
what it means for every rule has been thought through; a subclass, too, as what its methods return
to the checker and to files may be something else.
"""

from typing import Any, NoReturn

from cchybrid.model import (
    AllReduction,
    Channel,
    Collective,
    CommunicationModel,
    Exscan,
    Instance,
    Message,
    Network,
    Reduction,
    RoutingTable,
    Scan,
    Schedule,
)
from cchybrid.model.errors import InputError

KNOWN: dict[type, frozenset[str]] = {
    Instance: frozenset({"network", "collective", "model", "name"}),
    Network: frozenset({
        "name", "nodes", "channels", "half_duplex", "endpoints",
        "times", "groups",
        "positions", "node_names", "switches", "tick",  # these restrict no schedule
    }),
    Channel: frozenset({"source", "target", "capacity"}),
    Collective: frozenset({"name", "messages", "chunks"}),
    Message: frozenset({"source", "destinations"}),
    Reduction: frozenset({"sources", "destination"}),
    AllReduction: frozenset({"members"}),
    Scan: frozenset({"members"}),
    Exscan: frozenset({"members"}),
    CommunicationModel: frozenset({"switching", "inject", "accept", "routing", "rounds"}),
    RoutingTable: frozenset({"hops", "name", "backwards"}),
}  # fmt: skip
"""The fields of each part of an instance for which the rules have been written."""
SWITCHINGS = "wormhole", "store-and-forward", "tdm"


def refuse_unknown(instance: Instance) -> None:
    """Raise an ``InputError`` if the rules do not know a field or a value of the instance."""
    parts: list[type] = [type(instance), type(instance.network), type(instance.collective)]
    parts += [type(instance.model), *{type(channel) for channel in instance.network.channels}]
    parts += {type(message) for message in instance.collective.messages}
    parts += [] if instance.model.table is None else [type(instance.model.table)]
    for part in parts:
        if part not in KNOWN or _fields(part) != KNOWN[part]:
            known = next((KNOWN[base] for base in part.__mro__ if base in KNOWN), frozenset())
            unknown = _fields(part) - known
            _refuse(instance, ".".join([part.__name__, *sorted(unknown)[:1]]))
    if instance.model.switching not in SWITCHINGS:
        _refuse(instance, f"the switching {instance.model.switching}")


def refuse_subclass(schedule: Schedule) -> None:
    """Raise an ``InputError`` if a schedule is of a class of its own."""
    if type(schedule) is not Schedule:
        _refuse(schedule.instance, type(schedule).__name__)


def _fields(part: Any) -> set[str]:
    fields = getattr(part, "__dataclass_fields__", None)
    return set(getattr(part, "_fields", ()) if fields is None else fields)


def _refuse(instance: Instance, what: str) -> NoReturn:
    raise InputError(
        f"the referee has no rule for {what}",
        where=instance.name,
        hint="a schedule of this instance cannot be verified",
    )
