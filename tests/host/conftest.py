"""Fixtures of the tests of the host."""

import pytest

from cchybrid.plugin.registry import Registry, load_registry
from tests.host.running_jobs import waiting  # noqa: F401


@pytest.fixture
def registry(monkeypatch) -> Registry:
    """Return all engines, those with faults among them."""
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.faulty_engines")
    return load_registry()
