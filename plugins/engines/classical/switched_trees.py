"""All-to-all broadcast between participants on switches: one tree, mapped by translations.

As in time-arc-disjoint trees, but a tree of paths through switches, or hop by hop of channels, in
which switches store the message. In every step it uses each orbit of channels as often as fits. On
clusters of GPUs every NIC brings a message that is new to its box in every step, and the switch of
the box spreads it in the next: as many steps as messages enter a box, and the last one inside.
"""

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem.transfers import Transfers

from .context import Context, DoesNotApplyError, LongArray, Path
from .switched_translations import SwitchedTranslations, shortest_paths, switched_translations

MAX_MOVES = 20_000_000
"""Transfers looked at, over all steps of all trees, times the effort; then no tree is begun."""
MAX_TREES = 4
"""Trees that are grown, times the effort."""


def switched_trees(context: Context) -> Transfers:
    """Return the schedule in which every participant broadcasts over its image of one tree."""
    members = np.array(context.all_to_all_members())
    source = context.structure.message_source
    if len(source) != len(members) or len(np.unique(source)) != len(members):
        raise DoesNotApplyError("not one message from every participant")
    context.require_useful(context.min_steps)
    group = switched_translations(context, members)
    growth = _Growth(context, group, members)
    best: list[tuple[int, Path]] = []
    for number in range(1, 1 + MAX_TREES * context.effort):
        best = growth.tree() or best
        looked = number * len(growth.first) * context.known
        if looked > MAX_MOVES * context.effort or context.known <= context.min_steps:
            break
    if not best:
        raise DoesNotApplyError("no short enough tree found")
    message = np.argsort(source)[np.searchsorted(members, group.participants)]
    return Transfers.joined([group.images(path, message, step) for step, path in best])


class _Growth:
    """Growth of a tree, step by step, each with as many new nodes as fit.

    Moves are all transfers: in wormhole switching paths between participants, otherwise channels.
    Moves whose images use the same orbits are of one kind.
    """

    def __init__(self, context: Context, group: SwitchedTranslations, members: LongArray) -> None:
        self._context, self._group = context, group
        self._needed = np.isin(np.arange(context.nodes), members)
        kinds: dict[tuple[int, ...], list[LongArray]] = {}
        for path in self._paths():
            if group.fits(context, path):
                uses = tuple(sorted(group.uses(context, path)))
                nodes = np.array([path]) if context.structure.hop_by_hop else group.image[:, path]
                kinds.setdefault(uses, []).append(nodes)
        if not kinds:
            raise DoesNotApplyError("paths whose images do not fit into a step")
        self._uses = [*kinds]
        self._paths_of = [np.concatenate(rows) for rows in kinds.values()]
        sizes = [len(rows) for rows in self._paths_of]
        self._kind_start = np.concatenate(([0], np.cumsum(sizes)))
        self.first = np.concatenate([rows[:, 0] for rows in self._paths_of])
        self._last = np.concatenate([rows[:, -1] for rows in self._paths_of])

    def _paths(self) -> list[Path]:
        """Return the moves of the source, or hop by hop all channels."""
        if self._context.structure.hop_by_hop:
            return [*self._context.channel]
        source, context = self._group.source, self._context
        paths = shortest_paths(context, source, ~self._needed)
        return [
            path
            for goal, listed in paths.items()
            for path in listed
            if self._needed[goal] and len(path) - 1 <= context.max_hops(source, goal)
        ]

    def tree(self) -> list[tuple[int, Path]] | None:
        """Return the steps and transfers of a tree, ``None`` if it would need too many."""
        context = self._context
        informed = np.zeros(context.nodes, dtype=np.bool_)
        informed[self._group.source] = True
        steps: list[list[Path]] = []
        while not informed[self._needed].all():
            context.check()
            chosen = self._step(informed) if context.improves(len(steps) + 1) else []
            if not chosen:
                return None
            informed[[path[-1] for path in chosen]] = True
            steps.append(chosen)
        context.known = len(steps)
        tree: list[tuple[int, Path]] = []
        useful = self._needed.copy()
        for number, chosen in reversed([*enumerate(steps)]):  # without switches that inform none
            kept = [path for path in chosen if useful[path[-1]]]
            useful[[path[0] for path in kept]] = True
            tree += [(number, path) for path in kept]
        return tree

    def _step(self, informed: NDArray[np.bool_]) -> list[Path]:
        """Return the transfers of a step, kinds of the fewest candidates first."""
        missing, nodes = ~informed, len(informed)
        # What a node leads to: the nodes that lack the message after one and two moves.
        near = np.bincount(self.first, missing[self._last], nodes)
        far = np.bincount(self.first, (missing * near)[self._last], nodes)
        ties = [self._context.random.random() for _ in range(nodes)]
        behind = near + far + np.array(ties)
        candidates = []
        for kind, start in enumerate(self._kind_start[:-1]):
            rows = slice(start, self._kind_start[kind + 1])
            live = np.flatnonzero(informed[self.first[rows]] & missing[self._last[rows]])
            goals, which = np.unique(self._last[rows][live], return_index=True)
            if len(goals):
                order = np.argsort(-behind[goals])
                candidates.append((len(goals), kind, goals[order], live[which[order]]))
        left = self._group.room.copy()
        chosen: list[Path] = []
        for _, kind, goals, moves in sorted(candidates, key=lambda row: row[:2]):
            uses = np.array(self._uses[kind])
            rows = moves[missing[goals]][: left[uses].min()]
            left[uses] -= len(rows)
            missing[self._paths_of[kind][rows, -1]] = False
            chosen += map(tuple, self._paths_of[kind][rows].tolist())
        return chosen
