"""Design of networks of very small orders by CP-SAT."""
