"""The gate of the referee: what its rules do not know is refused."""

from __future__ import annotations

from dataclasses import make_dataclass, replace
from typing import Any, NamedTuple

import pytest

import cchybrid
from cchybrid.model import Collective, CommunicationModel, Instance, Network, RoutingTable, Schedule
from cchybrid.model.errors import InputError
from cchybrid.referee.features import KNOWN, refuse_unknown
from cchybrid.referee.verify import verify, verify_schedule


def with_field(base: type, name: str, field: str, value: Any) -> Any:
    """Return a subclass with a field that no rule knows."""
    fields = [(field, type(value), value)]
    return make_dataclass(name, fields, bases=(base,), frozen=True, repr=False)


Telepathic = with_field(CommunicationModel, "Telepathic", "telepathy", True)
SlowNetwork = with_field(Network, "SlowNetwork", "latency", ())
DatedInstance = with_field(Instance, "DatedInstance", "deadline", 3)
WeightedCollective = with_field(Collective, "WeightedCollective", "weights", ())


class SizedMessage(NamedTuple):
    """A message with a size."""

    source: int
    destinations: tuple[int, ...]
    size: int = 2


class TimedChannel(NamedTuple):
    """A channel with a delay."""

    source: int
    target: int
    capacity: int = 1
    latency: int = 3


class Bare:
    """A message without fields."""


class AdaptiveTable(RoutingTable):
    """A table of which a router may take other paths."""


class OtherFile(Network):
    """A network of which files and the checker get another one."""

    def to_json(self) -> dict[str, Any]:
        return cchybrid.network("mesh-2x2").to_json()


class OtherSteps(Schedule):
    """A schedule of which files get other steps."""


def put(record: Any, name: str, value: Any) -> Any:
    """Return a copy of a frozen record with a field that its own checks might refuse."""
    changed = replace(record)
    object.__setattr__(changed, name, value)
    return changed


PLAIN = cchybrid.instance("ring-bi-4", "OAB")
NEXT = [[(v + (v != goal)) % 4 for goal in range(4)] for v in range(4)]
FIELDS = {name: getattr(PLAIN.network, name) for name in KNOWN[Network]}
SIZED = tuple(SizedMessage(*message) for message in PLAIN.collective.messages)
TIMED = tuple(TimedChannel(*channel) for channel in PLAIN.network.channels)


@pytest.mark.parametrize(
    ("instance", "what"),
    [
        (replace(PLAIN, model=Telepathic()), "Telepathic.telepathy"),
        (replace(PLAIN, network=SlowNetwork(**FIELDS)), "SlowNetwork.latency"),
        (put(PLAIN, "collective", put(PLAIN.collective, "messages", SIZED)),
         "SizedMessage.destinations"),
        (put(PLAIN, "collective", put(PLAIN.collective, "messages", (Bare(),))), "Bare"),
        (put(PLAIN, "network", put(PLAIN.network, "channels", TIMED)), "TimedChannel.capacity"),
        (put(PLAIN, "model", put(PLAIN.model, "routing", AdaptiveTable(NEXT))), "AdaptiveTable"),
        (put(PLAIN, "model", put(PLAIN.model, "switching", "cut-through")),
         "the switching cut-through"),
        (DatedInstance(PLAIN.network, PLAIN.collective, PLAIN.model, PLAIN.name),
         "DatedInstance.deadline"),
        (replace(PLAIN, collective=WeightedCollective("OAB", PLAIN.collective.messages)),
         "WeightedCollective.weights"),
        # Files and the checker get another network.
        (replace(PLAIN, network=OtherFile(**FIELDS)), "OtherFile"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)  # fmt: skip
def test_a_feature_without_rules_is_refused(instance: Instance, what: str) -> None:
    with pytest.raises(InputError) as caught:
        verify(instance, ())
    assert str(caught.value) == (
        f"{instance.name}: the referee has no rule for {what};"
        " a schedule of this instance cannot be verified"
    )


def test_what_the_rules_know_passes() -> None:
    for instance in (
        PLAIN,
        cchybrid.instance("mesh-2x2", "AAR", ports=1, routing=1),
        cchybrid.instance("mesh-2x2", "allreduce", chunks=2, rounds=[2, 1]),
        cchybrid.instance("mesh-2x2", "scan"),
        cchybrid.instance("mesh-2x2", "exscan"),
        cchybrid.instance("omega-4", "AAS", switching="store-and-forward"),
    ):
        refuse_unknown(instance)


def test_every_field_of_an_instance_is_known() -> None:
    """A new field needs an entry here, and rules in docs/valid-schedule.md."""
    for part in (Instance, Network, Collective, CommunicationModel):
        assert set(part.__dataclass_fields__) == KNOWN[part]


def test_a_schedule_of_a_subclass_is_refused() -> None:
    with pytest.raises(InputError, match="no rule for OtherSteps;"):
        verify_schedule(OtherSteps(PLAIN, ()))
