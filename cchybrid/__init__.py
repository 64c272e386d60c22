"""Schedules of collective communications with the fewest steps, for any network, with the proof.

>>> import cchybrid
>>> result = cchybrid.solve(cchybrid.instance("spidergon-8", "AAS"), time_limit=60)
>>> result.steps, result.status, result.certified
(4, 'optimal', True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cchybrid import bench
    from cchybrid.checker import EvidenceError, Verdict
    from cchybrid.host.api import bound, solve
    from cchybrid.host.designs.api import design
    from cchybrid.host.designs.front import DesignFront, design_front
    from cchybrid.host.designs.result import DesignResult
    from cchybrid.host.instances import collective, instance, network
    from cchybrid.host.proving import Proof, check, prove, verify
    from cchybrid.host.result import Result
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
    "EvidenceError", "InputError", "Instance", "LowerBound", "Message", "Network", "PluginError",
    "Proof", "Reduction", "Result", "Schedule", "Transfer", "Verdict", "Violation", "bench",
    "bound", "check", "collective", "design", "design_front", "instance", "network", "prove",
    "solve", "verify", "verify_schedule",
]  # fmt: skip

# Imported when first used: the command line must answer --help, and an interrupt, at once.
_LATER = {
    "CchybridError": "cchybrid.model.errors",
    "DesignFront": "cchybrid.host.designs.front",
    "DesignResult": "cchybrid.host.designs.result",
    "EvidenceError": "cchybrid.checker",
    "InputError": "cchybrid.model.errors",
    "PluginError": "cchybrid.model.errors",
    "Proof": "cchybrid.host.proving",
    "Result": "cchybrid.host.result",
    "Verdict": "cchybrid.checker",
    "Violation": "cchybrid.referee.verify",
    "bound": "cchybrid.host.api",
    "check": "cchybrid.host.proving",
    "collective": "cchybrid.host.instances",
    "design": "cchybrid.host.designs.api",
    "design_front": "cchybrid.host.designs.front",
    "instance": "cchybrid.host.instances",
    "network": "cchybrid.host.instances",
    "prove": "cchybrid.host.proving",
    "solve": "cchybrid.host.api",
    "verify": "cchybrid.host.proving",
    "verify_schedule": "cchybrid.referee.verify",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        from cchybrid.library.nearest import did_you_mean

        hint = "" if name.startswith("_") else did_you_mean(name, __all__)
        text = f"module 'cchybrid' has no attribute {name!r}"
        raise AttributeError(f"{text}; {hint}" if hint else text)
    if name == "bench":
        return import_module("cchybrid.bench")
    value = getattr(import_module(_LATER.get(name, "cchybrid.model")), name)
    globals()[name] = value
    return value
