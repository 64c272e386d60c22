"""The record of a bound provider, as plugins register it."""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from typing import Any, Literal

from cchybrid.library.records import API
from cchybrid.model import Instance, LowerBound
from cchybrid.model.instance import Horizon

BoundFunction = Callable[[Instance], Iterator[LowerBound]]


@dataclass(frozen=True)
class BoundInfo:
    """A bound provider.

    Parameters
    ----------
    name
        One word, by which results name it.
    target
        ``package.module:function``, imported only where it runs. The function takes an
        ``Instance`` of kind ``deliver`` and yields increasing ``LowerBound`` objects whose evidence
        ``checker`` can check.
    summary
        One line.
    order
        Providers are asked in ascending order: cheap ones first.
    rounds
        Whether the function sees steps of several rounds; otherwise every step is as wide as the
        widest, for which a bound holds as well.
    horizons
        What steps may be in the instances about which it is asked: see ``EngineInfo.horizons``.
    allreduce
        Whether the function takes an ``allreduce`` or a scan, too; otherwise it is asked about the
        broadcasts and reductions in it: with low effort about those of up to 64 members, else
        about the two that take longest by ``growth``.
    effort
        ``low``: milliseconds. ``medium``. ``high``: linear programs, which cannot be ended early;
        an audit asks about instances of at most 10,000 deliveries only.
    immediate_size
        The largest product of nodes and channels for which a provider that is not of low effort
        takes some ten milliseconds, too.
    in_prove
        Whether ``prove`` asks it, which solves the relaxation of ``farkas`` itself.
    own_worker
        Whether it runs in processes of its own, so that its crash ends nothing else. The others
        share a worker, as those of cchybrid do; those of low effort, or on an instance of
        ``immediate_size``, are asked before any process starts, too.
    api
        The version of the plugin interface that the provider was written for.
    """

    name: str
    target: str
    summary: str
    order: int = 100
    rounds: bool = False
    _: KW_ONLY
    horizons: tuple[Horizon, ...] = ("steps", "slots")
    allreduce: bool = False
    effort: Literal["low", "medium", "high"] = "medium"
    immediate_size: int = 0
    in_prove: bool = True
    own_worker: bool = True
    api: int = API


def load_target(target: str) -> Any:
    """Return the object ``package.module:name``."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def later(target: str) -> Callable[..., Any]:
    """Return a function that, when called, imports ``package.module:name`` and calls it."""

    def call(*arguments: Any) -> Any:
        return load_target(target)(*arguments)

    return call
