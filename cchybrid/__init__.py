"""Schedules of collective communications with the fewest steps, for any network, with the proof."""
