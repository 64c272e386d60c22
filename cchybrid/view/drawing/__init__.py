"""Drawings of networks and schedules: interactive pages and figures."""
