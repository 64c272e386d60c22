"""The designers of networks: every folder is a plugin, and needs no other."""

from __future__ import annotations

from collections.abc import Iterable
from pkgutil import iter_modules

from cchybrid.plugin.hookspecs import hookimpl


@hookimpl
def cchybrid_plugins() -> Iterable[str]:
    """Return the folders."""
    return [f"{__name__}.{found.name}" for found in iter_modules(__path__)]
