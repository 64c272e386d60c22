"""A plugin whose bound providers lie and break, and run before all others."""

from collections.abc import Iterator

from cchybrid.model import Instance, LowerBound
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import BoundInfo


def boast(instance: Instance) -> Iterator[LowerBound]:
    # On a connected network a message needs a step: no 0 steps are enough.
    yield LowerBound(99, {"kind": "linear", "steps": 1})
    yield LowerBound(98, {"kind": "linear", "steps": 1})


def repeat(instance: Instance) -> Iterator[LowerBound]:
    yield LowerBound(1, {"kind": "nonsense"})


def fail(instance: Instance) -> Iterator[LowerBound]:
    yield LowerBound(1 // 0)


def speak(instance: Instance) -> Iterator[str]:
    yield "many steps"


@hookimpl
def cchybrid_bounds() -> tuple[BoundInfo, ...]:
    return (
        BoundInfo("boaster", f"{__name__}:boast", "says more than it shows", order=1),
        BoundInfo("broken", f"{__name__}:fail", "fails", order=2),
        BoundInfo("text", f"{__name__}:speak", "yields no bounds", order=3),
    )
