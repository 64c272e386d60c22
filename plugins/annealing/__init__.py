"""Simulated annealing of networks under design."""
