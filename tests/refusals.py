"""Refusals of input, in one line each."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cchybrid.model.errors import InputError


@contextmanager
def refused(*words: str) -> Iterator[None]:
    """Check that an input error of one line is raised, with all these words in it."""
    with pytest.raises(InputError) as raised:
        yield
    assert all(each in str(raised.value) for each in words), str(raised.value)
    assert "\n" not in str(raised.value)
