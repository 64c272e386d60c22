"""Bound providers that find a bound and never end."""

from __future__ import annotations

import time
from collections.abc import Iterator

from cchybrid.model import Instance, LowerBound
from cchybrid.plugin import BoundInfo, hookimpl

FOUND = LowerBound(1, {"kind": "growth", "message": 0, "padding": "x" * 100_000})


def wait(instance: Instance) -> Iterator[LowerBound]:
    yield FOUND
    time.sleep(600)


def count(instance: Instance) -> Iterator[LowerBound]:
    yield FOUND
    number = 0
    while True:
        number += 1


def flood(instance: Instance) -> Iterator[LowerBound]:
    while True:
        yield FOUND
        time.sleep(0.001)


@hookimpl
def cchybrid_bounds() -> list[BoundInfo]:
    return [BoundInfo("endless", f"{__name__}:wait", "")]
