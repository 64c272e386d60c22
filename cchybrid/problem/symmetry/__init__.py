"""Symmetries of an instance: its automorphisms, groups of them, and the Problem divided by one."""

from cchybrid.problem.symmetry.automorphisms import Automorphisms, automorphisms
from cchybrid.problem.symmetry.choice import Choice, choices
from cchybrid.problem.symmetry.groups import Division, Group, divisions, groups
from cchybrid.problem.symmetry.quotient import NoQuotientError, QuotientOrigin, quotient

__all__ = [
    "Automorphisms",
    "Choice",
    "Division",
    "Group",
    "NoQuotientError",
    "QuotientOrigin",
    "automorphisms",
    "choices",
    "divisions",
    "groups",
    "quotient",
]
