"""The group actions to try, in order: actions that can meet the lower bound, large groups first."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from cchybrid.model import Instance
from cchybrid.problem import is_ordered
from cchybrid.problem.symmetry.automorphisms import Automorphisms
from cchybrid.problem.symmetry.groups import GroupAction, group_actions, groups

MAX_CELLS = 2_000_000
"""Largest order of a group times the number of nodes."""
MAX_FIRST_OF_KIND = 2
"""Group actions of one kind (order, steps per round) that are ranked before all others."""


@dataclass(frozen=True, eq=False)
class Choice:
    """A group action to try.

    Parameters
    ----------
    action
        The group action.
    number_in_kind
        The number of actions of the same kind (order, steps per round) that were drawn before.
    """

    action: GroupAction
    number_in_kind: int

    def sort_key(self, lower: int) -> tuple[int, bool, int]:
        """Return a sort key: (fewest steps, not a first of its kind, negated order of the group).

        The number of steps of an invariant schedule is a multiple of ``steps_per_round``; the
        first entry is the smallest multiple that is not below the lower bound. Ties go to the first
        two actions of each kind, then to large groups, whose quotients are small.

        Parameters
        ----------
        lower
            The lower bound of the whole instance.
        """
        size = self.action.steps_per_round
        fewest = -(-lower // size) * size
        return fewest, self.number_in_kind >= MAX_FIRST_OF_KIND, -self.action.group.order


def choices(
    instance: Instance,
    found: Automorphisms,
    seed: int,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Choice]:
    """Return a sample of group actions by which a Problem can be divided, large groups first.

    Parameters
    ----------
    found
        The automorphisms of the instance.
    seed
        Seed for the draws of groups and kernels.
    should_stop
        Where it returns true, the actions listed by then are returned.
    """
    nodes = instance.network.nodes
    max_order = min(2 * nodes, MAX_CELLS // nodes)
    listed: list[Choice] = []
    seen: Counter[tuple[int, int]] = Counter()
    ordered = is_ordered(instance)
    drawn = groups(found, seed, max_order)
    for action in (action for group in drawn for action in group_actions(group, seed)):
        if ordered and action.steps_per_round > 1:
            continue
        if should_stop():
            break
        kind = action.group.order, action.steps_per_round
        listed.append(Choice(action, seen[kind]))
        seen[kind] += 1
    return listed
