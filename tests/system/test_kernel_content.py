"""The digest of a kernel: what its code depends on changes it, and nothing else does."""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numba
import pytest

from cchybrid.system.kernel_cache import cache_folder
from cchybrid.system.kernel_content import UnknownContentError, digest_of_kernel, fields_of

SOURCE = """
import math
from typing import NamedTuple
import numpy as np
import own_numbers
from cchybrid.system.compiled import compiled, inlined, internal

FACTOR = 2
TABLE = (0.5, np.int32(7))
ARRAY = np.arange(3)

class Pair(NamedTuple):
    first: int
    second: int

class Unknown:
    pass

UNKNOWN = Unknown()

@inlined
def deepest(number):
    return number * FACTOR + own_numbers.OFFSET

@internal
def times(number, power=1):
    return deepest(number) + math.sqrt(power)

@compiled
def top(numbers):
    total = Pair(0, 0).second + TABLE[1] + ARRAY[0]
    for number in numbers:
        total += times(number)
    return total

@compiled
def recursive(number):
    return 0 if number == 0 else recursive(number - 1)

@compiled
def strange():
    return UNKNOWN

@compiled
def apart():
    return later()

@internal
def later():
    return 1
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch) -> Iterator[None]:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    cache_folder.cache_clear()
    yield
    cache_folder.cache_clear()


def module(monkeypatch: pytest.MonkeyPatch, source: str = SOURCE, offset: int = 1) -> Any:
    """Return a module made from a source, that reads a number of another module."""
    numbers = ModuleType("own_numbers")
    vars(numbers)["OFFSET"] = offset
    vars(numbers)["OTHER"] = object()
    made = ModuleType("own_kernels")
    for each in (numbers, made):
        monkeypatch.setitem(sys.modules, each.__name__, each)
    exec(compile(source, "kernels.py", "exec"), vars(made))
    return made


def test_places_and_comments_do_not_count(monkeypatch):
    first = digest_of_kernel(module(monkeypatch).top)
    moved = SOURCE.replace("\n@compiled", "\n# a comment\n\n@compiled")
    assert digest_of_kernel(module(monkeypatch, moved).top) == first


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("total += times(number)", "total -= times(number)"),
        ("return deepest(number)", "return -deepest(number)"),  # of a kernel that is called
        ("number * FACTOR", "FACTOR - number"),  # and of one that this calls
        ("FACTOR = 2", "FACTOR = 3"),
        ("FACTOR = 2", "FACTOR = np.int32(2)"),
        ("int32(7)", "int64(7)"),
        ("arange(3)", "arange(4)"),
        ("first: int\n    second: int", "second: int\n    first: int"),
        ("@inlined", "@internal"),
        ("own_numbers.OFFSET", "own_numbers.OFFSET * 2"),
    ],
)
def test_what_the_code_depends_on_counts(monkeypatch, old, new):
    first = digest_of_kernel(module(monkeypatch).top)
    assert old in SOURCE
    assert digest_of_kernel(module(monkeypatch, SOURCE.replace(old, new, 1)).top) != first


def test_kernels_that_call_themselves_or_later_ones(monkeypatch):
    kernels = module(monkeypatch)
    assert digest_of_kernel(kernels.recursive) != digest_of_kernel(kernels.apart)


def test_unknown_objects_are_refused(monkeypatch):
    with pytest.raises(UnknownContentError, match="Unknown"):
        digest_of_kernel(module(monkeypatch).strange)


def test_names_of_fields_are_part_of_a_signature(monkeypatch):
    """numba compares the class, which a file names, and the types: not the order of the fields."""
    turned = SOURCE.replace("first: int\n    second: int", "second: int\n    first: int")
    kinds = [numba.typeof(module(monkeypatch, text).Pair(1, 2)) for text in (SOURCE, turned)]
    first, second = ((kind, numba.types.UniTuple(kind, 2)) for kind in kinds)
    assert fields_of(first) == fields_of(first)
    assert fields_of(first) != fields_of(second)
    assert fields_of(first[1:]) != fields_of(second[1:])
