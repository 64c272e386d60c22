"""The host: runs engines in worker processes, verifies their results and derives the verdict."""
