"""The referee's rules of sums, of an allreduce or a scan: no node counts a part twice.

A node holds values: its own part, and every sum that it has received. Sets of parts are bit masks
over the nodes. The rules that concern paths, channels and ports are those of ``verify``.
"""

from collections import defaultdict
from functools import reduce
from itertools import accumulate
from operator import index, or_
from typing import cast

from cchybrid.model import Instance, Steps, SummedMessage, Sums
from cchybrid.model.errors import InputError
from cchybrid.referee.violations import Report

Receipt = tuple[int, int, int, int]
"""Slot of the transfer in its step, message, receiver, and the parts as a bit mask."""


def check_contributions(instance: Instance, steps: Steps, sums: Sums, report: Report) -> None:
    """Report every violation of the rules of sums.

    Parameters
    ----------
    instance
        One whose collective is an ``allreduce``, a ``scan`` or an ``exscan``.
    steps, sums
        As in ``Schedule``.
    report
        Where the violations are added.
    """
    if [len(step) for step in sums] != [len(step) for step in steps]:
        raise InputError("not one sum for each transfer", where="sums", hint="see Schedule.sums")
    messages = cast(tuple[SummedMessage, ...], instance.collective.messages)
    members = [sum(1 << node for node in message.members) for message in messages]
    kind = instance.collective.kind
    needs = [_needs(kind, message) for message in messages]
    wormhole = not instance.model.hop_by_hop
    values: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for message, each in enumerate(messages):
        for node in each.members:
            values[message, node].append(1 << node)
    for step, (transfers, carried) in enumerate(zip(steps, sums, strict=True)):
        receipts: list[Receipt] = []
        for slot, ((message, path), parts) in enumerate(zip(transfers, carried, strict=True)):
            if not 0 <= message < len(messages) or len(path) < 2 or path[0] == path[-1]:
                continue  # another rule reports it
            mask = _mask(parts, members[message])
            if mask is None:
                text = (
                    f"{_sum(parts, message, report)} names a node twice, or one that is no member"
                )
                report.worded("no-such-part", step, slot, f"message {message}", text)
                continue
            # Bits of a mask need integers of Python: those of NumPy have 64 bits.
            message, first, last = index(message), index(path[0]), index(path[-1])
            known = 0 if 0 <= last < instance.network.nodes else mask  # another rule reports it
            if wormhole and mask & ~needs[message].get(last, known):
                place = f"node {report.node(last)}"
                text = f"{place} receives {_sum(parts, message, report)}, not all of which it needs"
                report.worded("not-a-destination", step, slot, place, text)
            if reduce(or_, (v for v in values[message, first] if v | mask == mask), 0) != mask:
                place = f"node {report.node(first)}"
                text = f"{place} sends {_sum(parts, message, report)}, which it cannot"
                text += " form from what it holds since an earlier step"
                report.worded("not-informed", step, slot, place, text)
            receipts.append((slot, message, last, mask))
        # Larger sums first: whatever their order in the file, a smaller one that is part of a
        # larger one of the same step brings nothing new.
        for slot, message, last, mask in sorted(receipts, key=lambda r: (-r[3].bit_count(), r[0])):
            _receive(step, slot, message, last, mask, values[message, last], report)
    for message, goals in enumerate(needs):
        for node, needed in goals.items():
            if reduce(or_, (v for v in values[message, node] if v | needed == needed), 0) != needed:
                report.missing(message, node)


def _needs(kind: str, message: SummedMessage) -> dict[int, int]:
    """Return the parts that every member needs, as bit masks."""
    through = list(accumulate((1 << node for node in message.members), or_))
    all_parts = [through[-1]] * len(through)
    masks = {"allreduce": all_parts, "scan": through, "exscan": [0, *through[:-1]]}
    return dict(zip(message.members, masks[kind], strict=True))


def _receive(
    step: int, slot: int, message: int, node: int, mask: int, held: list[int], report: Report
) -> None:
    """Add a value to those that a node holds, and report it if a rule forbids it."""
    place = f"node {report.node(node)}"
    text = f"{place} receives a sum of message {message}"
    if reduce(or_, held, 0) | mask == reduce(or_, held, 0):
        text += " that holds no part which is new to it"
        report.worded("received-twice", step, slot, place, text)
        return
    # Disjoint sums are added, and a sum that contains others replaces them.
    twice = [value for value in held if value & mask and value | mask != mask]
    if twice:
        part = report.node((twice[0] & mask).bit_length() - 1)
        text += (
            f" that counts the part of node {part} again, in a sum that does not replace its own"
        )
        report.worded("counted-twice", step, slot, place, text)
    held.append(mask)


def _mask(parts: tuple[int, ...], members: int) -> int | None:
    """Return the parts as a bit mask; ``None`` if they are no set of members."""
    mask = 0
    for part in _whole(parts):
        if not 0 <= part < members.bit_length() or mask >> part & 1:
            return None
        mask |= 1 << part
    return mask if mask and mask | members == members else None


def _whole(parts: tuple[int, ...]) -> list[int]:
    try:
        return list(map(index, parts))
    except TypeError:
        raise InputError(
            "a sum names what is no node", where="sums", hint="parts are whole numbers"
        ) from None


def _sum(parts: tuple[int, ...], message: int, report: Report) -> str:
    names = ", ".join(map(report.node, parts[:6])) + (", ..." if len(parts) > 6 else "")
    return f"the sum of the parts of {names or 'no node'} of message {message}"
