"""The Python interface: what the command line does, as functions. ``import cchybrid`` offers it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cchybrid.collectives import collective as build_collective
from cchybrid.engine import Budget
from cchybrid.errors import InputError
from cchybrid.formats import read_network
from cchybrid.host.result import Result
from cchybrid.host.session import Order, Session
from cchybrid.host.strategies import STRATEGIES
from cchybrid.model import CommunicationModel, Instance, Network
from cchybrid.records import Observer
from cchybrid.registry import Registry, load_registry
from cchybrid.topologies import fail
from cchybrid.topologies import network as build_network


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


def instance(topology: str, collective: str | None = None, **rest: Any) -> Instance:
    """Return the instance of a topology and a collective by name, or of a file.

    Parameters
    ----------
    topology, collective, rest
        The fields of ``Question``.

    Raises
    ------
    InputError
        With one line that says what is wrong, where, and how to mend it.
    """
    return resolve(Question(topology, collective, **rest), load_registry())


def resolve(question: Question, registry: Registry) -> Instance:
    """Return the instance that a question names."""
    path = Path(question.topology)
    if question.collective is None:
        if path.suffix == ".json" or path.is_file():
            return _with_model(_load_instance(path, question), question)
        raise InputError(
            f"no collective is named for {question.topology}",
            where="COLLECTIVE",
            mend="write one behind the topology, such as AAS; see: cchybrid collectives",
        )
    transmitters, receivers = question.transmitters, question.receivers
    if path.is_file() or path.suffix in (".txt", ".json", ".gml", ".graphml"):
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


def solve(
    question: Instance,
    *,
    engines: Sequence[str] | None = None,
    strategy: str = "auto",
    steps: int | None = None,
    time_limit: float | None = 60.0,
    evaluations: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    memory: int | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    observers: Iterable[Observer] = (),
    registry: Registry | None = None,
) -> Result:
    """Find a schedule with the fewest steps, verify it, and bound it from below.

    Parameters
    ----------
    question
        The instance.
    engines
        Names of the engines that take part; all that are installed by default.
    strategy
        ``auto``, ``race`` or ``relay``.
    steps
        Look only for a schedule of at most so many steps.
    time_limit
        Wall-clock seconds of the whole run.
    evaluations
        Evaluations of each engine. Then engines work one after another without a clock, and with
        one thread the same seed gives the same result, always.
    seed
        Rules every random choice.
    threads
        Threads of all engines together; by default one per processor.
    memory
        Mebibytes of address space of each worker; unlimited by default.
    options
        Per engine its options by name.
    observers
        Called with every event of the run.
    registry
        The plugins to use, if they are loaded already.

    Returns
    -------
    Result
        Whatever was found; engines that failed are named in ``troubles``.

    Raises
    ------
    InputError
        For names, numbers or options that make no sense.
    """
    registry = load_registry() if registry is None else registry
    if strategy not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise InputError(f"no strategy is called {strategy}", where="strategy", mend=f"use {known}")
    for name, number in (
        ("steps", steps),
        ("time_limit", time_limit),
        ("evaluations", evaluations),
        ("threads", threads),
        ("memory", memory),
    ):
        if number is not None and not number > 0:
            raise InputError(f"{number} is too small", where=name, mend="use a number above 0")
    if seed < 0:
        raise InputError(f"{seed} is negative", where="seed", mend="use 0 or more")
    if time_limit is None and evaluations is None:
        raise InputError("nothing ends the run", where="time_limit", mend="give seconds")
    names = list(registry.engines) if engines is None else list(dict.fromkeys(engines))
    chosen = [registry.engine(name) for name in names]
    texts: dict[str, dict[str, str]] = {}
    for name, values in (options or {}).items():
        info = registry.engine(name)
        if info not in chosen:
            raise InputError(
                f"engine {info.name} does not take part",
                where="options",
                mend="name it, or drop it",
            )
        texts[info.name] = {key: str(value) for key, value in values.items()}
    if threads is None:
        threads = 1 if evaluations is not None else len(os.sched_getaffinity(0))
    order = Order(
        engines=chosen,
        bounds=sorted(registry.bounds.values(), key=lambda info: info.order),
        strategy=strategy,
        budget=Budget(None if evaluations else time_limit, evaluations, threads, memory),
        seed=seed,
        target=steps,
        options=texts,
    )
    watching = [*registry.observers, *(("caller", observer) for observer in observers)]
    return Session(question, order, watching).run()


def bound(
    question: Instance,
    *,
    time_limit: float | None = 60.0,
    observers: Iterable[Observer] = (),
    registry: Registry | None = None,
) -> Result:
    """Find the best certified lower bound without looking for a schedule."""
    return solve(
        question,
        engines=(),
        time_limit=time_limit,
        observers=observers,
        registry=registry,
    )


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
    if path.suffix != ".json" and path.is_file():
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
        record["routing"] = int(text) if text.isdecimal() else text
    if question.switching is not None:
        record["switching"] = question.switching.lower()
    if question.ports is not None:
        record["ports"] = _ports(str(question.ports).lower())
    return replace(asked, model=CommunicationModel.from_json(record))


def _ports(text: str) -> Any:
    sides = text.split(",")
    if text == "all":
        return "all"
    if len(sides) > 2 or not all(side.strip().isdecimal() for side in sides):
        raise InputError(
            f"{text!r} is no number of ports", where="ports", mend="use all, K, or INJECT,ACCEPT"
        )
    numbers = [int(side) for side in sides]
    return numbers[0] if len(numbers) == 1 else {"inject": numbers[0], "accept": numbers[1]}


def _without_failed(nodes: Sequence[int] | None, failed: Sequence[int]) -> tuple[int, ...] | None:
    return None if nodes is None else tuple(node for node in nodes if node not in failed)


def network(name: str) -> Network:
    """Return a network by name, such as ``mesh-4x8``, plugins' families included."""
    return build_network(name, load_registry().topologies.values())
