"""The gate of the referee: what its rules do not know is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pytest

import cchybrid
from cchybrid.model import Collective, CommunicationModel, Instance, Network, Schedule
from cchybrid.model.errors import InputError
from cchybrid.referee.features import KNOWN, refuse_unknown
from cchybrid.referee.verify import verify, verify_schedule


@dataclass(frozen=True, repr=False)
class Telepathic(CommunicationModel):
    """A model with a feature that no rule knows."""

    telepathy: bool = True


@dataclass(frozen=True, repr=False)
class SlowNetwork(Network):
    """A network with delays."""

    latency: tuple[int, ...] = ()


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


def broadcast() -> Instance:
    return cchybrid.instance("ring-bi-4", "OAB")


def with_feature(name: str) -> Instance:
    instance = broadcast()
    network = instance.network
    if name == "telepathy":
        return replace(instance, model=Telepathic())
    if name == "latency":
        values = {key: getattr(network, key) for key in KNOWN[Network]}
        return replace(instance, network=SlowNetwork(**values))
    changed: Any = replace(instance)
    if name == "size":
        collective = replace(instance.collective)
        messages = tuple(SizedMessage(*message) for message in instance.collective.messages)
        object.__setattr__(collective, "messages", messages)
        object.__setattr__(changed, "collective", collective)
    elif name == "delay":
        slow = replace(network)
        channels = tuple(TimedChannel(*channel) for channel in network.channels)
        object.__setattr__(slow, "channels", channels)
        object.__setattr__(changed, "network", slow)
    else:
        model = replace(instance.model)
        object.__setattr__(model, "switching", name)
        object.__setattr__(changed, "model", model)
    return changed


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("telepathy", "Telepathic.telepathy"),
        ("latency", "SlowNetwork.latency"),
        ("size", "SizedMessage.destinations"),
        ("delay", "TimedChannel.capacity"),
        ("cut-through", "the switching cut-through"),
    ],
)
def test_a_feature_without_rules_is_refused(name: str, what: str) -> None:
    with pytest.raises(InputError, match=f"no rule for {what}"):
        verify(with_feature(name), ())


def test_what_the_rules_know_passes() -> None:
    for instance in (
        broadcast(),
        cchybrid.instance("mesh-2x2", "AAR", ports=1, routing=1),
        cchybrid.instance("mesh-2x2", "allreduce", chunks=2, rounds=[2, 1]),
        cchybrid.instance("omega-4", "AAS", switching="store-and-forward"),
    ):
        refuse_unknown(instance)


def test_every_field_of_an_instance_is_known() -> None:
    """A new field needs an entry here, and rules in docs/valid-schedule.md."""
    for part in (Instance, Network, Collective, CommunicationModel):
        assert set(part.__dataclass_fields__) == KNOWN[part]


@dataclass(frozen=True, repr=False)
class DatedInstance(Instance):
    """An instance with a deadline."""

    deadline: int = 3


@dataclass(frozen=True, repr=False)
class WeightedCollective(Collective):
    """A collective with weights."""

    weights: tuple[int, ...] = ()


class Bare:
    """A message without fields."""


def test_instances_and_collectives_with_more_fields_are_refused() -> None:
    plain = broadcast()
    dated = DatedInstance(plain.network, plain.collective, plain.model, plain.name)
    collective = WeightedCollective(plain.collective.name, plain.collective.messages)
    for instance, field in (
        (dated, "DatedInstance.deadline"),
        (replace(plain, collective=collective), "WeightedCollective.weights"),
    ):
        with pytest.raises(InputError) as caught:
            refuse_unknown(instance)
        assert str(caught.value) == (
            f"{instance.name}: the referee has no rule for {field};"
            " a schedule of this instance cannot be verified"
        )


def test_a_part_without_fields_is_refused() -> None:
    plain = broadcast()
    collective, changed = replace(plain.collective), replace(plain)
    object.__setattr__(collective, "messages", (Bare(),))
    object.__setattr__(changed, "collective", collective)
    with pytest.raises(InputError, match="no rule for Bare;"):
        refuse_unknown(changed)


class OtherFile(Network):
    """A network of which files and the checker get another one."""

    def to_json(self) -> dict[str, Any]:
        return cchybrid.network("mesh-2x2").to_json()


class OtherSteps(Schedule):
    """A schedule of which files get other steps."""


def test_a_subclass_is_refused_as_its_files_may_say_something_else() -> None:
    instance = broadcast()
    values = {key: getattr(instance.network, key) for key in KNOWN[Network]}
    with pytest.raises(InputError, match="no rule for OtherFile;"):
        verify(replace(instance, network=OtherFile(**values)), ())
    with pytest.raises(InputError, match="no rule for OtherSteps;"):
        verify_schedule(OtherSteps(instance, ()))
