"""UMDA, the univariate marginal distribution algorithm (thesis section 7.1.3)."""
