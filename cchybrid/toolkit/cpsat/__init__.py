"""CP-SAT for engines: one decision per number of steps, asked, stopped and priced."""
