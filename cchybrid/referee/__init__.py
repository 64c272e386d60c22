"""Decides whether a schedule is valid: the only judge."""
