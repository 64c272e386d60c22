"""Long computations in a thread that is abandoned when its result is no longer needed."""

import contextlib
import gc
import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, Queue
from typing import TypeVar

Item = TypeVar("Item")

POLL_SECONDS = 0.05
"""Seconds between two calls of ``should_stop``."""


def iterate_in_thread(items: Iterable[Item], should_stop: Callable[[], bool]) -> Iterator[Item]:
    """Yield the items until ``should_stop`` returns true, even during the computation of an item.

    Parameters
    ----------
    items
        Iterated in another thread, one or two items ahead. When it is over, that thread ends at
        the next item, or with the process: Python cannot interrupt it in the code of a solver.
    should_stop
        Whether to stop; called some twenty times a second by the calling thread.
    """
    if should_stop():
        return
    found: Queue[tuple[Item] | BaseException | None] = Queue(1)
    abandoned = threading.Event()

    def produce() -> None:
        try:
            for item in items:
                if abandoned.is_set():
                    return
                found.put((item,))
            found.put(None)
        except BaseException as error:  # SystemExit, too; raised again in the calling thread
            found.put(error)

    threading.Thread(target=produce, name="iterate_in_thread", daemon=True).start()
    try:
        while not should_stop():
            try:
                answer = found.get(timeout=POLL_SECONDS)
            except Empty:
                continue
            if answer is None:
                return
            if isinstance(answer, BaseException):
                raise answer
            yield answer[0]
    finally:
        abandoned.set()
        with contextlib.suppress(Empty):
            found.get_nowait()  # the producing thread may be waiting in put


def run_in_thread(work: Callable[[], object], should_stop: Callable[[], bool]) -> bool:
    """Call ``work`` in another thread; return whether it ended before ``should_stop`` was true."""

    def call() -> Iterator[bool]:
        work()
        yield True

    return any(iterate_in_thread(call(), should_stop))


def avoid_full_collections() -> None:
    """Restrict the garbage collector to young objects, in a process that ends soon.

    With millions of objects, as in a large model, a full collection stops every thread for a
    second.
    """
    gc.set_threshold(10_000, 10, 1 << 30)
