"""The engine ``broadcast``: flows from every informed node, decided by CP-SAT."""
