"""The versions that a result depends on."""

import platform
from importlib.metadata import PackageNotFoundError, version


def versions() -> dict[str, str]:
    """Return the versions of cchybrid, Python and the libraries that affect results."""
    found = {"python": platform.python_version()}
    for name in ("cchybrid", "ortools", "numpy", "numba", "networkx"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found
