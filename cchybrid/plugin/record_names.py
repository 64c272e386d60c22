"""All names by which users find a record: its name, its aliases, its former names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cchybrid.library.collectives import name_key
from cchybrid.model.errors import PluginError
from cchybrid.plugin.records import CheckInfo, CollectiveInfo

CORE_FORMATS = {f"cchybrid-{name}" for name in ("instance", "schedule", "certificate", "network")}
"""Formats of files whose verdict is the checker's, so that no plugin may print one."""


def refuse_taken_names(
    record: Any, kind: str, table: Mapping[str, Any], provider: Mapping[tuple[str, str], str]
) -> None:
    """Raise a ``PluginError`` if the core or another record of the kind has a name of this one.

    Parameters
    ----------
    table, provider
        The records of the kind by name, and the plugin of each by kind and name.
    """
    if isinstance(record, CheckInfo) and record.name.partition("/")[0].lower() in CORE_FORMATS:
        raise PluginError(f"check {record.name}: such files are checked by cchybrid alone")
    names = _names(record)
    for key, other in table.items():
        for taken in names.keys() & _names(other).keys():
            what, own = f"{kind} {record.name}", names[taken]
            also = "" if own == record.name else f": its name {own} is one of {other.name}"
            raise PluginError(f"{what} is already provided by plugin {provider[kind, key]}{also}")


def _names(record: Any) -> dict[str, str]:
    """Return the names of a record by the form in which they are compared."""
    others = (*getattr(record, "aliases", ()), *getattr(record, "former_names", ()))
    key = name_key if isinstance(record, CollectiveInfo) else str.lower
    return {key(name): name for name in (*reversed(others), record.name)}
