"""All names by which users find a record: its name, its aliases, its former names."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from cchybrid.library.collectives import name_key
from cchybrid.model.errors import PluginError
from cchybrid.plugin.records import CheckInfo, CollectiveInfo, NameInfo, ProofFormatInfo

CORE_FORMATS = {
    f"cchybrid-{name}"
    for name in ("instance", "schedule", "certificate", "network", "design", "run")
}
"""Formats of files whose verdict is cchybrid's, so that no plugin may print one."""
OPTIONS_OF_PROVE = {"output", "o", "time-limit", "json", "help", "h"}
"""Names that no format of proofs may have, as each is an option of ``prove``."""


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
    if isinstance(record, NameInfo) and record.name in _names_of_package():
        raise PluginError(f"name {record.name}: cchybrid has it already")
    if isinstance(record, ProofFormatInfo) and record.name.lower() in OPTIONS_OF_PROVE:
        raise PluginError(f"proof format {record.name}: prove has an option of this name")
    names = names_of(record)
    for key, other in table.items():
        for taken in names.keys() & names_of(other).keys():
            what, own = f"{kind} {record.name}", names[taken]
            also = "" if own == record.name else f": its name {own} is one of {other.name}"
            raise PluginError(f"{what} is already provided by plugin {provider[kind, key]}{also}")


@cache
def _names_of_package() -> set[str]:
    """Return the attributes of ``cchybrid``, and its packages, which it has when imported."""
    package = import_module(__name__.partition(".")[0])
    return {*package.__all__, *(module.name for module in iter_modules(package.__path__))}


def names_of(record: Any) -> dict[str, str]:
    """Return the names of a record by the form in which they are compared."""
    others = (*getattr(record, "aliases", ()), *getattr(record, "former_names", ()))
    key = name_key if isinstance(record, CollectiveInfo) else str.lower
    return {key(name): name for name in (*reversed(others), record.name)}
