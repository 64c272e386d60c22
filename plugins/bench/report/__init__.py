"""Reports on benchmarks: the runs of a store, checked again, as Markdown, CSV and HTML."""

from importlib.util import find_spec

from cchybrid.model.errors import InputError


def require_extra() -> None:
    """Raise an ``InputError`` if packages of the extra ``report`` are missing."""
    missing = [
        name for name in ("jinja2", "matplotlib", "pandas", "scipy") if find_spec(name) is None
    ]
    if missing:
        what = f"a report needs {' and '.join(missing)}"
        raise InputError(what, hint="pip install 'cchybrid[report]'")
