"""Entries: the messages that must enter a set of nodes, and how many steps they need at least.

A message that enters late reaches few nodes inside, so the last entries count only in part: a
message with w destinations inside needs entries whose shares min(1, reach[j] / w) add up to at
least 1, where j is the number of steps left after an entry and reach[j] the nodes inside that can
follow from it until then.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, zip_longest
from typing import NamedTuple


class Need(NamedTuple):
    """The number of steps that entries need, and the messages that decide it.

    Attributes
    ----------
    steps
        The number of steps.
    width
        The messages with at least this number of destinations inside decide.
    messages
        Their number.
    """

    steps: int
    width: int
    messages: int


def reach_of(power: Collection[int]) -> list[int]:
    """Return how many nodes a message can be at 0, 1, 2, ... steps after it is at one, at most.

    ``power`` is how many each of the nodes can inform in a step. The last value stays.
    """
    sent = [0, *accumulate(sorted(power, reverse=True))]
    reach = [1]
    while reach[-1] < len(power) and sent[reach[-1]] > 0:
        reach.append(min(len(power), reach[-1] + sent[reach[-1]]))
    return reach


def farther(one: list[int], other: list[int]) -> list[int]:
    """Return the larger value at each number of steps; each last value stays."""
    pairs = zip_longest(one, other, fillvalue=0)
    return list(accumulate((max(pair) for pair in pairs), max))


def fewest_steps(widths: Mapping[int, int], rate: int, reach: Sequence[int]) -> Need:
    """Return the number of steps that the entries need at least; 0 without capacity.

    Parameters
    ----------
    widths
        Number of messages by their number of destinations inside.
    rate
        Most entries in a step.
    reach
        Most nodes that follow from an entry with 0, 1, 2, ... steps left; the last value stays.
    """
    best = Need(0, 1, 0)
    messages = 0
    for width in sorted(widths, reverse=True) if rate else ():
        messages += widths[width]
        left, steps = messages * width, 0
        gains = [rate * min(width, nodes) for nodes in reach]
        while left > 0 and steps < len(gains) - 1:
            left -= gains[steps]
            steps += 1
        steps += max(0, -(-left // gains[-1]))
        if steps > best.steps:
            best = Need(steps, width, messages)
    return best
