"""The engine ``broadcast``: flows from all informed nodes, decided by CP-SAT."""
