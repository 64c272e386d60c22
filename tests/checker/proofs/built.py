"""The program extracted from the proofs: built once, and questioned line by line."""

from __future__ import annotations

import contextlib
import fcntl
import json
import select
import shutil
import subprocess
from pathlib import Path
from typing import Any

from cchybrid.host.proving import VERIFIED_CHECKER, with_text

ROOT = Path(__file__).parents[3]
MISSING = [name for name in ("coqc", "ocamlopt") if shutil.which(name) is None]
"""The compilers that are not installed."""
HOLDS, FAILS, UNREADABLE, UNCOVERED = range(4)
"""The exit statuses of the program."""


def build() -> None:
    """Run ``make verified-checker``, which does nothing if it is built."""
    with open(ROOT / "Makefile") as lock:  # several workers may want it at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        words = ["make", "--no-print-directory", "-C", str(ROOT), "verified-checker"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


class Program:
    """The running program; it is ended and started again if an answer takes too long."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def answer(self, schedule: Any, certificate: Any) -> tuple[int, str] | None:
        """Return exit status and sentence for two JSON objects; ``None`` if it takes too long."""
        with contextlib.suppress(Exception):  # of a certificate in any form
            certificate = with_text(certificate)
        return self.answer_line(json.dumps([schedule, certificate]))

    def answer_line(self, line: str) -> tuple[int, str] | None:
        """Return exit status and sentence for a line of input."""
        if self._process is None:
            self._process = subprocess.Popen(
                [VERIFIED_CHECKER, "--lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], self._seconds)[0]:
            self.end()
            return None
        status, _, sentence = process.stdout.readline().decode().strip().partition(" ")
        return int(status), sentence

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
