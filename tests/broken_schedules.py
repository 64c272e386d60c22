"""Small valid schedules of every kind, and what one mistake in them must be reported as.

``VALID`` names instances with their steps; ``MISTAKES`` names a change of one of them with the
violations (rule, step, transfer, message, place) that it causes, in the order of the report.
"""

from dataclasses import replace

from cchybrid.model import (
    Channel,
    Collective,
    CommunicationModel,
    Instance,
    Message,
    Network,
    Reduction,
    RoutingTable,
    Steps,
    Transfer,
)

Raw = list[list[tuple[int, tuple[int, ...]]]]


def steps_of(raw: Raw) -> Steps:
    return tuple(tuple(Transfer(*transfer) for transfer in step) for step in raw)


def ring(nodes: int, **rest) -> Network:
    return Network.from_links(
        f"ring-bi-{nodes}", nodes, [(v, (v + 1) % nodes) for v in range(nodes)], **rest
    )


def deliver(*messages: tuple[int, tuple[int, ...]]) -> Collective:
    return Collective("deliver", tuple(Message(*message) for message in messages))


def combine(*messages: tuple[tuple[int, ...], int]) -> Collective:
    return Collective("combine", tuple(Reduction(*message) for message in messages))


# A broadcast on a ring of six in two steps, and what may go wrong with it.
BROADCAST = Instance(ring(6), deliver((0, (1, 2, 3, 4, 5))))
BROADCAST_STEPS: Raw = [[(0, (0, 1)), (0, (0, 5, 4))], [(0, (1, 2)), (0, (4, 3)), (0, (0, 5))]]

# Its mirror image: a reduction to node 0.
REDUCE = Instance(ring(6), combine(((1, 2, 3, 4, 5), 0)))
REDUCE_STEPS: Raw = [[(0, (2, 1)), (0, (3, 4)), (0, (5, 0))], [(0, (1, 0)), (0, (4, 5, 0))]]

# Three nodes of a ring of five send to the node after the next.
SCATTER = Instance(ring(5), deliver((0, (2,)), (1, (3,)), (2, (4,))))
SCATTER_STEPS: Raw = [[(0, (0, 1, 2)), (2, (2, 3, 4))], [(1, (1, 2, 3))]]

# Store-and-forward: nodes 1 and 4 keep a copy that they never asked for.
STORE = Instance(ring(5), deliver((0, (2, 3))), CommunicationModel(switching="store-and-forward"))
STORE_STEPS: Raw = [[(0, (0, 1)), (0, (0, 4))], [(0, (1, 2)), (0, (4, 3))]]

PORTS = CommunicationModel(inject=1, accept=(1, 1, 1, 2, 1, 1))
ONE_PORT = replace(BROADCAST, model=PORTS)
ONE_PORT_STEPS: Raw = [[(0, (0, 1))], [(0, (0, 5)), (0, (1, 2))], [(0, (5, 4)), (0, (2, 3))]]
GATHER = Instance(ring(6), deliver((1, (0,)), (5, (0,)), (4, (3,)), (2, (3,))), PORTS)
GATHER_STEPS: Raw = [[(0, (1, 0)), (2, (4, 3)), (3, (2, 3))], [(1, (5, 0))]]
REDUCE_PORTS = replace(REDUCE, model=PORTS.reversed())
REDUCE_PORTS_STEPS: Raw = [[(0, (4, 5)), (0, (3, 2))], [(0, (5, 0)), (0, (2, 1))], [(0, (1, 0))]]

# Terminals 0 and 4 at the ends of the switches 1, 2, 3; terminal 5 hangs on both 1 and 3.
TERMINALS = Network.from_links(
    "terminals", 6, [(0, 1), (1, 2), (2, 3), (3, 4), (5, 1), (5, 3)], endpoints=(0, 4, 5)
)
ACROSS = Instance(TERMINALS, deliver((0, (4, 5)), (1, (3,))))
ACROSS_STEPS: Raw = [[(0, (0, 1, 2, 3, 4))], [(0, (0, 1, 5))], [(1, (1, 2, 3))]]

