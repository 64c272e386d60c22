"""Schedules of collective communications with the fewest steps, for any network, with the proof.

>>> import cchybrid
>>> result = cchybrid.solve(cchybrid.instance("spidergon-8", "AAS"), time_limit=60)
>>> result.steps, result.status, result.certified
(4, 'optimal', True)
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cchybrid.checker import EvidenceError, Verdict
    from cchybrid.host.api import bound, solve
    from cchybrid.host.instances import collective, instance, network
    from cchybrid.host.proving import ProofResult, check, prove, verify
    from cchybrid.host.result import Result
    from cchybrid.model import (
        AllReduction,
        Channel,
        Collective,
        CommunicationModel,
        Exscan,
        Instance,
        LowerBound,
        Message,
        Network,
        Reduction,
        Scan,
        Schedule,
        Transfer,
    )
    from cchybrid.model.errors import CchybridError, InputError, PluginError
    from cchybrid.referee.verify import Violation, verify_schedule

__all__ = [
    "AllReduction", "CchybridError", "Channel", "Collective", "CommunicationModel", "EvidenceError",
    "Exscan", "InputError", "Instance", "LowerBound", "Message", "Network", "PluginError",
    "ProofResult", "Reduction", "Result", "Scan", "Schedule", "Transfer", "Verdict", "Violation",
    "bound", "check", "collective", "instance", "network", "prove", "solve", "verify",
    "verify_schedule",
]  # fmt: skip

# Imported when first used: the command line must answer --help, and an interrupt, at once.
_LATER = {
    "cchybrid.checker": ("EvidenceError", "Verdict"),
    "cchybrid.host.api": ("bound", "solve"),
    "cchybrid.host.instances": ("collective", "instance", "network"),
    "cchybrid.host.proving": ("ProofResult", "check", "prove", "verify"),
    "cchybrid.host.result": ("Result",),
    "cchybrid.model.errors": ("CchybridError", "InputError", "PluginError"),
    "cchybrid.referee.verify": ("Violation", "verify_schedule"),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in __all__:
        found = (module for module, names in _LATER.items() if name in names)
        value = getattr(import_module(next(found, "cchybrid.model")), name)
    elif not name.startswith("_") and name in (registered := _registered()):
        from cchybrid.plugin.records import load_target

        value = load_target(registered[name].target)
    else:
        raise AttributeError(f"module 'cchybrid' has no attribute {name!r}{_guess(name)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_registered()})


def _registered() -> dict[str, Any]:
    """Return the names that plugins register."""
    from cchybrid.plugin.registry import load_registry

    return {info.name: info for info in load_registry().names.values()}


def _guess(name: str) -> str:
    if name.startswith("_"):  # Python itself looks for such names
        return ""
    from cchybrid.library.nearest import nearest

    # First among functions for a small first letter, and among classes for a large one.
    names = [*__all__, *_registered()]
    alike = [known for known in names if known[0].islower() == name[0].islower()]
    found = nearest(name, alike) or nearest(name, names)
    return f"; did you mean {found}?" if found else "; dir(cchybrid) lists what there is"
