"""What the author of an engine may use: kernels, usage matrix, solver harness, islands."""
