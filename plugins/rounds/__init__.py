"""Exact, for steps of several rounds: one CP-SAT decision per number of steps."""
