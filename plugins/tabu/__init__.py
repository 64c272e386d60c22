"""Tabu search with weights on the violated (channel, step) cells."""
