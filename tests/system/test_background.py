"""Work in a thread: its items arrive until it is over, and then it is abandoned in time."""

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from cchybrid.system.background import iterate_in_thread, run_in_thread

MAX_DELAY_SECONDS = 0.6
"""Seconds in which a thread is abandoned, on a busy machine."""


def after(seconds: float):
    late = time.monotonic() + seconds
    return lambda: time.monotonic() > late


def never() -> bool:
    return False


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), MemoryError()])
def test_an_error_is_raised_where_the_items_are_taken(error):
    def items() -> Iterator[int]:
        yield 1
        raise error

    taken = iterate_in_thread(items(), never)
    assert next(taken) == 1
    with pytest.raises(type(error)):
        next(taken)


def sleep() -> None:
    time.sleep(20)


def multiply() -> None:
    square = np.eye(3000)
    for _ in range(8):
        square = square @ square


@pytest.mark.parametrize("work", [sleep, pytest.param(multiply, id="numpy")])
def test_a_long_computation_is_abandoned(work):
    def items() -> Iterator[int]:
        yield 1
        work()

    taken: list[float] = []

    def over() -> bool:
        return bool(taken) and time.monotonic() - taken[0] > 0.3

    before = set(threading.enumerate())
    for item in iterate_in_thread(items(), over):
        assert item == 1
        taken.append(time.monotonic())
    assert len(taken) == 1
    assert time.monotonic() - taken[0] < 0.3 + 2 * MAX_DELAY_SECONDS
    assert set(threading.enumerate()) - before


def test_the_thread_ends_at_the_next_item():
    drew: list[int] = []

    def items() -> Iterator[int]:
        for number in range(1000):
            time.sleep(0.02)
            drew.append(number)
            yield number

    assert list(iterate_in_thread(items(), after(0.2)))
    time.sleep(0.2)
    known = len(drew)
    time.sleep(0.2)
    assert len(drew) == known < 100


def test_work_that_ends_in_time_or_not():
    done: list[int] = []
    assert run_in_thread(lambda: done.append(1), never)
    assert done == [1]
    begun = time.monotonic()
    assert not run_in_thread(sleep, after(0.1))
    assert time.monotonic() - begun < 0.1 + MAX_DELAY_SECONDS
    with pytest.raises(ZeroDivisionError):
        run_in_thread(lambda: 1 // 0, never)
