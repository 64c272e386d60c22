"""Standard output while code of plugins runs, also in several threads."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

_LOCK = threading.RLock()
"""Standard output belongs to the whole process: two threads that redirect it at the same time would
restore it in the wrong order."""


@contextlib.contextmanager
def output_to_stderr() -> Iterator[None]:
    """Redirect standard output to standard error, as it may be JSON; one thread at a time."""
    with _LOCK, contextlib.redirect_stdout(sys.stderr):
        yield
