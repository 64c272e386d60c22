"""The check before a run that its result can be written."""

from pathlib import Path

from cchybrid.model.errors import InputError


def check_writable(output: Path | None, **others: Path | None) -> None:
    """Raise an ``InputError`` before the run if a file, of -o or an option, cannot be written."""
    paths = {"-o": output, **{f"--{name}": path for name, path in others.items()}}
    named = [path.absolute() for path in paths.values() if path is not None]
    if len(set(named)) < len(named):
        raise InputError(f"two results in {output}", where="-o", hint="name different files")
    for at, path in paths.items():
        if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
            what = "is a folder" if path.is_dir() else "lies in a folder that does not exist"
            raise InputError(f"{path} {what}", where=at, hint="name a file in an existing folder")
