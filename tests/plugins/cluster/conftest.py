"""Fixtures of the tests of clusters."""

from tests.host.running_jobs import waiting  # noqa: F401
