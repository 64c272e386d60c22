"""The transfers of a step as arrows: colours of messages, lanes on links, labels."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from cchybrid.model import Reduction, Schedule, SummedMessage, Transfer
from cchybrid.model.collective import one_and_many

from .artists import Arrow
from .figure_styles import COLOURS, LINES, line_of, shown, text_width
from .link_curves import at
from .scene import Label, Scene, dense, free_places

MAX_KEYS = len(COLOURS) * len(LINES)
"""Keys that have a colour and a line style of their own."""


@dataclass(frozen=True)
class MessageKeys:
    """The meaning of the colours in the figures of a schedule.

    Messages have one key, and so one colour and line style, if they have the same source (of
    reductions: destination), or where all have the same, if they have the same destination.
    """

    schedule: Schedule

    @cached_property
    def shared(self) -> str:
        """The end that all messages of a key share: ``source``, ``goal``, or "", none.

        Of reductions, ``source`` stands for the destination, and ``goal`` for the source.
        """
        messages = self.schedule.instance.collective.messages
        if isinstance(messages[0], SummedMessage):
            return ""
        ends = list(map(one_and_many, messages))
        if len({one for one, _ in ends}) > 1 or len(messages) == 1:
            return "source"
        return "goal" if all(len(many) == 1 for _, many in ends) else ""

    @cached_property
    def keys(self) -> tuple[int, ...]:
        """The key of every message: a node, or the message itself."""
        ends = list(map(one_and_many, self.schedule.instance.collective.messages))
        if self.shared == "source":
            return tuple(one for one, _ in ends)
        return tuple(many[0] if self.shared else number for number, (_, many) in enumerate(ends))

    @cached_property
    def title(self) -> str:
        """The words before a key, such as ``messages from``."""
        collective = self.schedule.instance.collective
        if not self.shared or len(collective.messages) == 1:
            return "message"
        if collective.kind == "combine":
            return "reductions to" if self.shared == "source" else "reductions from"
        return "messages from" if self.shared == "source" else "messages to"

    @cached_property
    def words(self) -> str:
        """The title of the legend; empty if colours only tell apart the paths that meet."""
        few = len(self.keys) > 1 and len(set(self.keys)) <= MAX_KEYS
        return self.title if few else ""

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {key: number for number, key in enumerate(sorted(set(self.keys)))}

    def styles(self, step: tuple[Transfer, ...]) -> list[tuple[str, Any]]:
        """Return the colour and the line style of every transfer of a step."""
        if len(self._numbers) <= MAX_KEYS:
            return [line_of(self._numbers[self.keys[message]]) for message, _ in step]
        # Too many for colours of their own: those that meet at a node get different ones.
        used: dict[int, set[int]] = defaultdict(set)
        chosen = [0] * len(step)
        for index in sorted(range(len(step)), key=lambda i: (-len(step[i].path), i)):
            path = step[index].path
            near = Counter(number for node in path for number in used[node])
            chosen[index] = min(range(len(COLOURS)), key=lambda n: (near[n], (n + index) % 8))
            for node in path:
                used[node].add(chosen[index])
        return [line_of(number) for number in chosen]

    def legend(self) -> list[tuple[str, tuple[str, Any]]]:
        """Return the name and the style of every key, none if they have no colours of their own."""
        if not self.words:
            return []
        network = self.schedule.instance.network
        named = self.words != "message"
        return [
            (shown(network.node_name(key)) if named else str(key), line_of(number))
            for key, number in self._numbers.items()
        ]

    def holders(self, step: int) -> frozenset[int]:
        """Return the nodes that hold the only message when a step begins; none of several messages.

        Of a reduction: the nodes that still hold a part. Of an allreduce or a scan: those
        that hold the sum that they need.
        """
        messages = self.schedule.instance.collective.messages
        if len(messages) > 1:
            return frozenset()
        earlier = [path for transfers in self.schedule.steps[:step] for _, path in transfers]
        message = messages[0]
        if isinstance(message, SummedMessage):
            return self._with_whole_sum(message, step)
        if isinstance(message, Reduction):
            parts = {message.destination, *message.sources}
            for path in earlier:  # hop by hop, other nodes hold parts on the way, too
                parts.discard(path[0])
                parts.add(path[-1])
            return frozenset(parts)
        return frozenset({message.source, *(path[-1] for path in earlier)})

    def _with_whole_sum(self, message: SummedMessage, step: int) -> frozenset[int]:
        members = set(message.members)
        needed = {node: set(message.needed(node)) for node in members}
        held = {node: needed[node] & {node} for node in members}
        for number, transfers in enumerate(self.schedule.steps[:step]):
            for place, (_, path) in enumerate(transfers):
                parts = {*self.schedule.parts(number, place)}
                if parts <= needed.get(path[-1], members):
                    held.setdefault(path[-1], set()).update(parts)
        return frozenset(node for node in held if held[node] == needed.get(node, members))

    def label(self, transfer: Transfer) -> str:
        """Return the text that names the message; empty where the ends of the path say it."""
        messages = self.schedule.instance.collective.messages
        if len(messages) == 1:
            return ""
        message, (first, last) = messages[transfer.message], (transfer.path[0], transfer.path[-1])
        name = self.schedule.instance.network.node_name
        if isinstance(message, SummedMessage):
            return shown(str(transfer.message))
        one, many = one_and_many(message)
        if isinstance(message, Reduction):
            return "" if last == one else shown(f"→{name(one)}")
        if first == one and (len(many) > 1 or last == many[0]):
            return ""
        if len(many) > 1:
            return shown(name(one))
        return shown(f"{name(one)}→{name(many[0])}")


def step_arrows(
    scene: Scene, step: tuple[Transfer, ...], styles: list[tuple[str, Any]]
) -> list[Arrow]:
    """Return an arrow per transfer, in their order; those on one link run beside each other."""
    lanes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, transfer in enumerate(step):
        for hop in pairwise(transfer.path):
            lanes[hop].append(index)
    arrows = []
    for index, transfer in enumerate(step):
        pieces = []
        for a, b in pairwise(transfer.path):
            ahead, opposite = lanes[a, b], lanes.get((b, a), [])
            count = len(ahead) + len(opposite)
            distance = min(2.2 * scene.stroke + 1.2, 1.8 * scene.radius / count)
            place: float = ahead.index(index)
            if not opposite:  # the lanes are centred on the link, otherwise on its right
                place -= len(ahead) / 2
            pieces.append(scene.curve(a, b, (place + 0.5) * distance))
        colour, line = styles[index]
        arrows.append(Arrow(np.concatenate(pieces), colour, line, scene.stroke))
    return arrows


def arrow_labels(
    scene: Scene, arrows: list[Arrow], texts: list[str], size: float
) -> list[tuple[Label, str]]:
    """Return the labels of arrows with their colours, each on its line where it covers little.

    Arrows that are too short for their labels have none.
    """
    places = free_places(scene)
    if arrows:
        places.points = np.concatenate([dense(arrow.curve) for arrow in arrows])
    labels = []
    for arrow, text in zip(arrows, texts, strict=True):
        if text:
            length = float(np.hypot(*np.diff(arrow.curve, axis=0).T).sum())
            if length - 2 * scene.radius - scene.head < 2 * text_width(text, size) + 4:
                continue
            shares = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)
            centres = [(float(x), float(y)) for x, y in (at(arrow.curve, s) for s in shares)]
            labels.append((places.place(text, size, centres), arrow.colour))
    return labels
