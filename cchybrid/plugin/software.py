"""The software that a run depends on: versions of plugins, and digests of the code of engines."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path

from cchybrid.plugin.registry import GROUP, MODULES_VARIABLE
from cchybrid.system.kernel_cache import module_file

OWN = "cchybrid"
"""The distribution of cchybrid itself, whose version stands beside those of libraries."""


def software(engines: Mapping[str, str]) -> dict[str, str]:
    """Return the versions of installed plugins, and the digests of the code of engines.

    Parameters
    ----------
    engines
        Targets (``package.module:Class``) of engines or designers by their names.

    Returns
    -------
    dict
        By names such as ``plugin PACKAGE`` and ``engine NAME``. A module that the environment
        names as a plugin has no version, but a digest of its code.
    """
    found = {
        f"plugin {entry.dist.name}": entry.dist.version
        for entry in entry_points(group=GROUP)
        if entry.dist is not None and entry.dist.name != OWN
    }
    modules = map(str.strip, os.environ.get(MODULES_VARIABLE, "").split(","))
    found |= {f"plugin {module}": digest_of_code(module) for module in modules if module}
    code = {name: digest_of_code(target.partition(":")[0]) for name, target in engines.items()}
    return found | {f"engine {name}": digest for name, digest in sorted(code.items())}


def digest_of_code(module: str) -> str:
    """Return a digest of a module's file or, in a package, of all its Python files."""
    try:
        file = module_file(module)
        if file is None:
            return "unknown"
        in_package = (file.parent / "__init__.py").exists()
        paths = sorted(file.parent.rglob("*.py")) if in_package else [file]
        return hashlib.sha256(b"\0".join(map(Path.read_bytes, paths))).hexdigest()[:12]
    except (OSError, ValueError, ImportError):  # unreadable: the engine's worker will report it
        return "unknown"
