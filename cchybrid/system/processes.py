"""Child processes that import the same modules as their parent and end with it."""

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Mapping

NO_CHANGES: Mapping[str, str] = {}
PARENT = "CCHYBRID_PARENT"
"""Environment variable with the number of the process that has started a module."""

MAX_MEASURE_SECONDS = 0.5
"""Seconds after which ``memory_of_all`` no longer asks what processes share."""


def start_module(
    module: str,
    environment: Mapping[str, str] = NO_CHANGES,
    *,
    own_session: bool = True,
    descriptors: Collection[int] = (),
    discard_output: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a module as a process, with its three streams piped.

    It finds the same modules as this process, but none in the current folder.

    Parameters
    ----------
    environment
        Further environment variables.
    own_session
        Whether it gets its own session and process group; otherwise it is paused, resumed and
        ended with the group of this process.
    descriptors
        Open files that it inherits, under the same numbers.
    discard_output
        Whether only standard input is piped.

    Raises
    ------
    OSError
        If the system has too few processes, open files or memory left.
    """
    output = subprocess.DEVNULL if discard_output else subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=output,
        start_new_session=own_session,
        pass_fds=descriptors,
        env={
            **os.environ,
            **environment,
            "PYTHONPATH": os.pathsep.join(module_path()),
            PARENT: str(os.getpid()),
        },
    )


def module_path() -> list[str]:
    """Return the folders in which this process looks for modules, without the current folder.

    The current folder is kept if PYTHONPATH names it, or if the main script is in it. Otherwise it
    is listed only because Python was started there.
    """
    folders = [folder for folder in sys.path if folder]
    requested = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    main = sys.modules["__main__"]
    if main.__spec__ is None and hasattr(main, "__file__"):
        requested.append(os.path.dirname(str(main.__file__)))
    try:
        here = os.getcwd()
    except FileNotFoundError:  # it was removed
        return folders
    if here in map(os.path.realpath, requested):
        return folders
    return [folder for folder in folders if os.path.realpath(folder) != here]


def processor_count() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # missing on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def private_memory(process: int) -> int:
    """Return the resident bytes of a process that it shares with no file; 0 where unknown (Linux).

    Mapped files are not counted, so a large Problem that all workers map counts for none of them.
    Of forked processes each counts with all that it shares with the others.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{process}/statm") as file:
            fields = file.read().split()
        return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")
    return 0


def memory_of_all(processes: Iterable[int]) -> int:
    """Return the sum of ``private_memory``, where what forked processes share counts once.

    This takes milliseconds per process, and longer for one that is forking itself: those that are
    left after ``MAX_MEASURE_SECONDS`` count with all that they share.
    """
    late = time.monotonic() + MAX_MEASURE_SECONDS
    found = 0
    for process in processes:
        in_time = time.monotonic() <= late
        share = proportional_memory(process, "Pss_Anon") if in_time else None
        found += private_memory(process) if share is None else share
    return found


def proportional_memory(process: int, name: str = "Pss") -> int | None:
    """Return its bytes with shared pages counted in equal parts; ``None`` where unknown (Linux).

    ``name`` is that of a line of the kernel: ``Pss``, or ``Pss_Anon`` without mapped files.
    """
    with (
        contextlib.suppress(OSError, ValueError, IndexError),
        open(f"/proc/{process}/smaps_rollup") as file,
    ):
        sizes = (int(line.split()[1]) << 10 for line in file if line.startswith(f"{name}:"))
        return next(sizes, None)
    return None


def total_memory() -> int | None:
    """Return the bytes of main memory of this machine, or ``None`` if unknown."""
    with contextlib.suppress(OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent ends, even during C code (Linux only).

    If the parent has ended before, this process ends at once.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.environ.get(PARENT, str(os.getppid())) != str(os.getppid()):
        os._exit(1)


def limit_memory(mebibytes: int | None) -> None:
    """Limit the address space of this process; ``None`` means no limit (effective on Linux)."""
    if mebibytes is not None:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
