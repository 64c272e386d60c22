"""Liquid schedules by recursive division of the transfers: exact for fixed routes."""
