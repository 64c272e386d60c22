"""Exact: one CP-SAT decision per number of steps."""
