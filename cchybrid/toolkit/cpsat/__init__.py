"""CP-SAT for engines: one decision model per number of steps, built, solved and stopped."""
