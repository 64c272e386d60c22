"""Files that are none: devices, pipes, and files too large to be read."""

import io
import os
from pathlib import Path

import pytest

import cchybrid
from cchybrid.model import instance
from cchybrid.model.errors import InputError


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/urandom", "/dev/full", "/dev/null"])
def test_a_device_is_not_read(path: str) -> None:
    with pytest.raises(InputError, match="is a device, not a file"):
        instance.read_text(path)
    with pytest.raises(InputError):
        cchybrid.Schedule.load(path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a pipe, not a file"):
        instance.read_text(tmp_path / "pipe")


def test_a_file_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instance, "MAX_FILE_CHARACTERS", 10)
    path = tmp_path / "a.json"
    path.write_text("é" * 10)
    assert instance.read_text(path) == "é" * 10
    path.write_text("a" * 11)
    with pytest.raises(InputError, match="more than 10 characters are too many; split the file"):
        instance.read_text(path)


def test_line_breaks_and_marks_are_those_of_any_system(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbf1\r\n2\r3\n")
    assert instance.read_text(path) == "1\n2\n3\n"


@pytest.mark.parametrize("size", [1, 4, 5, 6, 7, 1 << 40])
def test_no_more_memory_is_reserved_than_a_file_needs(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instance, "_PIECE", 3)
    requested = []

    def read(count: int) -> str:
        requested.append(count)
        return file.read(count)

    file = io.StringIO("abcdef")
    assert instance.read_up_to(read, size) == "abcdef"[:size]
    assert max(requested) <= 3
    assert instance.read_up_to(io.BytesIO(b"").read, size) == b""
