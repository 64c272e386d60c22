"""Small groups of automorphisms, with the images of messages, nodes and channels.

A model whose schedules have to be invariant under a group needs one variable for all images of a
flow; see the engine ``broadcast``. Unlike a quotient it needs no list of paths.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cchybrid.problem import Problem
from cchybrid.problem.symmetry.automorphisms import MessageMap, automorphisms
from cchybrid.problem.symmetry.choice import choices
from cchybrid.problem.symmetry.groups import Group

Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Images:
    """The images of messages, nodes and channels under the elements of a group.

    Parameters
    ----------
    message, node, channel
        Shape (order, messages), (order, nodes), (order, channels): the image of each.
    """

    message: Rows
    node: Rows
    channel: Rows

    @classmethod
    def of(cls, problem: Problem, group: Group) -> "Images":
        """Return the images under a group of automorphisms of a Problem's instance.

        Raises
        ------
        ValueError
            If some element changes the messages or the channels, or the Problem is a quotient.
        """
        if problem.structure is None:
            raise ValueError("a quotient has no messages")
        channels, channel_of = problem.structure.channels, problem.structure.resources.channel_of
        messages = MessageMap(problem.origin.instance)
        rows: tuple[list[tuple[int, ...]], ...] = ([], [], [])
        for element in group.elements:
            moved = messages.image(element)
            if moved is None:
                raise ValueError("an element of the group changes the messages")
            place = channel_of(element[channels[:, 0]], element[channels[:, 1]])
            if (place < 0).any():
                raise ValueError("an element of the group changes the channels")
            for row, image in zip(rows, (moved, element, place), strict=True):
                row.append(tuple(image.tolist()))
        return cls(*map(tuple, rows))

    def is_first(self, message: int) -> bool:
        """Return whether a message has the smallest number of its orbit."""
        return all(row[message] >= message for row in self.message)

    def first_channel(self, message: int, sender: int, channel: int) -> tuple[int, int, int]:
        """Return the smallest image of a message, its sender and a channel."""
        return min(
            (m[message], n[sender], c[channel])
            for m, n, c in zip(self.message, self.node, self.channel, strict=True)
        )

    def first_node(self, message: int, sender: int, node: int) -> tuple[int, int, int]:
        """Return the smallest image of a message, its sender and a node."""
        return min(
            (m[message], n[sender], n[node]) for m, n in zip(self.message, self.node, strict=True)
        )


def small_groups(
    problem: Problem, seed: int, count: int, should_stop: Callable[[], bool] = lambda: False
) -> list[Images]:
    """Return some groups of automorphisms, small ones first, which restrict schedules least.

    Parameters
    ----------
    seed
        Seed for the draws of groups.
    count
        Number of groups, at most.
    """
    instance = problem.origin.instance
    found = choices(instance, automorphisms(instance), seed, should_stop)
    groups = sorted((choice.action.group for choice in found), key=lambda group: group.order)
    return [Images.of(problem, group) for group in groups[:count]]
