"""Recursive division of the transfers (liquid schedules): exact where routes are laid down."""
