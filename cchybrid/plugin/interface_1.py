"""Error messages for plugins that were written for plugin interface 1."""

from __future__ import annotations

from cchybrid.model.text import error_line

MOVED = {
    "cchybrid.engine": "cchybrid.plugin",
    "cchybrid.errors": "cchybrid.model.errors",
    "cchybrid.hookspecs": "cchybrid.plugin",
    "cchybrid.kernels": "cchybrid.toolkit.kernels",
    "cchybrid.records": "cchybrid.plugin",
    "cchybrid.registry": "cchybrid.plugin.registry",
    "cchybrid.testing": "cchybrid.plugin.conformance",
    "cchybrid.topologies": "cchybrid.library.topologies",
    "cchybrid.verify": "cchybrid.referee.verify",
}
"""Modules of interface 1, and the modules that replace them."""

_REPLACED = {
    "'proves'": 'write kind="exact" instead of proves=True',
    "'quick'": 'write kind="construction" instead of quick=True',
    "name 'compile'": "import build_problem instead of compile",
}


def explain(error: BaseException) -> str | None:
    """Return the change that a plugin for interface 1 needs, from an error; else ``None``."""
    text = error_line(error)
    change = next((change for name, change in _REPLACED.items() if name in text), None)
    if isinstance(error, ModuleNotFoundError) and error.name:
        old = next((old for old in MOVED if f"{error.name}.".startswith(f"{old}.")), None)
        if old is not None:
            change = f"import from {MOVED[old]} instead of {old}"
    elif not isinstance(error, ImportError | TypeError):
        return None
    if change is None:
        return None
    return f"is written for plugin interface 1, this is 2: {change} (docs/hooks.md)"
