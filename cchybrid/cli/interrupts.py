"""Ctrl-C, SIGTERM and SIGHUP as an exception, also while modules are imported."""

import os
import signal
import threading
from types import FrameType

AGAIN_SECONDS = 0.002


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise ``KeyboardInterrupt``; in a place where it would be lost, a moment later.

    Python prints and drops an exception in the callback of a weak reference, such as ``cb`` of the
    import system's locks.
    """
    code = None if frame is None else frame.f_code
    if code is not None and code.co_name == "cb" and code.co_filename.startswith("<frozen import"):
        threading.Timer(AGAIN_SECONDS, os.kill, (os.getpid(), number)).start()
        return
    raise KeyboardInterrupt


def catch_interrupts() -> None:
    """Let Ctrl-C, SIGTERM and SIGHUP raise ``KeyboardInterrupt`` in the main thread.

    SIGHUP says that the terminal was closed; ``nohup`` has it ignored.
    """
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, interrupt)
