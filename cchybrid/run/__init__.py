"""Schedules executed and simulated: MPI programs, SimGrid, time models."""
