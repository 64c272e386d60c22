"""MBOA, the mixed Bayesian optimization algorithm (thesis section 7.1.2)."""
