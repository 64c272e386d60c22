"""Files without a name: what is read equals what was written, or the file counts as unfinished."""

import mmap
import os
import signal
import tempfile
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from cchybrid.system.processes import start_module
from cchybrid.system.shared_file import ALIGNMENT, SharedFile, UnfinishedError, read, write


@pytest.fixture
def file() -> Iterator[SharedFile]:
    file = SharedFile()
    yield file
    file.close()


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_what_is_read_equals_what_was_written(file):
    long = np.arange(100_000)
    arrays = [
        long, np.arange(7, dtype=np.int8), np.empty(0, np.int32), np.empty((0, 3)),
        np.array([True, False]), np.asfortranarray(np.arange(12).reshape(3, 4)), long[::7],
        np.array(5), np.arange(12, dtype=np.float32).reshape(4, 3)[:, 1],
    ]  # fmt: skip
    file.write({"arrays": arrays, "again": long, "text": "ä", "one": 1 << 200})
    found = read(file.reader)
    assert (found["text"], found["one"]) == ("ä", 1 << 200)
    assert found["again"] is found["arrays"][0]
    for before, after in zip(arrays, found["arrays"], strict=True):
        assert (before.dtype, before.shape) == (after.dtype, after.shape)
        assert (before == after).all()
        assert after.flags.writeable
        assert after.flags.aligned
        if before.flags.c_contiguous or before.flags.f_contiguous:
            assert (before.strides == after.strides) or not before.size
    for after in found["arrays"][:6]:
        assert after.ctypes.data % ALIGNMENT == 0 or not after.size


def test_what_a_reader_changes_is_seen_by_no_other(file):
    file.write(np.zeros(10_000, dtype=np.int64))
    first, second = read(file.reader), read(file.reader)
    first[:] = 7
    assert not second.any()
    assert not read(file.reader).any()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.write(file.reader, b"x")
    with pytest.raises(PermissionError):
        mmap.mmap(file.reader, 0, access=mmap.ACCESS_WRITE)
    with pytest.raises(OSError, match="Invalid argument"):
        os.ftruncate(file.reader, 0)


def test_it_never_has_a_name(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    file = SharedFile()
    assert not list(tmp_path.iterdir())
    file.write("x")
    assert not list(tmp_path.iterdir())
    assert read(file.reader) == "x"
    file.close()
    file.close()
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_an_error():
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        with pytest.raises(OSError, match="No space left"):
            write(full, np.zeros(100_000))
    finally:
        os.close(full)


def test_every_incomplete_file_is_unfinished(tmp_path):
    path = tmp_path / "file"
    path.touch()
    with open(path, "wb") as target:
        write(target.fileno(), np.arange(100))
    whole = path.read_bytes()
    with open(path, "rb") as source:
        assert (read(source.fileno()) == np.arange(100)).all()
    for size in (0, 1, 7, 8, 9, 64, 200, len(whole) - 1, len(whole)):
        path.write_bytes((bytes(8) + whole[8:])[:size])
        with open(path, "rb") as source, pytest.raises(UnfinishedError):
            read(source.fileno())


def test_a_reader_waits_for_the_writer(file):
    found: list[object] = []
    reader = threading.Thread(target=lambda: found.append(read(file.reader)))
    reader.start()
    reader.join(0.3)
    assert reader.is_alive()
    write(file.writer, [1, 2])
    reader.join(0.3)
    assert reader.is_alive()  # another process may have the writer
    file.close_writer()
    reader.join(30)
    assert found == [[1, 2]]


def test_a_writer_that_is_killed(tmp_path, monkeypatch, file):
    (tmp_path / "half_writer.py").write_text(
        "import os, sys, time\n"
        "os.write(int(sys.stdin.readline()), bytes(8) + b'x' * 1000)\n"
        "print('written', flush=True)\n"
        "time.sleep(60)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with start_module("half_writer", descriptors=[file.writer]) as writer:
        writer.stdin.write(f"{file.writer}\n".encode())
        writer.stdin.flush()
        assert writer.stdout.readline() == b"written\n"
        file.close_writer()
        writer.send_signal(signal.SIGKILL)
        with pytest.raises(UnfinishedError):
            read(file.reader)
