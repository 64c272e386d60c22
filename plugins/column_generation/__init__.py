"""Column generation over compatibility classes: a strong bound, and schedules by diving."""
