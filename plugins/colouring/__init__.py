"""The baseline: greedy colouring of the conflict graph."""
