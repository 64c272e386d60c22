"""The errors that cchybrid raises on purpose; each prints as one line."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cchybrid.model.text import printable

MAX_ERROR = 1_000
"""Characters of an error; of longer ones the middle is left out."""


class CchybridError(Exception):
    """Base class of the errors that cchybrid raises on purpose."""


class InputError(CchybridError):
    """Bad input: what is wrong, where, and how to correct it.

    Parameters
    ----------
    what
        What is wrong, without a full stop.
    where
        The place: a file, an option, or a key such as ``network.channels[3]``.
    hint
        How to correct it, without a full stop.
    """

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        self.what, self.where, self.hint = what, where, hint
        super().__init__(what)

    def with_context(self, where: str) -> "InputError":
        """Return the same error with ``where`` (a file, an outer key) put before its place."""
        return InputError(
            self.what, where=f"{where}: {self.where}" if self.where else where, hint=self.hint
        )

    def __str__(self) -> str:
        line = f"{self.where}: {self.what}" if self.where else self.what
        line = f"{line}; {self.hint}" if self.hint else line
        line = _shortened(" ".join(_shortened(line).split()))
        return _shortened(printable(line))  # as a terminal would obey what is not


Problem = tuple[str, str, str]
"""The parts of an ``InputError``: what is wrong, where, and how to correct it."""


def refuse_first(problems: Iterable[Problem]) -> None:
    """Raise an ``InputError`` for the first problem, if there is one."""
    for what, where, hint in problems:
        raise InputError(what, where=where, hint=hint)


def _shortened(line: str) -> str:
    half = MAX_ERROR // 2
    return line if len(line) <= MAX_ERROR else f"{line[: half - 3]} ... {line[2 - half :]}"


@contextmanager
def with_context(where: str | Path) -> Iterator[None]:
    """Put ``where`` before the place of an ``InputError`` that is raised in this block."""
    try:
        yield
    except InputError as error:
        raise error.with_context(str(where)) from None


class PluginError(CchybridError):
    """A plugin cannot be used: it failed to load, clashes with another, or breaks its contract."""
