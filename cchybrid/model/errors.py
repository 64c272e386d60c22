"""The errors that cchybrid raises on purpose; each prints as one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class CchybridError(Exception):
    """Base of every error that cchybrid raises on purpose."""


class InputError(CchybridError):
    """Bad input: says where it stands, what is wrong and how to mend it.

    Parameters
    ----------
    what
        What is wrong, without a full stop.
    where
        The place: a file, an option, a key such as ``network.channels[3]``.
    mend
        What the user can do about it, without a full stop.
    """

    def __init__(self, what: str, *, where: str = "", mend: str = "") -> None:
        self.what, self.where, self.mend = what, where, mend
        super().__init__(what)

    def inside(self, where: str) -> InputError:
        """Return the same error with its place put inside ``where`` (a file, an outer key)."""
        return InputError(
            self.what, where=f"{where}: {self.where}" if self.where else where, mend=self.mend
        )

    def __str__(self) -> str:
        line = f"{self.where}: {self.what}" if self.where else self.what
        return " ".join((f"{line}; {self.mend}" if self.mend else line).split())


@contextmanager
def inside(where: str | Path) -> Iterator[None]:
    """Put the place of an ``InputError`` raised in this block inside ``where``."""
    try:
        yield
    except InputError as error:
        raise error.inside(str(where)) from None


class PluginError(CchybridError):
    """A plugin cannot be used: it failed to load, clashes with another, or breaks its contract."""
