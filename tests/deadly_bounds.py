"""A plugin whose bound provider ends its own process."""

import os
from collections.abc import Iterator

from cchybrid.model import Instance, LowerBound
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import BoundInfo


def die(instance: Instance) -> Iterator[LowerBound]:
    os._exit(3)
    yield LowerBound(1)


@hookimpl
def cchybrid_bounds() -> tuple[BoundInfo, ...]:
    return (BoundInfo("deadly", f"{__name__}:die", "ends its process", order=1),)
