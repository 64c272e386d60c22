"""The referee: decides whether a schedule is valid."""
