"""Fixtures of the tests of the host."""

from tests.host.running_jobs import waiting  # noqa: F401
