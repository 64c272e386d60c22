"""The referee: decides whether a schedule is valid, from the instance and the steps alone.

Every rule is listed in ``RULES`` and is checked for every transfer, with numpy, in time linear in
the size of the schedule (sorting aside, and for bounded routing a search around every node that
sends over more than one hop, as far as its paths lead). No other code decides validity.

A ``combine`` schedule is valid exactly when it is a valid broadcast read backwards on the reversed
network. It is checked in this form; steps, paths and words are converted back for the report, so a
rule such as ``received-twice`` says that a node *sends* its part twice. The sums of an
``allreduce`` or a scan are checked in ``contributions``.

One error should give few violations, so every rule ignores what another one reports:
a message is received at the end of its path even if the path is wrong, it informs the receiver
even if the sender did not hold it, and a half-duplex link is counted once, as a pair.
"""

from collections.abc import Callable, Iterable
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import FlatSteps, Instance, Schedule, Steps, Sums
from cchybrid.model.errors import InputError
from cchybrid.referee.capacities import (
    CELLS,
    UNLIMITED,
    Ints,
    overloads_in_steps,
    overloads_in_ticks,
    pairs,
    run_heads,
)
from cchybrid.referee.contributions import check_contributions
from cchybrid.referee.distances import distance_blocks
from cchybrid.referee.features import refuse_subclass, refuse_unknown
from cchybrid.referee.violations import RULES, Report, Violation

__all__ = ["RULES", "Violation", "refuse_invalid", "verify", "verify_schedule"]

_BLOCK = 1 << 20
"""Nodes of paths that are checked at once; this needs a hundred megabytes. No step is cut."""

Flags = NDArray[np.bool_]


def verify(instance: Instance, steps: Steps, sums: Sums = ()) -> tuple[Violation, ...]:
    """Return every violation of the rules; a schedule is valid when there is none.

    Parameters
    ----------
    instance
        The instance that the schedule is for.
    steps
        Per step its transfers, as in ``Schedule.steps``. Any integers are accepted.
    sums
        For an ``allreduce`` or a scan, as in ``Schedule.sums``: one for each transfer.

    Returns
    -------
    tuple[Violation, ...]
        Sorted by step, then transfer; those that concern a whole step follow its transfers, those
        that concern the whole schedule (``missing-destination``) come last.

    Raises
    ------
    InputError
        The instance has a feature that the rules do not know, or a message or node is no integer.
    """
    refuse_unknown(instance)
    return _Referee(instance, steps, sums).violations()


def verify_schedule(schedule: Schedule) -> tuple[Violation, ...]:
    """Return every violation in a schedule; see ``verify``.

    Examples
    --------
    >>> import cchybrid
    >>> schedule = cchybrid.solve("mesh-2x2", "broadcast", time_limit=20).schedule
    >>> cchybrid.verify_schedule(schedule)
    ()
    """
    refuse_subclass(schedule)
    return verify(schedule.instance, schedule.steps, schedule.sums)


def refuse_invalid(schedule: Schedule, where: str | Path = "") -> None:
    """Raise an ``InputError`` with the first violation of a schedule that is not valid.

    Parameters
    ----------
    where
        The file or the argument that it comes from; by default the name of the instance.
    """
    violations = verify_schedule(schedule)
    if violations:
        raise InputError(
            f"not a valid schedule: {violations[0].text}",
            where=str(where) or schedule.instance.name,
            hint="see: cchybrid verify",
        )


