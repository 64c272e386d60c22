"""Put pip into a virtual environment where Python came without pip and without ensurepip.

Debian and its kin split both off Python. Usage: python fetch_pip.py PYTHON_OF_THE_VENV
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import urllib.request

INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")


def main() -> None:
    """Fetch the newest plain wheel of pip, check its hash, and let it install itself."""
    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
    with urllib.request.urlopen(urllib.request.Request(f"{INDEX}/pip/", headers=accept)) as page:
        files = json.load(page)["files"]
    plain = [
        file
        for file in files
        if file["filename"].endswith("-py3-none-any.whl")
        and not file.get("yanked")
        and file["filename"].split("-")[1].replace(".", "").isdigit()
    ]
    newest = max(plain, key=lambda file: [int(n) for n in file["filename"].split("-")[1].split(".")])
    with urllib.request.urlopen(newest["url"]) as answer:
        wheel = answer.read()
    if hashlib.sha256(wheel).hexdigest() != newest["hashes"]["sha256"]:
        sys.exit("the wheel of pip does not have the hash that the index states")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, newest["filename"])
        with open(path, "wb") as file:
            file.write(wheel)
        command = [sys.argv[1], f"{path}/pip", "install", "--quiet", "--no-index", path]
        sys.exit(subprocess.call(command))


main()
