"""The Problem that every engine solves, built from any instance."""

from cchybrid.problem.arrays import ACCEPT, CHANNEL, INJECT, LINK, Assignment, Price
from cchybrid.problem.build import MAX_OPTIONS, build_problem
from cchybrid.problem.demand import UnreachableError, count_deliveries, is_ordered, too_large
from cchybrid.problem.grow import extend, list_hops, list_transfers
from cchybrid.problem.problem import Problem
from cchybrid.problem.structure import NetworkStructure
from cchybrid.problem.violations import AssignmentViolation, needed

__all__ = [
    "ACCEPT", "CHANNEL", "INJECT", "LINK", "MAX_OPTIONS", "Assignment", "AssignmentViolation",
    "NetworkStructure", "Price", "Problem", "UnreachableError", "build_problem", "count_deliveries",
    "extend", "is_ordered", "list_hops", "list_transfers", "needed",
    "too_large",
]  # fmt: skip
