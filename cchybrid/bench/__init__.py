"""Benchmarks: suites of instances, a store of results, and reports."""
