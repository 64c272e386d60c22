"""Results for people: the verdict, the table of steps, the live view."""
