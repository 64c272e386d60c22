"""Runs engines in processes of their own, keeps the time, verifies, and derives the result."""
