"""Put the built documentation into the folder of all published versions.

Usage: python publish_docs.py SITE FOLDER NAME. NAME is the tag of a release, such as v1.0.0, or
``latest`` for the state between releases. ``stable`` is the release with the highest number.
"""

import json
import re
import shutil
import sys
from pathlib import Path

HOME = '<!doctype html><meta http-equiv="refresh" content="0; url={0}/"><a href="{0}/">{0}</a>\n'


def publish(site: Path, folder: Path, name: str) -> None:
    """Copy a site, and list all versions in ``versions.json``, which their menus read.

    Raises
    ------
    SystemExit
        No such site, or a name that is neither ``latest`` nor a version.
    """
    name = name.removeprefix("v")
    if name != "latest" and not _numbers(name):
        raise SystemExit(f"{name}: no version; use latest or numbers, such as v1.0.0")
    if not (site / "index.html").exists():
        raise SystemExit(f"{site}: there is no index.html; run make docs")
    _copy(site, folder / name)
    releases = sorted(filter(_numbers, (path.name for path in folder.iterdir())), key=_numbers)
    if releases[-1:] == [name]:
        _copy(site, folder / "stable")
    special = [each for each in ("stable", "latest") if (folder / each).exists()]
    (folder / "versions.json").write_text(json.dumps([*special, *reversed(releases)]) + "\n")
    (folder / "index.html").write_text(HOME.format(special[0]))
    (folder / ".nojekyll").touch()  # GitHub Pages would leave out _static


def _numbers(name: str) -> tuple[int, ...]:
    """Return the numbers of a version, none if it is no version."""
    return tuple(map(int, name.split("."))) if re.fullmatch(r"\d+(\.\d+)+", name) else ()


def _copy(site: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(site, folder, ignore=shutil.ignore_patterns(".buildinfo*", ".doctrees"))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    publish(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