class _Referee:
    """One check. Arrays hold the *forward* reading; ``report`` converts it back.

    With T transfers in S steps: ``step``, ``message``, ``first``, ``last``, ``hops`` have shape
    (T,); ``node`` holds all paths end to end, that of transfer t from ``start[t]`` on, and step s
    begins with transfer ``heads[s]``. -1 stands for any number out of range, except in ``node``,
    and in ``first`` and ``last`` for a path without two different ends: such a transfer neither
    sends nor receives. In ``sound`` are the transfers whose paths break no rule so far.
    """

    def __init__(self, instance: Instance, steps: Steps, sums: Sums) -> None:
        self.report, self.steps = Report(instance, steps), len(steps)
        self.sums = sums
        forward = instance if instance.collective.with_sums else instance.forward
        # Like ``reverse_steps``, but the paths are reversed as arrays: a million new tuples would
        # take longer than the whole check.
        read: Any = steps[::-1] if self.report.backwards else steps
        self.network, self.model = forward.network, forward.model
        self.messages = forward.collective.deliver_messages
        self.nodes = self.network.nodes
        self.rounds = _limits(map(self.model.rounds_in, range(self.steps)))

        if type(read) is FlatSteps:
            message, node, self.heads, self.start = read.message, read.node, read.first, read.start
        else:
            transfers = list(chain.from_iterable(read))
            message = _numbers([transfer[0] for transfer in transfers])
            paths = [transfer[1] for transfer in transfers]
            node = _numbers(list(chain.from_iterable(paths)))
            self.heads, self.start = (np.cumsum([0, *map(len, each)]) for each in (read, paths))
        count, length = len(message), np.diff(self.start)
        is_short = max(len(node), count, self.nodes, len(self.messages)) < 1 << 31
        self.whole: Any = np.int32 if is_short else np.int64  # half the memory and time
        self.step: Ints = np.repeat(np.arange(len(read), dtype=self.whole), np.diff(self.heads))
        self.message = self._within(message, len(self.messages))
        self.hops: Ints = (length - 1).astype(self.whole)
        if self.report.backwards:
            turned = np.repeat(self.start[:-1] + self.start[1:] - 1, length)
            node = node[turned - np.arange(len(node))]
        self.node = node
        self.sound: Flags = self.hops > 0
        self.first: Ints = np.full(count, -1, dtype=self.whole)
        self.last = self.first.copy()
        self.first[self.sound] = self._within(node[self.start[:-1][self.sound]], self.nodes)
        self.last[self.sound] = self._within(node[self.start[1:][self.sound] - 1], self.nodes)
        closed = self.first == self.last
        self.first[closed] = self.last[closed] = -1
        # In ticks: after which the head of each path has left it, and for which its channels and
        # ports are busy. The message has arrived after both together.
        self.latency, self.length = (np.full(count, each, dtype=np.int64) for each in (0, 1))

    def _within(self, values: Any, limit: int) -> Ints:
        """Return the values as an array, -1 for those outside 0 to ``limit - 1``."""
        found: Ints = np.where((values >= 0) & (values < limit), values, -1)
        return found.astype(self.whole, copy=False)

    def violations(self) -> tuple[Violation, ...]:
        """Check every rule and return the violations."""
        if len(self.model.rounds) < 2 and not (self.model.periodic or self.network.times):
            for step in np.flatnonzero(np.diff(self.heads) == 0).tolist():
                self.report.empty_step(step)
        self._check_paths()
        if self.report.instance.collective.with_sums:
            check_contributions(self.report.instance, self.report.steps, self.sums, self.report)
        else:
            self._check_knowledge()
        return self.report.sorted()

    def _flag(self, rule: str, transfers: Ints, facts: Ints | None = None) -> None:
        """Report one violation of the rule per transfer (``facts`` as in ``Report.transfer``)."""
        steps = self.step[transfers]
        values = [-1] * len(steps) if facts is None else facts.tolist()
        slots = (transfers - self.heads[steps]).tolist()
        for step, slot, fact in zip(steps.tolist(), slots, values, strict=True):
            self.report.transfer(rule, step, slot, fact)

    def _check_paths(self) -> None:
        self._flag("unknown-message", np.flatnonzero(self.message < 0))
        self._flag("path-too-short", np.flatnonzero(~self.sound))
        # No step is cut: a block begins where the step of its first path does. In a period, and in
        # ticks, paths lead into other steps.
        whole = self.model.periodic or self.network.times
        size = max(1, len(self.node)) if whole else _BLOCK
        firsts = np.searchsorted(self.start, np.arange(0, len(self.node), size), "right") - 1
        starts = self.heads[self.step[firsts]].tolist()
        for i, j in pairwise(sorted({*starts, len(self.step)})):
            self._check_hops(i, j)
            self._check_ports(i, j)
        self.arrival = self.step + self.latency + self.length - 1
        self._flag("ends-too-late", np.flatnonzero(self.arrival >= self.steps))
        if self.model.hop_by_hop:
            self._flag("not-one-hop", np.flatnonzero(self.hops > 1))
        else:
            self._check_lengths(self.sound)

    def _check_hops(self, start: int, stop: int) -> None:
        """Check the hops of the transfers of some steps."""
        owner = np.repeat(np.arange(start, stop), self.hops[start:stop] + 1)
        node = self._within(self.node[self.start[start] : self.start[stop]], self.nodes)

        def wrong(rule: str, owners: Ints) -> None:
            owners = np.unique(owners)
            self._flag(rule, owners)
            self.sound[owners] = False

        wrong("no-such-node", owner[node < 0])
        tail = np.flatnonzero(owner[:-1] == owner[1:])  # where every hop begins
        a, b, hop_owner = node[tail], node[tail + 1], owner[tail]
        known = (a >= 0) & (b >= 0)
        channel = self._channels(np.where(known, pairs(a, self.nodes, b), -1))
        wrong("no-such-channel", hop_owner[known & (a != b) & (channel < 0)])

        several = (self.hops[owner] > 1) & (node >= 0)  # one hop is simple unless its ends are one
        visit = np.sort(pairs(owner[several], self.nodes, node[several]))
        again = visit[1:][visit[1:] == visit[:-1]] // self.nodes
        winding = np.append(again, hop_owner[known & (a == b)])
        wrong("path-not-simple", winding)

        barred = np.zeros(self.nodes + 1, dtype=bool)  # one more entry, for index -1
        barred[list(self.network.endpoints)] = True
        inner = tail[1:][hop_owner[1:] == hop_owner[:-1]]
        wrong("passes-endpoint", owner[inner[barred[node[inner]]]])
        if self.model.table is not None:
            # At every hop the table leads from the one node to the other.
            hops, ahead = np.array(self.model.table.hops), (tail, tail + 1, self.last)
            here, there, end = (tail + 1, tail, self.first) if self.model.table.backwards else ahead
            off = hops[node[here], end[hop_owner]] != node[there]
            wrong("path-off-table", hop_owner[off & self.sound[hop_owner]])
        # A path that is not simple may use a channel twice, which is the same error.
        used = (channel >= 0) & ~np.isin(hop_owner, winding)
        late = (tail + self.start[start] - self.start[hop_owner])[used]
        if self.network.times:
            late = self._ticks_before(hop_owner, channel)[used]
        owner = hop_owner[used]
        self._check_links(owner, channel[used], self._when(owner, late))

    def _ticks_before(self, owner: Ints, channel: Ints) -> Ints:
        """Return, per hop, the latency of the hops before it, and set the times of the paths."""
        # The last one is for no channel.
        times = np.array([*self.network.times, (0, 0)], dtype=np.int64)
        latency, length = times[channel].T
        np.maximum.at(self.length, owner, length)
        total = np.cumsum(latency)
        heads = run_heads(owner)
        before: Ints = total - latency
        before -= np.repeat(before[heads], np.diff(np.append(heads, len(owner))))
        np.add.at(self.latency, owner, latency)
        return before

    def _when(self, owner: Ints, late: Ints) -> Ints:
        """Return the steps of uses that begin N slots or ticks after their transfers (``late``)."""
        step = self.step[owner]
        if self.network.times:
            return step + late
        return (step + late) % self.steps if self.model.periodic else step

    def _channels(self, hops: Ints) -> Ints:
        """Return the index of every hop's channel, -1 where there is none; a hop of -1 has none."""
        listed = self.network.channels
        # One more key, and a number below, for hops that are not found.
        keys = np.array([*(c[0] * self.nodes + c[1] for c in listed), -2], dtype=np.int64)
        if self.nodes**2 < CELLS:
            table = np.full(self.nodes**2 + 1, -1, dtype=self.whole)
            table[keys[:-1]] = np.arange(len(listed))
            return table[hops]
        order = np.append(np.argsort(keys[:-1]), -1)
        place = np.searchsorted(keys[order[:-1]], hops)
        return np.where(keys[order[place]] == hops, order[place], -1)

    def _check_lengths(self, sound: Flags) -> None:
        if self.model.extra_hops is None:
            return
        extra = min(self.model.extra_hops, self.nodes)  # sound paths have fewer hops than nodes
        # One hop is always the shortest path: only longer ones need distances, and only up to
        # the length at which the path would be allowed.
        longer = np.flatnonzero(sound & (self.hops > 1 + extra))
        longer = longer[np.argsort(self.first[longer], kind="stable")]
        first, spare = self.first[longer], self.hops[longer] - extra - 1
        heads = run_heads(first)
        radius = np.maximum.reduceat(spare, heads) if len(heads) else spare
        ends = np.append(heads, len(first))
        row = np.repeat(np.arange(len(heads)), np.diff(ends))
        for rows, distance in distance_blocks(self.network, first[heads].tolist(), radius.tolist()):
            i, j = ends[rows.start], ends[rows.stop]
            shortest = distance[row[i:j] - rows.start, self.last[longer[i:j]]].astype(np.int64)
            bad = (shortest >= 0) & (shortest <= spare[i:j])
            self._flag("path-too-long", longer[i:j][bad], shortest[bad] + extra)

    def _check_links(self, owner: Ints, channel: Ints, when: Ints) -> None:
        channels = self.network.channels
        link = np.arange(len(channels))
        for hop, first in self.network.shared.items():
            link[self.network.channel_index[hop]] = self.network.channel_index[first]
        groups = {group[0] for group in self.network.groups}

        def name(index: int) -> tuple[str, str]:
            hop = a, b = channels[index][:2]
            if self.report.backwards:
                a, b = b, a
            one, other = self.report.node(a), self.report.node(b)
            if hop in groups:
                return "group-overload", f"group of channel {one}->{other}"
            if hop in self.network.shared:
                return "half-duplex-overload", f"half-duplex link {one}-{other}"
            return "channel-overload", f"channel {one}->{other}"

        limits = _limits(channel.capacity for channel in channels)
        self._check_limits(owner, link[channel], when, limits, name)

    def _check_ports(self, start: int, stop: int) -> None:
        """Check the ends of the transfers of some steps."""
        model, rules = self.model, ["inject-overload", "accept-overload"]
        if self.report.backwards:  # injecting and accepting are exchanged
            rules.reverse()
        for rule, ends, ports, limit in (
            (rules[0], self.first, model.inject, model.inject_limit),
            (rules[1], self.last, model.accept, model.accept_limit),
        ):
            if ports is not None:
                owner = start + np.flatnonzero(ends[start:stop] >= 0)
                limits = _limits(limit(node) for node in range(self.nodes))

                def name(index: int, rule: str = rule) -> tuple[str, str]:
                    return rule, f"node {self.report.node(index)}"

                late = self.latency if self.network.times else self.hops - 1
                late = late[owner] if ends is self.last else owner * 0
                self._check_limits(owner, ends[owner], self._when(owner, late), limits, name)

    def _check_limits(
        self,
        owner: Ints,
        resource: Ints,
        when: Ints,
        limits: Ints,
        name: Callable[[int], tuple[str, str]],
    ) -> None:
        """Report every resource that transfers use above its limit in one step or tick.

        ``owner``, ``resource`` and its step ``when`` have one entry per use; ``name`` gives rule
        and place.
        """
        if self.network.times:
            found = overloads_in_ticks(resource, when, self.length[owner], limits)
        else:
            found = overloads_in_steps(resource, when, limits, self.rounds)
        for which, step, uses in found:
            users = owner[uses]
            begins = self.step[users]
            slots = zip(begins.tolist(), (users - self.heads[begins]).tolist(), strict=True)
            rounds = 1 if self.network.times else int(self.rounds[step])
            self.report.overload(*name(which), step, list(slots), int(limits[which]) * rounds)

    def _check_knowledge(self) -> None:
        source, fan, goals = map(np.array, self.report.instance.forward.collective.flat)
        goal = np.repeat(np.arange(len(fan)), fan) * self.nodes + goals
        goal.sort()
        # Some messages at a time, of which a table has every node.
        width = min(len(fan), max(1, CELLS // self.nodes))
        lows = np.arange(0, len(fan) + width, width)
        kind = np.uint16 if len(lows) < 1 << 16 else self.whole  # 16 bits are sorted by counting
        block = (self.message // width).astype(kind)
        order = np.argsort(block, kind="stable")
        cuts = np.searchsorted(block, np.arange(len(lows)).astype(kind), sorter=order)
        goal_cuts = np.searchsorted(goal, lows * self.nodes)
        self._receipt: Ints = np.full(width * self.nodes, -1, dtype=self.whole)
        for place, low in enumerate(lows[:-1].tolist()):
            transfers = order[cuts[place] : cuts[place + 1]]
            if self.network.times:
                transfers = transfers[np.argsort(self.arrival[transfers], kind="stable")]
            deliveries = goal[goal_cuts[place] : goal_cuts[place + 1]]
            self._check_messages(low, source, transfers, deliveries)

    def _check_messages(self, low: int, source: Ints, transfers: Ints, goal: Ints) -> None:
        """Check who knows the messages from ``low`` on, of which these are the transfers."""
        base, start = self.nodes * low, source[self.message[transfers]]
        of = pairs(self.message[transfers], self.nodes, -base)
        got = self.last[transfers] >= 0
        receipts, home = transfers[got], self.last[transfers[got]] == start[got]
        key = of[got] + self.last[receipts]
        if not self.model.hop_by_hop:
            self._receipt[goal - base] = 0
            self._flag("not-a-destination", receipts[~home & (self._receipt[key] < 0)])
            self._receipt[goal - base] = -1
        self._receipt[key[::-1]] = receipts[::-1]  # of several, the earliest is written last
        again = home | (self._receipt[key] != receipts)
        self._flag("received-twice", receipts[again], home[again].astype(np.int64))

        sent = (self.first[transfers] >= 0) & (self.first[transfers] != start)
        senders = transfers[sent]
        since = self._receipt[of[sent] + self.first[senders]]
        if self.model.periodic:  # any slot may follow, in this period or a later one
            since = _traced(transfers, senders, since)
            late = since < 0
        else:
            since = np.where(since < 0, -1, self.arrival[since])
            late = (since < 0) | (since >= self.step[senders])
        self._flag("not-informed", senders[late], since[late])

        for missing in goal[self._receipt[goal - base] < 0].tolist():
            self.report.missing(*divmod(missing, self.nodes))
        self._receipt[key] = -1


def _traced(transfers: Ints, senders: Ints, since: Ints) -> Ints:
    """Return, per transfer that is forwarded, -1 if never informed, -2 if in a cycle, else 0.

    ``since`` has the transfers that inform the ``senders``, -1 for none. ``transfers`` ascend.
    """
    before = np.full(len(transfers) + 1, -1)  # one more entry, for index -1
    place = np.searchsorted(transfers, senders)
    before[place] = np.where(since < 0, -1, np.searchsorted(transfers, since))
    for _ in range(len(transfers).bit_length()):
        before = before[before]  # of each transfer twice as many before it
    return np.where(since < 0, -1, np.where(before[place] < 0, 0, -2))


def _numbers(values: list[int]) -> Ints:
    """Return the values as an array; -1 stands for those beyond 64 bits."""
    for kind in set(map(type, values)):
        if not issubclass(kind, (int, np.integer)):  # numpy would cut it off: 0.5 to 0
            raise InputError(
                f"a value of the type {kind.__name__}",
                where="steps",
                hint="messages and nodes are whole numbers",
            )
    try:
        return np.fromiter(values, np.int64, len(values))
    except OverflowError:
        inside = (value if 0 <= value < UNLIMITED else -1 for value in values)
        return np.fromiter(inside, np.int64, len(values))


def _limits(values: Iterable[int | None]) -> Ints:
    return np.array(
        [UNLIMITED if value is None else min(value, UNLIMITED) for value in values], dtype=np.int64
    )
