"""What touches the operating system: child processes, and the cache of compiled code."""
