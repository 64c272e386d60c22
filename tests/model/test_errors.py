"""Errors of bad input: one printable line of bounded length, whatever the input holds."""

import pytest

from cchybrid.model.errors import MAX_ERROR, InputError, with_context


@pytest.mark.parametrize(
    ("what", "shown"),
    [
        ("two\nlines", "two lines"),
        ("a\x1b[31m red", "a\\x1b[31m red"),
        ("from right \u202e to left", "from right \\u202e to left"),
        ("half \ud800", "half \\ud800"),
        ("a\0b", "a\\x00b"),
        ("café 日本", "café 日本"),
    ],
)
def test_what_a_terminal_would_obey_is_escaped(what: str, shown: str) -> None:
    assert str(InputError(what, where="x.json", hint="y")) == f"x.json: {shown}; y"


@pytest.mark.parametrize("letter", ["a", "\x1b", "\n", "\U000e0001"])
def test_long_texts_lose_their_middle(letter: str) -> None:
    for size in (MAX_ERROR, 100_000):
        error = InputError(f"what {letter * size}", where="in file", hint="hint at the end")
        assert len(str(error)) <= MAX_ERROR
        assert str(error).isprintable()
        assert str(error).startswith("in file: what ")
        assert str(error).endswith("hint at the end")


def test_short_texts_stay_as_they_are() -> None:
    with pytest.raises(InputError) as caught, with_context("outer"), with_context("inner"):
        raise InputError("x" * 900, hint="write y")
    assert str(caught.value) == f"outer: inner: {'x' * 900}; write y"
