"""Symmetries of an instance: automorphisms, their groups, group actions and quotients."""

from cchybrid.problem.symmetry.automorphisms import Automorphisms, automorphisms
from cchybrid.problem.symmetry.choice import Choice, choices
from cchybrid.problem.symmetry.groups import Group, GroupAction, group_actions, groups
from cchybrid.problem.symmetry.images import Images, small_groups
from cchybrid.problem.symmetry.quotient import NoQuotientError, QuotientOrigin, quotient

__all__ = [
    "Automorphisms", "Choice", "Group", "GroupAction", "Images", "NoQuotientError",
    "QuotientOrigin", "automorphisms", "choices", "group_actions", "groups", "quotient",
    "small_groups",
]  # fmt: skip
