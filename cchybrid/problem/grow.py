"""Problems with other options: additional paths, all of one hop, or those of given transfers."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cchybrid.model import Transfer
from cchybrid.problem.arrays import Assignment, IntArray, LongArray
from cchybrid.problem.origin import InstanceOrigin
from cchybrid.problem.problem import Problem
from cchybrid.problem.ragged import gather, offsets, offsets_of
from cchybrid.problem.transfers import Transfers


def extend(
    problem: Problem, additions: Iterable[tuple[int, Sequence[int]]]
) -> tuple[Problem, IntArray]:
    """Return the Problem with further options, such as those of ``Problem.price``.

    Parameters
    ----------
    problem
        A Problem that was built from an instance.
    additions
        Pairs of a delivery and the nodes of a path that the instance allows for it. Pairs that are
        already listed are ignored.

    Returns
    -------
    problem
        The Problem; new options follow the old ones of their deliveries.
    moved
        Shape (options of the old Problem,): the new index of each old option.

    Raises
    ------
    ValueError
        If there is no such delivery or path, or the path does not lead from a node that may send
        the delivery to its node.
    """
    origin = _instance_origin(problem)
    structure = origin.structure
    added = list(dict.fromkeys((delivery, tuple(path)) for delivery, path in additions))
    for delivery, _ in added:
        if not 0 <= delivery < problem.deliveries:
            raise ValueError(f"there is no delivery {delivery}")
    listed = structure.options_of(problem, *_ragged(added)).tolist()
    added = [pair for pair, option in zip(added, listed, strict=True) if option < 0]
    if not added:
        return problem, np.arange(problem.options, dtype=np.int32)
    before = structure.required_by(*_ragged(added))
    fresh = {path: problem.paths + k for k, path in enumerate({path: None for _, path in added})}
    _, nodes, starts = _ragged([(-1, path) for path in fresh])
    uses = structure.resources.uses_of(nodes, starts)
    uses["path_start"] = problem.path_start[-1] + uses["path_start"][1:]
    # A stable sort places new options after the old ones of their delivery.
    owner = np.append(problem.option_delivery, [which for which, _ in added])
    order = np.argsort(owner, kind="stable")
    moved = np.empty(len(order), dtype=np.int32)
    moved[order] = np.arange(len(order), dtype=np.int32)
    requires = np.append(problem.option_requires, before)
    paths = np.append(problem.option_path, [fresh[path] for _, path in added])
    added_uses: dict[str, Any] = {
        name: np.append(getattr(problem, name), used) for name, used in uses.items()
    }
    grown = replace(
        problem,
        option_start=offsets_of(owner[order], problem.deliveries),
        option_requires=requires[order].astype(np.int32),
        option_path=paths[order].astype(np.int32),
        **added_uses,
        origin=replace(
            origin,
            structure=structure.with_paths(
                np.append(structure.path_node, nodes),
                np.append(structure.path_node_start, structure.path_node_start[-1] + starts[1:]),
            ),
        ),
    )
    return grown, moved[: problem.options]


def list_transfers(
    problem: Problem, steps: Iterable[Sequence[Transfer]] | Transfers
) -> tuple[Problem, Assignment]:
    """Return the Problem with only the options of these transfers, and their assignment.

    This is faster than ``extend`` with the paths of a whole schedule.

    Parameters
    ----------
    problem
        A Problem that was built from an instance.
    steps
        Transfers of ``Instance.forward``, as in ``problem.structure``, over listed or other paths.
        Of a sequence of steps, empty ones are left out; ``Transfers`` keep their numbers.

    Raises
    ------
    ValueError
        If a path leaves the network, a node sends or receives a message that it may not, or a
        node receives a message twice.
    """
    origin = _instance_origin(problem)
    structure = origin.structure
    moves = steps if isinstance(steps, Transfers) else Transfers.of(filter(None, steps))
    delivery = structure.delivery_of(moves.message, moves.last)
    if (delivery < 0).any():
        wrong = int(np.argmin(delivery))
        raise ValueError(
            f"message {moves.message[wrong]} has no delivery to node {moves.last[wrong]}"
        )
    requires = structure.required_by(delivery, moves.node, moves.start)
    times = np.bincount(delivery, minlength=problem.deliveries)
    if (times > 1).any():
        raise ValueError(f"delivery {np.argmax(times)} is made twice")
    order = np.argsort(delivery)
    found = problem.empty()
    found.option[delivery[order]] = np.arange(len(order))
    found.step[delivery] = moves.step
    listed = replace(
        problem,
        option_start=offsets(times),
        option_requires=requires[order].astype(np.int32),
        option_path=order.astype(np.int32),
        **structure.resources.uses_of(moves.node, moves.start),
        complete=False,
        origin=replace(origin, structure=structure.with_paths(moves.node, moves.start)),
    )
    return listed, found


def list_hops(problem: Problem) -> Problem:
    """Return the Problem with all options of one hop that the instance allows, and no others.

    Parameters
    ----------
    problem
        A Problem that was built from an instance.
    """
    origin = _instance_origin(problem)
    structure = origin.structure
    channels = structure.channels
    inward = np.argsort(channels[:, 1], kind="stable")
    first = offsets_of(channels[inward, 1], structure.network.nodes)
    place, delivery = gather(first, structure.delivery_node)
    path = inward[place]
    sender, message = channels[path, 0], structure.delivery_message[delivery]
    at_source = sender == structure.message_source[message]
    before = np.where(at_source, -1, structure.delivery_of(message, sender))
    sends, accepts = structure.resources.working
    kept = (at_source | (before >= 0)) & sends[sender] & accepts[structure.delivery_node[delivery]]
    nodes, start = channels[:, :2].ravel(), np.arange(0, 2 * len(channels) + 1, 2)
    return replace(
        problem,
        option_start=offsets_of(delivery[kept], problem.deliveries),
        option_requires=before[kept].astype(np.int32),
        option_path=path[kept].astype(np.int32),
        **structure.resources.uses_of(nodes, start),
        complete=False,
        origin=replace(origin, structure=structure.with_paths(nodes, start)),
    )


def _instance_origin(problem: Problem) -> InstanceOrigin:
    if not isinstance(problem.origin, InstanceOrigin):
        raise ValueError("only a Problem that was built from an instance can list other paths")
    return problem.origin


def _ragged(pairs: Sequence[tuple[int, tuple[int, ...]]]) -> tuple[LongArray, LongArray, LongArray]:
    """Return the numbers, the nodes of all paths in one array, and the start of each path."""
    return (
        np.array([number for number, _ in pairs], dtype=np.int64),
        np.array([node for _, path in pairs for node in path], dtype=np.int64),
        offsets([len(path) for _, path in pairs]),
    )
