"""The engine ``random``: random search, the null baseline."""
