"""Proofs about rounds per chunk: with a number of steps, and without."""
