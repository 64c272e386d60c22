"""Small instances of every kind, each with its optimum."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cchybrid.model import Collective, CommunicationModel, Instance, Message, Network, Reduction
from cchybrid.model.times import ChannelTime
from cchybrid.problem import MAX_OPTIONS, Problem, build_problem


@dataclass(frozen=True)
class ConformanceInstance:
    """An instance whose fewest steps are known.

    Parameters
    ----------
    instance
        The instance; its name describes it.
    optimum
        The fewest steps of any schedule, proven by the tests of cchybrid.
    max_options
        Largest number of options of the Problem; if it is too small, the Problem is incomplete.
    """

    instance: Instance
    optimum: int
    max_options: int = MAX_OPTIONS

    @property
    def name(self) -> str:
        """The instance's name."""
        return self.instance.name

    def problem(self) -> Problem:
        """Return a new Problem."""
        return build_problem(self.instance, max_options=self.max_options)


def conformance_instances() -> tuple[ConformanceInstance, ...]:
    """Return instances that any engine solves in about a second.

    Together they have everything that a Problem can have: deliveries that require others, optional
    deliveries, limits of every kind, and incomplete options.
    """
    ring = Network.from_links("ring-4", 4, _cycle(4))
    ring_5 = Network.from_links("ring-5", 5, _cycle(5))
    line = Network.from_links("line-4", 4, [(0, 1), (1, 2), (2, 3)])
    fat_line = Network.from_links("fat-line-3", 3, [(0, 1), (1, 2)] * 2)
    complete = Network.from_links("complete-5", 5, list(itertools.combinations(range(5), 2)))
    cells = Network.from_links(
        "mesh-2x3", 6, [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]
    )
    times = ((1, 2), (1, 2), (0, 3), (0, 3), (1, 2), (1, 2))
    slow = replace(line, times=tuple(ChannelTime(*time) for time in times))
    shared = Network.from_links("ring-4", 4, _cycle(4), half_duplex=tuple(_cycle(4)))
    switches = Network.from_links(
        "two-switches", 6, [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5)], endpoints=(2, 3, 4, 5)
    )
    to_all = Collective("AAR", tuple(Reduction(_others(5, node), node) for node in range(5)))
    uni = Network.from_arcs("ring-uni-4", 4, _cycle(4))
    hops = CommunicationModel(switching="store-and-forward")
    one_port_hops = replace(hops, inject=1, accept=1)
    any_path = CommunicationModel(routing="any")
    table = [[0, 1, 1, 1], [2, 1, 2, 2], [3, 3, 2, 3], [0, 0, 0, 3]]
    clockwise = CommunicationModel.from_json({"routing": {"next": table}})
    one_port = CommunicationModel(inject=1, accept=1)
    uneven = CommunicationModel(inject=(2, 1, 0, 1, 1), accept=(1, 1, 2, 1, 1))
    return (
        _known("single message", 1, ring, [(0, [1])]),
        _known("scatter", 2, ring, _exchange(range(4))),
        _known("broadcast", 3, line, _gossip(range(4))),
        _known("multicast", 3, ring_5, [(0, [2, 3]), (1, [2, 3]), (4, [2, 3]), (4, [0, 2, 3])]),
        ConformanceInstance(Instance(ring_5, to_all, name="reduce"), 2),
        _known("store-and-forward", 4, line, [(0, [3]), (0, [3]), (0, [2]), (3, [0, 1])], hops),
        _known("broadcast hop by hop", 3, complete, [(0, _others(5, 0))], one_port_hops),
        _known("one port", 3, complete, _exchange(range(4)), one_port),
        _known("uneven ports", 2, complete, [(0, _others(5, 0))], uneven),
        _known("capacity", 3, fat_line, [(0, [2])] * 3 + [(1, [2])] * 2 + [(2, [0, 1])]),
        _known("half duplex", 3, shared, _gossip(range(4))),
        _known("endpoints", 4, switches, _exchange(switches.endpoints)),
        _known("directed ring", 3, uni, _gossip(range(4))),
        _known("extra hops", 2, ring, [(0, [1])] * 4, CommunicationModel(routing=2)),
        _known("routing table", 6, ring, _exchange(range(4)), clockwise),
        _known("two rounds", 1, ring, _exchange(range(4)), CommunicationModel(rounds=(2,))),
        _known("unequal rounds", 2, line, _gossip(range(4)), CommunicationModel(rounds=(1, 3))),
        _known("ticks", 9, slow, _gossip(range(4))),
        _known("ticks hop by hop", 12, slow, _exchange(range(4)), hops),
        _known("sampled paths", 4, cells, _exchange(range(6)), any_path, max_options=60),
    )


def large_instance() -> Instance:
    """Return an instance that takes longer: an all-to-all broadcast on a torus of 16 nodes."""
    links = [
        (4 * row + column, other)
        for row in range(4)
        for column in range(4)
        for other in (4 * row + (column + 1) % 4, 4 * ((row + 1) % 4) + column)
    ]
    network = Network.from_links("torus-4x4", 16, links)
    return Instance(network, Collective("AAB", _messages(_gossip(range(16)))), name="large")


def _known(
    name: str,
    optimum: int,
    network: Network,
    messages: Iterable[tuple[int, Iterable[int]]],
    model: CommunicationModel | None = None,
    max_options: int = MAX_OPTIONS,
) -> ConformanceInstance:
    collective = Collective(name, _messages(messages))
    instance = Instance(network, collective, model or CommunicationModel(), name)
    return ConformanceInstance(instance, optimum, max_options)


def _messages(messages: Iterable[tuple[int, Iterable[int]]]) -> tuple[Message, ...]:
    return tuple(Message(source, tuple(destinations)) for source, destinations in messages)


def _cycle(nodes: int) -> list[tuple[int, int]]:
    return [(node, (node + 1) % nodes) for node in range(nodes)]


def _others(nodes: int, node: int) -> tuple[int, ...]:
    return tuple(other for other in range(nodes) if other != node)


def _exchange(nodes: Sequence[int]) -> list[tuple[int, list[int]]]:
    """Return the messages of an all-to-all scatter."""
    return [(a, [b]) for a in nodes for b in nodes if a != b]


def _gossip(nodes: Sequence[int]) -> list[tuple[int, list[int]]]:
    """Return the messages of an all-to-all broadcast."""
    return [(a, [b for b in nodes if b != a]) for a in nodes]
