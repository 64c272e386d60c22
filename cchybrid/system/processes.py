"""Child processes: they find our modules and no stray ones, and do not outlive their parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping

NO_CHANGES: Mapping[str, str] = {}


def start_module(
    module: str, environment: Mapping[str, str] = NO_CHANGES, *, own_session: bool = True
) -> subprocess.Popen[bytes]:
    """Start a module as a process, its three streams piped.

    It finds the same modules as this process, but none that happen to lie in the current folder.

    Parameters
    ----------
    environment
        Variables that it gets besides those of this process.
    own_session
        Whether it gets a session and process group of its own; else it is halted, resumed and
        ended along with the group of this process.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=own_session,
        env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(module_path())},
    )


def module_path() -> list[str]:
    """Return the folders in which this process looks for modules, without the current folder.

    It stays if somebody asked for it: in the variable PYTHONPATH, or by running a script in it.
    Otherwise it is there only because Python was started in it.
    """
    folders = [folder for folder in sys.path if folder]
    asked = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    main = sys.modules["__main__"]
    if main.__spec__ is None and hasattr(main, "__file__"):
        asked.append(os.path.dirname(str(main.__file__)))
    try:
        here = os.getcwd()
    except FileNotFoundError:  # somebody has removed it
        return folders
    if here in map(os.path.realpath, asked):
        return folders
    return [folder for folder in folders if os.path.realpath(folder) != here]


def processor_count() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # missing on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def die_with_parent() -> None:
    """Where the system can (Linux), be killed when the parent dies, even in the midst of C code."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
