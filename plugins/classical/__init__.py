"""Classical constructions of collective schedules: what the literature knew before any search."""
