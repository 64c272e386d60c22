"""Output for the terminal: the verdict, the table of steps, the live view."""
