"""Finds plugins, loads each by itself, and keeps what they registered, by name."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, TypeVar

import pluggy

from cchybrid.errors import InputError, PluginError
from cchybrid.hookspecs import HookSpecs
from cchybrid.records import (
    API,
    BoundInfo,
    CollectiveInfo,
    EngineInfo,
    ExporterInfo,
    Observer,
    TopologyInfo,
)

GROUP = "cchybrid"
"""The entry-point group that plugins declare themselves in."""
MODULES_VARIABLE = "CCHYBRID_PLUGINS"
"""Environment variable: modules to load as plugins besides the installed ones, by commas."""

Record = TopologyInfo | CollectiveInfo | BoundInfo | ExporterInfo | EngineInfo
R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class PluginRow:
    """One plugin for ``cchybrid plugins``: where it comes from and what became of it."""

    name: str
    source: str
    trouble: str = ""
    provides: tuple[str, ...] = ()


@dataclass
class Registry:
    """What all plugins registered. A broken one costs a line in ``warnings``, nothing more."""

    engines: dict[str, EngineInfo] = field(default_factory=dict)
    topologies: dict[str, TopologyInfo] = field(default_factory=dict)
    collectives: dict[str, CollectiveInfo] = field(default_factory=dict)
    bounds: dict[str, BoundInfo] = field(default_factory=dict)
    exporters: dict[str, ExporterInfo] = field(default_factory=dict)
    observers: list[tuple[str, Observer]] = field(default_factory=list)
    plugins: list[PluginRow] = field(default_factory=list)
    provider: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def warnings(self) -> list[str]:
        """One line per plugin that could not be used, or not wholly."""
        return [f"plugin {row.name}: {row.trouble}" for row in self.plugins if row.trouble]

    def engine(self, name: str) -> EngineInfo:
        """Return an engine by name (in any case), or raise an ``InputError`` with a suggestion."""
        return _find(self.engines, name, "engine", "engines")

    def exporter(self, name: str) -> ExporterInfo:
        """Return an exporter by name (in any case), or raise an ``InputError``."""
        return _find(self.exporters, name, "export format", "plugins")


def load_registry() -> Registry:
    """Load the built-in and all installed plugins.

    Every plugin is imported and asked by itself; whatever goes wrong with one is written down
    under its name and the others are loaded all the same.
    """
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(HookSpecs)
    registry = Registry()
    for name, source, load in _candidates():
        try:
            plugin = load()
            misspelt = sorted(_unknown_hooks(plugin))
            if misspelt:
                raise PluginError(f"no hook is called {', '.join(misspelt)}")
            manager.register(plugin, name=name)
        except (Exception, SystemExit) as error:
            registry.plugins.append(PluginRow(name, source, _one_line(error)))
            continue
        provides, troubles = _ask(manager, plugin, name, registry)
        registry.plugins.append(PluginRow(name, source, "; ".join(troubles), tuple(provides)))
    return registry


def _candidates() -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Yield name, source and loader: the built-in first, so that nobody can take their names."""
    yield "core", "cchybrid", partial(import_module, "cchybrid.builtin")
    found = sorted(
        entry_points(group=GROUP), key=lambda entry: (entry.value != "cchybrid_plugins", entry.name)
    )
    for entry in found:
        origin = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
        yield entry.name, origin, entry.load
    for module in filter(None, os.environ.get(MODULES_VARIABLE, "").split(",")):
        yield module.strip(), MODULES_VARIABLE, partial(import_module, module.strip())


def _unknown_hooks(plugin: Any) -> Iterator[str]:
    """Yield the marked functions that are no hooks: a misspelt hook must not be lost in silence."""
    for attribute in dir(plugin):
        marked = hasattr(getattr(plugin, attribute, None), f"{GROUP}_impl")
        if marked and not hasattr(HookSpecs, attribute):
            yield attribute


def _ask(
    manager: pluggy.PluginManager, plugin: Any, name: str, registry: Registry
) -> tuple[list[str], list[str]]:
    """Call one plugin's hooks one at a time; return what it provides and what was wrong."""
    provides: list[str] = []
    troubles: list[str] = []
    tables: list[tuple[str, type, dict[str, Any]]] = [
        ("engine", EngineInfo, registry.engines),
        ("topology", TopologyInfo, registry.topologies),
        ("collective", CollectiveInfo, registry.collectives),
        ("bound", BoundInfo, registry.bounds),
        ("exporter", ExporterInfo, registry.exporters),
    ]
    plural = {"topology": "topologies"}
    others = manager.get_plugins() - {plugin}
    for kind, record_type, table in tables:
        hook = manager.subset_hook_caller(f"cchybrid_{plural.get(kind, kind + 's')}", others)
        try:
            for record in _flat(hook()):
                _add(record, record_type, kind, table, name, registry)
                provides.append(f"{kind} {record.name}")
        except (Exception, SystemExit) as error:
            troubles.append(_one_line(error))
    try:
        watching = list(_flat(manager.subset_hook_caller("cchybrid_observers", others)()))
        registry.observers.extend((name, observer) for observer in watching)
        provides.extend("observer" for _ in watching)
    except (Exception, SystemExit) as error:
        troubles.append(_one_line(error))
    return provides, troubles


def _flat(answers: Iterable[Iterable[Any]]) -> Iterator[Any]:
    for answer in answers:
        yield from answer


def _add(
    record: Any, wanted: type, kind: str, table: dict[str, Any], name: str, registry: Registry
) -> None:
    fits = isinstance(record, wanted)
    if not fits:
        raise PluginError(f"a {type(record).__name__} stands where a {wanted.__name__} belongs")
    if record.api != API:
        raise PluginError(
            f"{kind} {record.name} is written for plugin surface {record.api}, this is {API}"
        )
    key = record.name.lower()
    if key in table:
        owner = registry.provider[kind, key]
        raise PluginError(f"{kind} {record.name} is already provided by plugin {owner}")
    table[key] = record
    registry.provider[kind, key] = name


def _find(table: dict[str, R], name: str, what: str, command: str) -> R:
    found = table.get(name.lower())
    if found is None:
        close = difflib.get_close_matches(name.lower(), list(table), 1)
        mend = f"did you mean {close[0]}?" if close else f"see: cchybrid {command}"
        raise InputError(f"no {what} is called {name}", mend=mend)
    return found


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or "no reason given"
    return text if isinstance(error, PluginError) else f"{type(error).__name__}: {text}"
