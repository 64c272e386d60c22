"""SGA, the standard genetic algorithm (thesis section 7.1.1)."""
