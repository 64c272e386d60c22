"""Long computations in a thread that is left behind when nobody waits for them any longer."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, Queue
from typing import TypeVar

Item = TypeVar("Item")

LOOK_INTERVAL = 0.05
"""Seconds between two looks at whether it is over."""


def drawn(items: Iterable[Item], over: Callable[[], bool]) -> Iterator[Item]:
    """Yield what ``items`` yields until it is over, even in the midst of a long computation.

    Parameters
    ----------
    items
        Iterated in a thread of its own, an item or two ahead. When it is over, that thread ends at
        the next item, or with the process: Python cannot interrupt it in the code of a solver.
    over
        Asked some twenty times a second by the thread that takes the items.
    """
    if over():
        return
    found: Queue[tuple[Item] | BaseException | None] = Queue(1)
    left = threading.Event()

    def draw() -> None:
        try:
            for item in items:
                if left.is_set():
                    return
                found.put((item,))
            found.put(None)
        except BaseException as error:  # SystemExit too: it is raised where the items are taken
            found.put(error)

    threading.Thread(target=draw, name="drawn", daemon=True).start()
    try:
        while not over():
            try:
                next_one = found.get(timeout=LOOK_INTERVAL)
            except Empty:
                continue
            if next_one is None:
                return
            if isinstance(next_one, BaseException):
                raise next_one
            yield next_one[0]
    finally:
        left.set()
        with contextlib.suppress(Empty):
            found.get_nowait()  # for the thread that waits for room


def finished(work: Callable[[], object], over: Callable[[], bool]) -> bool:
    """Call ``work``; return whether it returned before it was over, as in ``drawn``."""

    def call() -> Iterator[bool]:
        work()
        yield True

    return any(drawn(call(), over))


def avoid_full_collections() -> None:
    """Let the garbage collector look at young objects only, in a process that ends soon.

    With millions of objects, as in a large model, a full collection stops every thread for a
    second, the one that looks whether it is over included.
    """
    gc.set_threshold(10_000, 10, 1 << 30)
