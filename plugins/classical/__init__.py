"""The engine ``classical``: constructions of collective schedules from the literature."""