FAT = Instance(
    Network.from_arcs("fat", 3, [(0, 1), (0, 1), (1, 2), (1, 2), (2, 0)]),
    deliver((0, (2,)), (0, (2,)), (0, (1,))),
)
FAT_STEPS: Raw = [[(0, (0, 1, 2)), (1, (0, 1, 2))], [(2, (0, 1))]]

HALF = Instance(ring(4, half_duplex=((1, 0), (2, 3))), deliver((0, (1,)), (1, (0,)), (0, (2,))))
HALF_STEPS: Raw = [[(0, (0, 1)), (2, (0, 3, 2))], [(1, (1, 0))]]
HALF_COMBINE = Instance(ring(4, half_duplex=((1, 0),)), combine(((1,), 0), ((0,), 1)))
HALF_COMBINE_STEPS: Raw = [[(0, (1, 0))], [(1, (0, 1))]]

# A ring of four on which every path goes down.
DOWN = RoutingTable(tuple(tuple((v - (v != g)) % 4 for g in range(4)) for v in range(4)))
TABLE = Instance(ring(4), deliver((0, (2,))), CommunicationModel(routing=DOWN))
TABLE_COMBINE = replace(TABLE, collective=combine(((2,), 0)))

# Node 0 sends over one channel at a time.
GROUP = Instance(ring(4, groups=(((0, 3), (0, 1)),)), deliver((0, (1,)), (0, (3,))))
GROUP_STEPS: Raw = [[(0, (0, 1))], [(1, (0, 3))]]
GROUP_COMBINE = Instance(ring(4, groups=(((0, 3), (0, 1)),)), combine(((0,), 1), ((0,), 3)))
GROUP_COMBINE_STEPS: Raw = [[(0, (0, 1))], [(1, (0, 3))]]

# Along the path 0, 1, 2 the latencies are 2 and 1, the lengths 1 and 3: it takes six ticks.
TICKS = Instance(
    Network("chain", 3, (Channel(0, 1), Channel(1, 2)), times=((2, 1), (1, 3))),
    Collective("two", (Message(0, (2,)), Message(0, (1,)))),
)
TICKS_STEPS: Raw = [[(0, (0, 1, 2))], [], [], [(1, (0, 1))], [], []]

VALID = {
    "broadcast": (BROADCAST, BROADCAST_STEPS),
    "reduce": (REDUCE, REDUCE_STEPS),
    "scatter": (SCATTER, SCATTER_STEPS),
    "store": (STORE, STORE_STEPS),
    "one-port": (ONE_PORT, ONE_PORT_STEPS),
    "gather": (GATHER, GATHER_STEPS),
    "reduce-ports": (REDUCE_PORTS, REDUCE_PORTS_STEPS),
    "across": (ACROSS, ACROSS_STEPS),
    "fat": (FAT, FAT_STEPS),
    "half": (HALF, HALF_STEPS),
    "table": (TABLE, [[(0, (0, 3, 2))]]),
    "table-combine": (TABLE_COMBINE, [[(0, (2, 1, 0))]]),
    "half-combine": (HALF_COMBINE, HALF_COMBINE_STEPS),
    "ticks": (TICKS, TICKS_STEPS),
    "group": (GROUP, GROUP_STEPS),
    "group-combine": (GROUP_COMBINE, GROUP_COMBINE_STEPS),
}

