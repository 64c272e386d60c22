"""All compatibility classes, and the fewest of them that cover every delivery."""
