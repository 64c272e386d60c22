"""All names by which users find a record: its name, its aliases, its former names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cchybrid.library.collectives import name_key
from cchybrid.model.errors import PluginError
from cchybrid.plugin.records import CollectiveInfo


def refuse_taken_names(
    record: Any, kind: str, table: Mapping[str, Any], provider: Mapping[tuple[str, str], str]
) -> None:
    """Raise a ``PluginError`` if another record of the same kind has a name of this one.

    Parameters
    ----------
    table, provider
        The records of the kind by name, and the plugin of each by kind and name.
    """
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
