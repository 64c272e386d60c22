"""HGSA, hybrid parallel genetic simulated annealing (Ohlidal and Schwarz)."""
