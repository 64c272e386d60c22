"""Refusals of input, in one line each."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cchybrid.model.errors import InputError


@contextmanager
def refused(words: str) -> Iterator[None]:
    """Check that an input error of one line is raised, with these words in it."""
    with pytest.raises(InputError) as raised:
        yield
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
