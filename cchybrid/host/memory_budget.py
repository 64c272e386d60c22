"""The memory that a run may need, and the workers that end when it needs more."""

import os
import time
from collections.abc import Callable

from cchybrid.host.worker_pool import WorkerPool
from cchybrid.system.processes import private_memory, total_memory

MEMORY_SHARE, MIN_MEMORY_BYTES, MAX_MEMORY_SHARE = 1 / 10, 2 << 30, 1 / 2
"""Without a memory limit, a run may need this share of the machine's memory; on small machines and
for large instances 2 GiB and ``DELIVERY_BYTES`` per delivery, but at most half of it."""
DELIVERY_BYTES = 2 << 10
"""Memory per delivery: an all-to-all of a million messages over 17 hops needs half of it."""
MAX_PAUSED_BYTES, MAX_PAUSED_SHARE = 1 << 30, 1 / 2
"""Memory of the run, and half of what its deliveries need, but at most this share of what it may
need, above which paused workers are ended. Below 10,000 deliveries a dozen workers hold less."""
CHECK_SECONDS = 0.5
"""Seconds between two checks of the memory of the run."""


class MemoryBudget:
    """The memory budget of a whole run: what the host grows by, and all workers.

    Parameters
    ----------
    mebibytes
        The budget; ``None``: the default for this machine and instance.
    deliveries
        The number of required deliveries.

    Attributes
    ----------
    mebibytes
        The budget.
    """

    def __init__(self, mebibytes: int | None, deliveries: int) -> None:
        needed = DELIVERY_BYTES * deliveries
        total = total_memory() or 2 * (MIN_MEMORY_BYTES + needed)
        default = max(MEMORY_SHARE * total, MIN_MEMORY_BYTES + needed)
        default = min(default, MAX_MEMORY_SHARE * total)
        self._bytes = int(default) if mebibytes is None else mebibytes << 20
        self._paused = min(MAX_PAUSED_BYTES + needed // 2, int(MAX_PAUSED_SHARE * self._bytes))
        self.mebibytes = self._bytes >> 20
        self._before = private_memory(os.getpid())
        self._next_check = 0.0

    def is_due(self) -> bool:
        """Return whether it is time to check the memory again."""
        return time.monotonic() >= self._next_check

    def superfluous(
        self, pool: WorkerPool, gain: Callable[[int], float], files: int = 0
    ) -> tuple[list[int], list[int]]:
        """Measure the memory of the run; return the paused workers to end, and the working ones.

        Parameters
        ----------
        gain
            By seat: workers of the least gain come first.
        files
            Bytes of files that workers map.
        """
        self._next_check = time.monotonic() + CHECK_SECONDS
        grown = max(0, private_memory(os.getpid()) - self._before)
        used = grown + files + pool.measure()
        if used > self._bytes:
            used = grown + files + pool.measure_again()
        paused = pool.superfluous(used - self._paused, gain)
        used -= sum(map(pool.memory_of, paused))
        return paused, pool.superfluous(used - self._bytes, gain, paused=False)
