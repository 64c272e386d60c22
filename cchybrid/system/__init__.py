"""Access to the operating system: child processes, threads and the cache of compiled code."""
