"""An object that one process writes to a file without a name, and that others map.

The file has no name from before anything is written to it, so nothing is left of it, however the
processes end. Arrays that can be pickled without a copy (PEP 574) are mapped as private pages: all
readers share the memory, and what one of them writes to an array is seen by no other process.

>>> file = SharedFile()
>>> file.write(problem)          # or in a child process that inherits ``file.writer``
>>> copy = read(file.reader)     # in any child process that inherits ``file.reader``
"""

import fcntl
import mmap
import os
import pickle
import struct
import tempfile
from typing import Any

ALIGNMENT = 64
"""Bytes to a multiple of which the start of every array is rounded up; numba expects 16."""
_NUMBER = struct.Struct("<Q")


class UnfinishedError(Exception):
    """The writer has ended before the file was complete."""


class SharedFile:
    """A file without a name, locked until every process has closed its ``writer``.

    Attributes
    ----------
    writer
        Descriptor for writing, until ``close_writer``.
    reader
        Descriptor for reading only.

    Raises
    ------
    OSError
        If no folder for temporary files can be written to.
    """

    def __init__(self) -> None:
        self.writer, name = tempfile.mkstemp(prefix="cchybrid-")
        self.reader = -1
        try:
            self.reader = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
            fcntl.flock(self.writer, fcntl.LOCK_EX)
        except OSError:
            self.close()
            raise
        finally:
            os.unlink(name)

    @property
    def size(self) -> int:
        """The bytes written so far."""
        return os.fstat(self.reader).st_size

    def write(self, content: object) -> None:
        """Write the content, and close the writer.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        try:
            write(self.writer, content)
        finally:
            self.close_writer()

    def close_writer(self) -> None:
        """Close the writer in this process."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def close(self) -> None:
        """Close the file in this process."""
        self.close_writer()
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = -1


def write(descriptor: int, content: object) -> None:
    """Write an object to an empty file, by its descriptor.

    The file begins with the number of its parts and the size of each in bytes; then the parts
    follow: the pickled object, and its arrays. The number is written last, when the file is
    complete.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    arrays: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(content, protocol=5, buffer_callback=arrays.append)
    parts = [memoryview(pickled), *(array.raw() for array in arrays)]
    with open(descriptor, "wb", closefd=False) as file:
        file.write(_NUMBER.pack(0))
        file.writelines(_NUMBER.pack(part.nbytes) for part in parts)
        for part in parts:
            file.write(bytes(-file.tell() % ALIGNMENT))
            file.write(part)
    os.pwrite(descriptor, _NUMBER.pack(len(parts)), 0)


def read(descriptor: int) -> Any:
    """Return the object in a file, by its descriptor, once its writer has ended.

    Its arrays can be written to; this changes neither the file nor the arrays of other processes.
    The object is unpickled: read only files that code of cchybrid has written.

    Raises
    ------
    UnfinishedError
        If the writer has ended before the file was complete.
    OSError
        If the file cannot be mapped.
    """
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    if os.fstat(descriptor).st_size < _NUMBER.size:
        raise UnfinishedError
    content = memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY))
    (count,) = _NUMBER.unpack_from(content)
    if count == 0:
        raise UnfinishedError
    end = _NUMBER.size * (1 + count)
    parts = []
    for (size,) in _NUMBER.iter_unpack(content[_NUMBER.size : end]):
        start = end + -end % ALIGNMENT
        end = start + size
        parts.append(content[start:end])
    return pickle.loads(parts[0], buffers=parts[1:])
