"""Design of networks by designers in worker processes, and the search for the fewest steps."""
