"""The papers' table of a schedule, sources by steps: its cells."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from cchybrid.model import Reduction, Schedule, SummedMessage, Transfer
from cchybrid.model.shown import counted
from cchybrid.model.text import printable


@dataclass(frozen=True)
class Notation:
    """The signs of a format: how it writes the name of a node, an arrow, and a list of nodes."""

    name: Callable[[str], str]
    arrow: str = "->"


@dataclass(frozen=True)
class StepTable:
    """The transfers of a schedule as text, by sending node and step.

    Parameters
    ----------
    sources
        The names of the sending nodes, in the order of their numbers.
    headings
        The heading of every step.
    cells
        Per sending node and step the transfers, sorted by their last node.
    """

    sources: tuple[str, ...]
    headings: tuple[str, ...]
    cells: tuple[tuple[tuple[str, ...], ...], ...]

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.headings)


def step_heading(schedule: Schedule, number: int) -> str:
    """Return the heading of a step, counted from 1: with its rounds if steps have several."""
    if not schedule.instance.model.rounds:
        return f"step {number}"
    return f"step {number} ({counted(schedule.rounds[number - 1], 'round')})"


def chunk_text(schedule: Schedule, message: int) -> str:
    """Return the chunk of a transfer, from 0, such as `` chunk 1``; nothing of whole messages."""
    chunks = schedule.instance.collective.chunks
    return f" chunk {message % chunks}" if chunks > 1 else ""


PLAIN = Notation(printable)


def ends(
    schedule: Schedule, transfer: Transfer, notation: Notation = PLAIN, parts: tuple[int, ...] = ()
) -> str:
    """Return the two ends of a transfer, and the origin of its message where it is another node.

    ``4 (0)->7``: node 4 forwards a message of node 0 to node 7. ``2->1 (0)``: node 2 sends its
    part of a reduction to node 0 by node 1. ``4 (0+4)->7``: node 4 sends the sum of the parts of
    the nodes 0 and 4 of an allreduce or a scan to node 7; ``4 (all)->7``: the whole sum.
    """
    name = _namer(schedule, notation)
    message = schedule.instance.collective.messages[transfer.message]
    first, last = transfer.path[0], transfer.path[-1]
    text = f"{name(first)}{notation.arrow}{name(last)}"
    if isinstance(message, SummedMessage):
        if parts == (first,):
            return text
        whole = len(parts) == len(message.members)
        names = "all" if whole else "+".join(map(name, parts))
        return f"{name(first)} ({names}){notation.arrow}{name(last)}"
    if isinstance(message, Reduction):
        return text if last == message.destination else f"{text} ({name(message.destination)})"
    if first == message.source:
        return text
    return f"{name(first)} ({name(message.source)}){notation.arrow}{name(last)}"


def path_text(schedule: Schedule, transfer: Transfer, notation: Notation = PLAIN) -> str:
    """Return the nodes of a transfer's path, separated by commas."""
    return ",".join(map(_namer(schedule, notation), transfer.path))


def step_table(schedule: Schedule, notation: Notation = PLAIN) -> StepTable:
    """Return the table of all transfers: a row per sending node, a column per step."""
    size = len(schedule.steps)
    cells: dict[int, list[list[str]]] = defaultdict(lambda: [[] for _ in range(size)])
    for number, step in enumerate(schedule.steps):
        for place, transfer in sorted(enumerate(step), key=lambda entry: entry[1].path[-1]):
            both = ends(schedule, transfer, notation, schedule.parts(number, place))
            chunk = chunk_text(schedule, transfer.message)
            text = f"{both}{chunk} ({path_text(schedule, transfer, notation)})"
            cells[transfer.path[0]][number].append(text)
    name = _namer(schedule, notation)
    return StepTable(
        tuple(name(source) for source in sorted(cells)),
        tuple(step_heading(schedule, number) for number in range(1, len(schedule.steps) + 1)),
        tuple(tuple(map(tuple, cells[source])) for source in sorted(cells)),
    )


def _namer(schedule: Schedule, notation: Notation) -> Callable[[int], str]:
    network = schedule.instance.network
    return lambda node: notation.name(network.node_name(node))
