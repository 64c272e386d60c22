"""The memory of an interpreter of programs with real buffers, which sees data races."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Any


class RefusedError(Exception):
    """The executor would not load the program."""


class DeadlockError(Exception):
    """No thread block can go on."""


class RaceError(Exception):
    """Two operations use a chunk at the same time, and one writes it."""


def require(condition: bool, text: str) -> None:
    if not condition:
        raise RefusedError(text)


class Memory(dict[Hashable, int | None]):
    """The contents of all chunks, ``None`` where nothing was written.

    Parameters
    ----------
    precedes
        Whether an event is over when a thread block begins its next operation.
    """

    def __init__(self, precedes: Callable[[Any, Any], bool]) -> None:
        super().__init__()
        self.precedes = precedes
        self.writer: dict[Hashable, Any] = {}
        self.readers: defaultdict[Hashable, list[Any]] = defaultdict(list)

    def read(self, block: Any, cell: Hashable, event: Any) -> int:
        if cell in self.writer and not self.precedes(self.writer[cell], block):
            raise RaceError(f"{cell} is read while it is written")
        self.readers[cell].append(event)
        value = self[cell]
        if value is None:
            raise RaceError(f"{cell} is read before it is written")
        return value

    def write(self, block: Any, cell: Hashable, value: int, event: Any) -> None:
        events = [*self.readers[cell], *([self.writer[cell]] if cell in self.writer else [])]
        if not all(self.precedes(each, block) for each in events):
            raise RaceError(f"{cell} is written while it is used")
        self[cell], self.writer[cell], self.readers[cell] = value, event, []
