"""Python in a process of its own, as a user starts it."""

import os
import subprocess
import sys
from typing import Any

Completed = subprocess.CompletedProcess[str]


def run_python(
    *words: str, cwd: Any = None, text: str | None = None, **variables: str
) -> Completed:
    """Run Python with words, and more variables of the environment, in a folder, to its end."""
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, input=text, cwd=cwd, timeout=600,
        check=False, env={**os.environ, **variables},
    )  # fmt: skip
