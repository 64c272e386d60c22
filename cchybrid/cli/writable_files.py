"""The check before a run that its result can be written."""

from pathlib import Path

from cchybrid.model.errors import InputError


def check_writable(*paths: Path | None) -> None:
    """Raise an ``InputError`` before the run if its result could not be written."""
    named = [path.absolute() for path in paths if path is not None]
    if len(set(named)) < len(named):
        raise InputError(f"two results in {paths[0]}", where="-o", hint="name different files")
    for path in paths:
        if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
            what = "is a folder" if path.is_dir() else "lies in a folder that does not exist"
            raise InputError(f"{path} {what}", where="-o", hint="name a file in an existing folder")
