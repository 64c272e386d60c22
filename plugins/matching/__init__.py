"""The engine ``matching``: in every step, messages are matched to links; many random restarts."""
