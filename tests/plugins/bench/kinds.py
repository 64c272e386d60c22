"""Kinds of benchmarks of other features, any of which may be deleted: marks of tests, suites."""

import tomllib

import pytest
from cchybrid_plugins.bench.suite import library, suite_names

from cchybrid.plugin.registry import load_registry

KINDS = load_registry().benchmarks
"""The kinds that there are."""


def needs(kind: str) -> pytest.MarkDecorator:
    """Return the mark of a test that needs a kind."""
    return pytest.mark.skipif(kind not in KINDS, reason=f"there are no {kind}")


def readable_suites() -> list[str]:
    """Return the names of the suites that ship and whose kind is there."""
    keys = {key for info in KINDS.values() for key in info.table_keys}
    tables = {
        name: tomllib.loads((library() / "suites" / f"{name}.toml").read_text())
        for name in suite_names()
    }
    return [name for name, record in tables.items() if keys & {*record}]
