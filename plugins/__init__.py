"""Plugins that ship with cchybrid: every folder is one, and is registered as a stranger's is."""

from __future__ import annotations

from collections.abc import Iterable
from pkgutil import iter_modules

from cchybrid.plugin.hookspecs import hookimpl


@hookimpl
def cchybrid_plugins() -> Iterable[str]:
    """Return the folders."""
    return [f"{__name__}.{found.name}" for found in iter_modules(__path__)]
