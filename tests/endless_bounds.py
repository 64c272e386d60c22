"""Bound providers that find a bound and never end."""

import time
from collections.abc import Iterator

from cchybrid.model import Instance, LowerBound
from cchybrid.plugin import BoundInfo, hookimpl

GROUP = {"messages": [0], "worth": [[1, 10**39 + 7]], "once": [[1, 1, 1, 0]] * 0}
FOUND = LowerBound(1, {"kind": "linear", "steps": 1, "groups": [GROUP]})


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