# What is done to which schedule: put these transfers at [step][transfer] (None drops it, an index
# behind the last one adds it, a step behind the last one adds a step); what must be reported.
MISTAKES = {
    "a transfer that ends after the last tick": ("ticks", {(3, 0): None, (4, 0): (1, (0, 1))},
        [("ends-too-late", 4, 0, 1, "")]),
    "a channel that is busy until the next tick": ("ticks", {(3, 0): None, (2, 0): (1, (0, 1))},
        [("channel-overload", 2, 0, 1, "channel 0->1")]),
    "message number too high": ("scatter", {(1, 0): (3, (1, 2, 3))},
        [("unknown-message", 1, 0, 3, "message 3"), ("missing-destination", -1, -1, 1, "node 3")]),
    "negative message number": ("store", {(1, 2): (-1, (0, 1))},
        [("unknown-message", 1, 2, -1, "message -1")]),
    "message number beyond 64 bits": ("store", {(1, 2): (2**99, (0, 1))},
        [("unknown-message", 1, 2, 2**99, "message (a number of 100 bits)")]),
    "empty path": ("scatter", {(1, 0): (1, ())},
        [("path-too-short", 1, 0, 1, ""), ("missing-destination", -1, -1, 1, "node 3")]),
    "path of one node": ("broadcast", {(1, 3): (0, (2,))}, [("path-too-short", 1, 3, 0, "")]),
    "node beyond the last": ("scatter", {(0, 0): (0, (0, 5, 2))},
        [("no-such-node", 0, 0, 0, "node 5")]),
    "negative node": ("scatter", {(0, 0): (0, (0, -2, 2))}, [("no-such-node", 0, 0, 0, "node -2")]),
    "node beyond 64 bits": ("scatter", {(0, 0): (0, (0, 2**64 + 1, 2**64 + 1, 2))},
        [("no-such-node", 0, 0, 0, "node (a number of 65 bits)")]),
    "no channel across the ring": ("scatter", {(1, 0): (1, (1, 3))},
        [("no-such-channel", 1, 0, 1, "channel 1->3")]),
    "no channel against a one-way link": ("fat", {(1, 0): (2, (0, 2, 1))},
        [("no-such-channel", 1, 0, 2, "channel 0->2")]),
    "there and back": ("scatter", {(1, 0): (1, (1, 2, 1, 2, 3))},
        [("path-not-simple", 1, 0, 1, "node 1")]),
    "standing still": ("scatter", {(1, 0): (1, (1, 1, 2, 3))},
        [("path-not-simple", 1, 0, 1, "node 1")]),
    "back to where it came from": ("broadcast", {(1, 3): (0, (2, 1, 2))},
        [("path-not-simple", 1, 3, 0, "node 2")]),
    "through a terminal": ("across", {(2, 0): (1, (1, 5, 3))},
        [("passes-endpoint", 2, 0, 1, "node 5")]),
    "detour": ("scatter", {(1, 0): (1, (1, 0, 4, 3))}, [("path-too-long", 1, 0, 1, "path 1->3")]),
    "off the table": ("table", {(0, 0): (0, (0, 1, 2))},
        [("path-off-table", 0, 0, 0, "path 0->2")]),
    "off the table of a reduction": ("table-combine", {(0, 0): (0, (2, 3, 0))},
        [("path-off-table", 0, 0, 0, "path 2->0")]),
    "two hops at once": ("store", {(1, 0): (0, (0, 1, 2))},
        [("not-one-hop", 1, 0, 0, "path 0->2")]),
    "one channel for two": ("scatter", {(1, 0): None, (0, 2): (1, (1, 2, 3))},
        [("channel-overload", 0, 2, 1, "channel 1->2"),
         ("channel-overload", 0, 2, 1, "channel 2->3"), ("empty-step", 1, -1, -1, "")]),
    "double channel for three": ("fat", {(1, 0): None, (0, 2): (2, (0, 1))},
        [("channel-overload", 0, 2, 2, "channel 0->1"), ("empty-step", 1, -1, -1, "")]),
    "both ways over a half-duplex link": ("half", {(1, 0): None, (0, 2): (1, (1, 0))},
        [("half-duplex-overload", 0, 2, 1, "half-duplex link 1-0"), ("empty-step", 1, -1, -1, "")]),
    "twice the same way over a half-duplex link": ("half", {(0, 1): (2, (0, 1, 2))},
        [("half-duplex-overload", 0, 1, 2, "half-duplex link 1-0")]),
    "two channels of a group": ("group", {(1, 0): None, (0, 1): (1, (0, 3))},
        [("group-overload", 0, 1, 1, "group of channel 0->3"), ("empty-step", 1, -1, -1, "")]),
    "group of a reduction": ("group-combine", {(1, 0): None, (0, 1): (1, (0, 3))},
        [("group-overload", 0, 1, 1, "group of channel 0->3"), ("empty-step", 1, -1, -1, "")]),
    "half-duplex link of a reduction": ("half-combine", {(1, 0): None, (0, 1): (1, (0, 1))},
        [("half-duplex-overload", 0, 1, 1, "half-duplex link 0-1"), ("empty-step", 1, -1, -1, "")]),
    "two sent with one port": ("one-port", {(1, 0): None, (0, 1): (0, (0, 5))},
        [("inject-overload", 0, 1, 0, "node 0")]),
    "two received with one port": ("gather", {(1, 0): None, (0, 3): (1, (5, 0))},
        [("accept-overload", 0, 3, 1, "node 0"), ("empty-step", 1, -1, -1, "")]),
    "two sent with one port in a reduction": ("reduce-ports", {(1, 0): None, (2, 1): (0, (5, 0))},
        [("accept-overload", 2, 1, 0, "node 0")]),
    "sent on in the step of its arrival": ("broadcast", {(1, 0): None, (0, 2): (0, (1, 2))},
        [("not-informed", 0, 2, 0, "node 1")]),
    "sent before it arrives": ("one-port", {(2, 1): None, (0, 1): (0, (2, 3))},
        [("not-informed", 0, 1, 0, "node 2")]),
    "sent without having it": ("scatter", {(1, 0): (1, (4, 3))},
        [("not-informed", 1, 0, 1, "node 4")]),
    "partial result received in the step of leaving": (
        "reduce", {(0, 0): None, (1, 2): (0, (2, 1))},
        [("not-informed", 1, 2, 0, "node 1")]),
    "an unrequested stop": ("scatter", {(1, 1): (2, (2, 1))},
        [("not-a-destination", 1, 1, 2, "node 1")]),
    "an unrequested source": (
        "half-combine", {(1, 1): (0, (2, 1)), (2, 0): (0, (1, 0)), (0, 0): None},
        [("empty-step", 0, -1, -1, ""), ("not-a-destination", 1, 1, 0, "node 2")]),
    "again in a later step": ("scatter", {(2, 0): (0, (0, 1, 2))},
        [("received-twice", 2, 0, 0, "node 2")]),
    "from both sides in one step": ("broadcast", {(1, 3): (0, (1, 2, 3))},
        [("channel-overload", 1, 3, 0, "channel 1->2"), ("received-twice", 1, 3, 0, "node 3")]),
    "back to its source": ("broadcast", {(1, 3): (0, (1, 0))},
        [("received-twice", 1, 3, 0, "node 0")]),
    # Read backwards the second one comes first, so it is the first that repeats it.
    "a part sent twice": ("reduce", {(1, 2): (0, (2, 1, 0))},
        [("received-twice", 0, 0, 0, "node 2"), ("channel-overload", 1, 2, 0, "channel 1->0")]),
    "a destination left out": ("broadcast", {(1, 1): None},
        [("missing-destination", -1, -1, 0, "node 3")]),
    "a link of the chain left out": ("broadcast", {(0, 1): None},
        [("not-informed", 1, 1, 0, "node 4"), ("missing-destination", -1, -1, 0, "node 4")]),
    "a source left out": ("reduce", {(0, 2): None}, [("missing-destination", -1, -1, 0, "node 5")]),
    "an empty step at the end": ("fat", {(2, None): None}, [("empty-step", 2, -1, -1, "")]),
    "an empty step in a reduction": ("reduce", {(2, None): None}, [("empty-step", 2, -1, -1, "")]),
}  # fmt: skip


def changed(raw: Raw, changes: dict) -> Steps:
    """Return the steps with the changes applied; drops come last, so that indices hold."""
    draft: list[list] = [list(step) for step in raw]
    for (step, slot), transfer in changes.items():
        while len(draft) <= step:
            draft.append([])
        if slot is None:
            continue
        if slot == len(draft[step]):
            draft[step].append(transfer)
        else:
            draft[step][slot] = transfer
    return steps_of([[transfer for transfer in step if transfer] for step in draft])
