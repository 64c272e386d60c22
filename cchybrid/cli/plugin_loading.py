"""The plugins of a command, and warnings about those that cannot be used."""

import sys

from cchybrid.plugin.registry import Registry, load_registry


def load_plugins() -> Registry:
    """Load the plugins, with a warning on standard error for each that cannot be used."""

    registry = load_registry()
    for warning in registry.warnings:
        print(f"cchybrid: warning: {warning}", file=sys.stderr)
    return registry
