"""Benchmarks: suites of instances, a store of results that survives anything, and reports."""
