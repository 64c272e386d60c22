"""The engines of cchybrid: every folder is a plugin, and needs no other."""

from pkgutil import iter_modules

from cchybrid.plugin import hookimpl


@hookimpl
def cchybrid_plugins() -> list[str]:
    """Return the folders."""
    return [f"{__name__}.{found.name}" for found in iter_modules(__path__)]
