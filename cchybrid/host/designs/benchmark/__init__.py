"""Benchmarks of designs: networks to be designed, beside published values."""
