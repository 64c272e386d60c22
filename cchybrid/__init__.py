"""Schedules of collective communications with the fewest steps, for any network, with the proof.

>>> import cchybrid
>>> result = cchybrid.solve(cchybrid.instance("spidergon-8", "AAS"), time_limit=60)
>>> result.steps, result.status, result.certified
(4, 'optimal', True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cchybrid.host.api import bound, instance, network, solve
    from cchybrid.host.designs.api import design
    from cchybrid.host.designs.front import DesignFront, design_front
    from cchybrid.host.designs.result import DesignResult
    from cchybrid.host.result import Result
    from cchybrid.host.throughput import ThroughputResult, throughput
    from cchybrid.model import (
        Channel,
        Collective,
        CommunicationModel,
        Instance,
        LowerBound,
        Message,
        Network,
        Reduction,
        Schedule,
        Transfer,
    )
    from cchybrid.model.errors import CchybridError, InputError, PluginError
    from cchybrid.referee.verify import Violation, verify_schedule

__all__ = [
    "CchybridError", "Channel", "Collective", "CommunicationModel", "DesignFront", "DesignResult",
    "InputError", "Instance", "LowerBound", "Message", "Network", "PluginError", "Reduction",
    "Result", "Schedule", "ThroughputResult", "Transfer", "Violation", "bound", "design",
    "design_front", "instance", "network", "solve", "throughput", "verify_schedule",
]  # fmt: skip

# Imported when first used: the command line must answer --help, and an interrupt, at once.
_LATER = {
    "CchybridError": "cchybrid.model.errors",
    "InputError": "cchybrid.model.errors",
    "PluginError": "cchybrid.model.errors",
    "bound": "cchybrid.host.api",
    "design": "cchybrid.host.designs.api",
    "design_front": "cchybrid.host.designs.front",
    "DesignFront": "cchybrid.host.designs.front",
    "DesignResult": "cchybrid.host.designs.result",
    "instance": "cchybrid.host.api",
    "network": "cchybrid.host.api",
    "solve": "cchybrid.host.api",
    "Result": "cchybrid.host.result",
    "ThroughputResult": "cchybrid.host.throughput",
    "throughput": "cchybrid.host.throughput",
    "Violation": "cchybrid.referee.verify",
    "verify_schedule": "cchybrid.referee.verify",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module 'cchybrid' has no attribute {name!r}")
    value = getattr(import_module(_LATER.get(name, "cchybrid.model")), name)
    globals()[name] = value
    return value
