"""Networks with a prescribed group of automorphisms."""
