"""All-to-all between terminals that share switches, from an all-to-all between the switches.

With f terminals at every switch, a schedule between the switches in which each sends and accepts at
most f messages per step is repeated f * f times. In repetition (x, y) the terminals of every switch
send in an order shifted by x, and accept in an order shifted by y: so each pair of terminals of two
switches occurs exactly once, and no terminal sends or accepts two messages at a time. Messages
between terminals of one switch fill idle steps.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product

from cchybrid.model import Collective, CommunicationModel, Instance, Message, Network, Transfer
from cchybrid.problem import build_problem

from .context import Context, DoesNotApplyError, Draft, Path
from .offset_exchange import offset_exchange
from .packing import packed_scatter
from .translated_exchange import translated_exchange


def shared_switches(context: Context) -> Draft:
    """Return the all-to-all scatter derived from the best one found between the switches."""
    context.require_scatter()
    context.require_wormhole()
    places = _Terminals(context)
    among = _between_switches(context, places)
    shifts = list(product(range(places.each), repeat=2))
    draft: Draft = []
    for wave in among:
        sent, taken = _orders(wave)
        for x, y in shifts:
            paths = []
            for path in wave:
                first = places.of[path[0]][(sent[path] + x) % places.each]
                last = places.of[path[-1]][(taken[path] + y) % places.each]
                paths.append((first, *path, last))
            draft.append([Transfer(places.message[path[0], path[-1]], path) for path in paths])
    _fill(draft, places)
    return draft


class _Terminals:
    """The terminals of every switch.

    Attributes
    ----------
    each
        Terminals per switch.
    of
        Per switch, its terminals.
    message
        The message of every pair of terminals.
    """

    def __init__(self, context: Context) -> None:
        network = context.network
        terminals = sorted({message.source for message in context.messages})
        self.message = context.message_of_pair(len(terminals))
        self.of: dict[int, list[int]] = defaultdict(list)
        behind = context.structure.routes.predecessors
        for terminal in terminals:
            ahead = list(network.successors[terminal])
            if len(ahead) != 1 or ahead != behind[terminal] or terminal not in context.endpoints:
                raise DoesNotApplyError("a terminal that is not attached to exactly one switch")
            self.of[ahead[0]].append(terminal)
        self.each = len(terminals) // len(self.of)
        if self.each < 2 or any(len(members) != self.each for members in self.of.values()):
            raise DoesNotApplyError("switches with one terminal, or with different numbers of them")


def _between_switches(context: Context, places: _Terminals) -> list[list[Path]]:
    """Return, per step, the paths of the shortest all-to-all between the switches."""
    network = context.network
    switches = [node for node in range(network.nodes) if node not in network.endpoints]
    number = {node: index for index, node in enumerate(switches)}
    channels = tuple(
        channel._replace(source=number[channel.source], target=number[channel.target])
        for channel in network.channels
        if channel.source in number and channel.target in number
    )
    half_duplex = tuple((number[a], number[b]) for a, b in network.half_duplex if a in number)
    slim = Network("switches", len(switches), channels, half_duplex)
    ends = [number[node] for node in sorted(places.of)]
    messages = tuple(Message(a, (b,)) for a in ends for b in ends if a != b)
    if not messages:
        raise DoesNotApplyError("one switch alone")
    extra_hops = context.structure.extra_hops
    model = CommunicationModel(
        inject=places.each, accept=places.each, routing="any" if extra_hops is None else extra_hops
    )
    instance = Instance(slim, Collective("between switches", messages), model)
    repeats = places.each**2
    # Constructions search their paths themselves, so few have to be listed.
    inner = Context(
        build_problem(instance, max_options=1),
        context.random.randrange(1 << 30),
        context.check,
        effort=context.effort,
    )
    context.require_useful(repeats * inner.min_steps)
    best: Sequence[Sequence[Transfer]] = ()
    with suppress(DoesNotApplyError):
        best = offset_exchange(inner).in_steps(None)
    for make in (translated_exchange, packed_scatter):
        inner.known = len(best) or inner.known
        if inner.known > inner.min_steps:
            with suppress(DoesNotApplyError):
                best = make(inner)
    if not best:
        raise DoesNotApplyError("no construction applies to the switches")
    context.require_useful(repeats * len(best))
    return [[tuple(switches[node] for node in move.path) for move in step] for step in best]


def _orders(wave: list[Path]) -> tuple[dict[Path, int], dict[Path, int]]:
    """Number the paths of a step per switch: among those leaving it, and those ending at it."""
    sent: dict[Path, int] = {}
    taken: dict[Path, int] = {}
    leaving: dict[int, int] = defaultdict(int)
    arriving: dict[int, int] = defaultdict(int)
    for path in wave:
        sent[path], taken[path] = leaving[path[0]], arriving[path[-1]]
        leaving[path[0]] += 1
        arriving[path[-1]] += 1
    return sent, taken


def _fill(draft: Draft, places: _Terminals) -> None:
    """Add the messages between terminals of one switch in steps where both are idle."""
    sends = [{move.path[0] for move in step} for step in draft]
    takes = [{move.path[-1] for move in step} for step in draft]
    for source, switch, goal in _neighbours(places):
        step = 0
        while step < len(draft) and (source in sends[step] or goal in takes[step]):
            step += 1
        if step == len(draft):
            draft.append([])
            sends.append(set())
            takes.append(set())
        draft[step].append(Transfer(places.message[source, goal], (source, switch, goal)))
        sends[step].add(source)
        takes[step].add(goal)


def _neighbours(places: _Terminals) -> Iterator[Path]:
    for switch, members in places.of.items():
        for source, goal in product(members, members):
            if source != goal:
                yield source, switch, goal
