"""Weighted tabu search on options and steps; prices all paths of a delivery at once."""
