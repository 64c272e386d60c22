"""The engine ``colouring``, a baseline: greedy colouring of the conflict graph."""
