"""Put pip into a virtual environment where Python came without pip and without ensurepip.

Debian and its kin split both off Python. Usage: python fetch_pip.py PYTHON_OF_THE_VENV
"""

import hashlib
import html
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/"
WHEEL = re.compile(r'href="([^"]*?/(pip-(\d+(?:\.\d+)*)-py3-none-any\.whl)#sha256=(\w{64}))"')


def main() -> int:
    """Fetch the newest plain wheel of pip, check its hash, and let it install itself."""
    with urllib.request.urlopen(INDEX) as page:
        found = WHEEL.findall(html.unescape(page.read().decode()))
    if not found:
        print(f"no wheel of pip at {INDEX}", file=sys.stderr)
        return 1
    address, name, _, digest = max(found, key=lambda row: [int(n) for n in row[2].split(".")])
    with urllib.request.urlopen(urllib.parse.urljoin(INDEX, address)) as answer:
        wheel = answer.read()
    if hashlib.sha256(wheel).hexdigest() != digest:
        print("the wheel of pip does not have the hash that the index states", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(wheel)
        command = [sys.argv[1], f"{path}/pip", "install", "--quiet", "--no-index", path]
        return subprocess.call(command)


sys.exit(main())
