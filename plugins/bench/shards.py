"""Shards: disjoint parts of the runs of a suite, for machines that share no scheduler."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cchybrid.model.errors import InputError

from .runner import Task

MAX_SHARDS = 100_000


@dataclass(frozen=True)
class Shard:
    """Shard number ``index``, from 1, of ``count``."""

    index: int
    count: int

    @property
    def words(self) -> str:
        """The words for the names of files: ``3-of-20``."""
        return f"{self.index}-of-{self.count}"

    def of(self, tasks: Sequence[Task]) -> list[Task]:
        """Return the tasks of this shard in their order.

        All tasks are sorted by a digest of row, contestant and seed and dealt in turn, so that
        shards are equally large and hold rows of all kinds.
        """
        order = sorted(range(len(tasks)), key=lambda place: _digest(tasks[place]))
        return [tasks[place] for place in sorted(order[self.index - 1 :: self.count])]


def read_shard(text: str) -> Shard:
    """Return the shard of a text such as ``3/20``, or raise an ``InputError``."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
    index, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= index <= count <= MAX_SHARDS:
        raise InputError(
            f"{text[:40]!r} is no shard", where="--shard", hint="write 1/20, 2/20, ..., 20/20"
        )
    return Shard(index, count)


def _digest(task: Task) -> bytes:
    """Return the digest of a task without that of its software, which machines may differ in."""
    settings = replace(task.contestant, software="")
    return hashlib.sha256(repr(replace(task, contestant=settings).key).encode()).digest()
