"""The engine ``classes``: list all compatibility classes, and solve the set cover."""
