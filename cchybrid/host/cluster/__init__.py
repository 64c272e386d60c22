"""Runs on many machines: executors, and one instance raced by the workers of a cluster."""
