"""Exhaustive design of small networks."""
