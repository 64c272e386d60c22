"""Scatters packed step by step: each step is filled with paths that share no channel."""
