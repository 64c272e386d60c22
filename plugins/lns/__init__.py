"""Large-neighbourhood search: CP-SAT repacks a part of a schedule, again and again."""
