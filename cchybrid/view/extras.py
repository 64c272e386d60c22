"""Packages that only some installations have."""

from importlib.util import find_spec

from cchybrid.model.errors import InputError


def require_packages(what: str, *names: str, where: str = "") -> None:
    """Raise an ``InputError`` if packages of the extra ``report`` are missing."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        text = f"{what} needs {' and '.join(missing)}"
        raise InputError(text, where=where, hint="pip install 'cchybrid[report]'")
