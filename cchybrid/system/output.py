"""Standard output while code of plugins runs, also in several threads."""

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import TextIO

_LOCK = threading.RLock()
"""Standard output belongs to the whole process: two threads that redirect it at the same time would
restore it in the wrong order."""


def command_output_to_stderr() -> contextlib.redirect_stdout[TextIO]:
    """Redirect as ``output_to_stderr`` does, around a long part of a command, in its main thread.

    It takes no lock, for which plugins in other threads would wait all that time.
    """
    return contextlib.redirect_stdout(sys.stderr)


@contextlib.contextmanager
def output_to_stderr() -> Iterator[None]:
    """Redirect standard output to standard error, as it may be JSON; one thread at a time."""
    with _LOCK, contextlib.redirect_stdout(sys.stderr):
        yield
