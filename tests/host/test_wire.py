from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cchybrid.host.wire import GarbledError, LineReader, encode

LINES = st.lists(
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9), max_size=3).map(
        lambda content: {**content, "event": "note"}
    ),
    max_size=6,
)


@given(LINES, st.integers(1, 40))
def test_lines_survive_any_cutting_of_the_stream(lines: list[dict[str, object]], size: int) -> None:
    stream = b"".join(map(encode, lines))
    reader = LineReader()
    found = [
        line
        for start in range(0, len(stream), size)
        for line in reader.feed(stream[start : start + size])
    ]
    assert found == lines


@pytest.mark.parametrize(
    "raw", [b"hello\n", b"[1]\n", b"{}\n", b'{"event": 3}\n', b"\xff\n", b"\n"]
)
def test_anything_else_is_garbled(raw: bytes) -> None:
    with pytest.raises(GarbledError):
        list(LineReader().feed(raw))


def test_a_line_without_end_is_garbled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cchybrid.host.wire.LONGEST", 100)
    with pytest.raises(GarbledError):
        list(LineReader().feed(b"x" * 101))
