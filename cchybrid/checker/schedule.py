"""The checker's own verification of a schedule.

The same rules as in ``cchybrid.referee.verify``, implemented without shared code.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import accumulate, chain, pairwise
from typing import Any

from cchybrid.checker.features import require
from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.reading import list_of, only, whole, whole_numbers
from cchybrid.checker.routes import is_allowed
from cchybrid.checker.sums import PartialSums, Parts

FORMATS = "cchybrid-schedule/1", "cchybrid-schedule/2"
MAX_DISTANCES = 1_000_000
"""Distances of nodes that are remembered, some 100 MB."""

Transfer = tuple[int, tuple[int, ...], Parts]
"""A message, its path, and for a collective of sums the members whose parts are sent."""


def checked_schedule(record: Any) -> tuple[Network, list[list[Transfer]]]:
    """Return the network and the steps of a schedule object, which is valid.

    Raises
    ------
    EvidenceError
        It is not; the error says why. Steps are counted as they are checked: those of a
        ``combine`` collective backwards, like its network.
    """
    if not isinstance(record, Mapping) or record.get("format") not in FORMATS:
        raise EvidenceError(f"this is no {' or '.join(FORMATS)}")
    network = Network(record.get("instance"))
    require(network, "schedule")
    if network.members and record["format"] != FORMATS[1]:
        raise EvidenceError(f"the schedule of {network.kind} is no {FORMATS[1]}")
    try:
        steps = [[_transfer(move, network) for move in s] for s in list_of(record["steps"])]
    except (EvidenceError, KeyError, TypeError, ValueError) as error:
        raise EvidenceError(f"the steps of the schedule are not well-formed: {error}") from None
    forward = steps
    if network.backwards:
        forward = [[(message, path[::-1], _) for message, path, _ in s] for s in reversed(steps)]
    holds = PartialSums(network)
    hops = lru_cache(1 + MAX_DISTANCES // network.nodes)(network.hops)
    allowed = cache(lambda path: is_allowed(network, path, hops))
    uses: list[Counter[Any]] = [Counter() for _ in forward]
    changes: defaultdict[Any, Counter[int]] = defaultdict(Counter)
    for number, step in enumerate(forward, 1):
        try:
            if not step and len(network.rounds) == 1 and not (network.periodic or network.times):
                raise EvidenceError("the step is empty")
            for message, path, parts in step:
                if message >= len(network.messages):
                    raise EvidenceError("a message that the collective does not have")
                if not allowed(path):
                    raise EvidenceError(f"the path {str(list(path))[:80]} is not allowed")
                if network.times:
                    ticks = _use_ticks(network, path, number, changes)
                else:
                    ticks = 1
                    _use(network, path, number - 1, uses)
                if not network.periodic:
                    holds.send(message, path[0], path[-1], parts, ticks)
            if not network.periodic:
                _check_capacities(network, number, uses[number - 1])
                uses[number - 1].clear()
            holds.end_step()
        except EvidenceError as error:
            place = f"step {number}{' from the last' * network.backwards}"
            raise EvidenceError(f"the schedule is not valid: {place}: {error}") from None
    for number, used in enumerate(uses, 1):  # in time slots, where these are of earlier steps, too
        _check_capacities(network, number, used)
    for resource, change in changes.items():
        used_at = accumulate(change[tick] for tick in sorted(change))
        if max(used_at) > _limit(network, resource):
            raise EvidenceError(f"the schedule is not valid: in some tick more than {resource} has")
    if network.periodic:
        _spread(network, steps, holds)
    holds.end()
    return network, steps


def _transfer(move: Any, network: Network) -> Transfer:
    only(move, "message", "path", *["sum"][: len(network.members)])
    parts = whole_numbers(move["sum"]) if network.members else ()
    if len(set(parts)) < len(parts):
        raise EvidenceError("a sum counts a part twice")
    return whole(move["message"]), whole_numbers(move["path"]), frozenset(parts)


def _use(network: Network, path: tuple[int, ...], start: int, uses: list[Counter[Any]]) -> None:
    for late, hop in enumerate(pairwise(path)):
        used = uses[(start + late * network.periodic) % len(uses)]
        used[network.link(*hop)] += 1
    uses[start]["inject", path[0]] += 1
    used["accept", path[-1]] += 1


def _spread(network: Network, steps: list[list[Transfer]], holds: PartialSums) -> None:
    """Make the transfers of a period from the sources on: of its slots, any may follow any."""
    sent: defaultdict[tuple[int, int], list[tuple[int, Parts]]] = defaultdict(list)
    for message, path, parts in chain.from_iterable(steps):
        sent[message, path[0]].append((path[-1], parts))
    ready = [(message, source) for message, (source, _) in enumerate(network.messages)]
    for message, node in ready:
        for last, parts in sent.pop((message, node), ()):
            holds.send(message, node, last, parts)
            ready.append((message, last))
        holds.end_step()
    if sent:
        raise EvidenceError("the schedule is not valid: a node sends what does not reach it")


def _use_ticks(
    network: Network, path: tuple[int, ...], start: int, changes: Mapping[Any, Counter[int]]
) -> int:
    """Count what a transfer uses: of every resource one more, and after its length one less.

    A channel is used when the head of the message reaches it, for the largest length on the path.
    Return the ticks of the transfer.
    """
    length, tick = max(network.time(hop)[1] for hop in pairwise(path)), start
    used: list[tuple[Any, int]] = [(("inject", path[0]), start)]
    for hop in pairwise(path):
        used.append((network.link(*hop), tick))
        tick += network.time(hop)[0]
    for resource, since in [*used, (("accept", path[-1]), tick)]:
        changes[resource][since] += 1
        changes[resource][since + length] -= 1
    return tick - start + length


def _check_capacities(network: Network, number: int, used: Counter[Any]) -> None:
    for resource, times in used.items():
        if times > network.in_step(number, _limit(network, resource)):
            slot = f" in slot {number}" * network.periodic
            raise EvidenceError(f"more than the capacity of a channel or port{slot}")


def _limit(network: Network, resource: tuple[Any, Any]) -> int:
    ports = {"inject": network.inject, "accept": network.accept}
    a, b = resource
    return ports[a][b] if a in ports else network.channels[a, b]
