"""What users write to name an instance, and the instance that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cchybrid.collectives import collective as build_collective
from cchybrid.errors import InputError
from cchybrid.formats import read_network
from cchybrid.model import CommunicationModel, Instance
from cchybrid.model.instance import is_file
from cchybrid.topologies import fail
from cchybrid.topologies import network as build_network

if TYPE_CHECKING:
    from cchybrid.registry import Registry


@dataclass(frozen=True)
class Question:
    """What a user writes to name an instance; ``None`` leaves a thing as the file or rule has it.

    Parameters
    ----------
    topology
        A topology's name, a network file, or an instance file.
    collective
        A collective's name; ``None`` with an instance file.
    root, transmitters, receivers
        Roles in the collective.
    routing, switching, ports
        As in the instance format; ``ports`` also as text: ``all``, ``2``, ``2,1`` (inject, accept).
    fail_links, fail_nodes
        Faults: ``3-7``, ``3>7`` and node numbers.
    """

    topology: str
    collective: str | None = None
    root: int | None = None
    transmitters: Sequence[int] | None = None
    receivers: Sequence[int] | None = None
    routing: str | int | None = None
    switching: str | None = None
    ports: str | int | None = None
    fail_links: Sequence[str] = ()
    fail_nodes: Sequence[int] = ()


def resolve(question: Question, registry: Registry) -> Instance:
    """Return the instance that a question names."""
    path = Path(question.topology)
    if question.collective is None:
        if path.suffix == ".json" or is_file(path):
            return _with_model(_load_instance(path, question), question)
        raise InputError(
            f"no collective is named for {question.topology}",
            where="COLLECTIVE",
            mend="write one behind the topology, such as AAS; see: cchybrid collectives",
        )
    transmitters, receivers = question.transmitters, question.receivers
    if path.suffix or path.name != question.topology:  # no topology's name has a dot or a slash
        if path.suffix == ".json":
            raise InputError(
                f"{path} is an instance file and names its collective itself",
                where="COLLECTIVE",
                mend=f"leave {question.collective} out",
            )
        file = read_network(path)
        network = file.network
        transmitters = file.transmitters if transmitters is None else transmitters
        receivers = file.receivers if receivers is None else receivers
    else:
        network = build_network(question.topology, registry.topologies.values())
    network = fail(network, question.fail_links, question.fail_nodes)
    asked = Instance(
        network,
        build_collective(
            question.collective,
            network,
            root=question.root,
            transmitters=_without_failed(transmitters, question.fail_nodes),
            receivers=_without_failed(receivers, question.fail_nodes),
            patterns=registry.collectives.values(),
        ),
    )
    return _with_model(asked, question)


def _load_instance(path: Path, question: Question) -> Instance:
    for name, value in (
        ("--root", question.root),
        ("--transmitters", question.transmitters),
        ("--receivers", question.receivers),
        ("--fail-link", question.fail_links or None),
        ("--fail-node", question.fail_nodes or None),
    ):
        if value is not None:
            raise InputError(
                f"{path} already says who sends what", where=name, mend="leave the option out"
            )
    if path.suffix != ".json" and is_file(path):
        raise InputError(
            f"{path} holds a network only",
            where="COLLECTIVE",
            mend="write a collective behind it, such as AAS; see: cchybrid collectives",
        )
    return Instance.load(path)


def _with_model(asked: Instance, question: Question) -> Instance:
    """Return the instance under the communication model that the question asks for."""
    record = asked.model.to_json()
    if question.routing is not None:
        text = str(question.routing).lower()
        record["routing"] = int(text) if _is_number(text) else text
    if question.switching is not None:
        record["switching"] = question.switching.lower()
    if question.ports is not None:
        record["ports"] = _ports(str(question.ports).lower())
    return replace(asked, model=CommunicationModel.from_json(record))


def _ports(text: str) -> Any:
    sides = text.split(",")
    if text == "all":
        return "all"
    if len(sides) > 2 or not all(_is_number(side.strip()) for side in sides):
        raise InputError(
            f"{text[:40]!r} is no number of ports",
            where="ports",
            mend="use all, K, or INJECT,ACCEPT",
        )
    numbers = [int(side) for side in sides]
    return numbers[0] if len(numbers) == 1 else {"inject": numbers[0], "accept": numbers[1]}


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 16


def _without_failed(nodes: Sequence[int] | None, failed: Sequence[int]) -> tuple[int, ...] | None:
    return None if nodes is None else tuple(node for node in nodes if node not in failed)
