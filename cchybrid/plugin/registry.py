"""Finds plugins, loads each by itself, and keeps what they registered, by name."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from importlib import import_module
from importlib.metadata import entry_points
from itertools import chain
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import pluggy

from cchybrid.model import Collective, Network
from cchybrid.model.errors import CchybridError, InputError, PluginError
from cchybrid.plugin.hookspecs import HookSpecs
from cchybrid.plugin.interface_1 import explain
from cchybrid.plugin.records import (
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

BUILT_IN = (("core", "cchybrid.plugin.builtin"), ("export", "cchybrid.view.export"))
"""Plugins of cchybrid itself, by module name, because a registry imports no room above it."""

_HOOKS = [name for name in vars(HookSpecs) if name.startswith(f"{GROUP}_")]

_MAKES: dict[type, tuple[str, type]] = {
    TopologyInfo: ("build", Network),
    CollectiveInfo: ("build", Collective),
    ExporterInfo: ("export", str),
}
"""The functions that records hold, and what each returns."""

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
    _reported: set[str] = field(default_factory=set)
    """Former names of engines that the user has been referred to the present name for."""

    @property
    def warnings(self) -> list[str]:
        """One line per plugin that could not be used, or not wholly."""
        return [f"plugin {row.name}: {row.trouble}" for row in self.plugins if row.trouble]

    def engine(self, name: str) -> EngineInfo:
        """Return an engine by its present or a former name, in any case.

        Raises
        ------
        InputError
            No engine has this name; with a suggestion.
        """
        return _find(self.engines, self.current_name(name), "engine", "engines")

    def current_name(self, name: str) -> str:
        """Return the present name of an engine, given in any case; any other text as it is.

        The first use of each former name prints one line on standard error.
        """
        former = name.lower()
        if former in self.engines:
            return self.engines[former].name
        for info in self.engines.values():
            if former in map(str.lower, info.former_names):
                if former not in self._reported:
                    self._reported.add(former)
                    print(f"cchybrid: engine {former} is now {info.name}", file=sys.stderr)
                return info.name
        return name

    def exporter(self, name: str) -> ExporterInfo:
        """Return an exporter by name (in any case), or raise an ``InputError``."""
        return _find(self.exporters, name, "export format", "plugins")


def load_registry() -> Registry:
    """Load the built-in and all installed plugins.

    Every plugin is imported and asked by itself; whatever goes wrong with one is written down
    under its name and the others are loaded all the same.
    """
    registry = Registry()
    loaded: list[tuple[str, Any]] = []
    # What a plugin prints must not end up in the middle of a command's JSON.
    with contextlib.redirect_stdout(sys.stderr):
        for name, source, load in _candidates():
            provides: list[str] = []
            troubles: list[str] = []
            try:
                _refuse_name(name, registry)
                plugin = load()
                _refuse_twin(plugin, loaded)
                loaded.append((name, plugin))
                for hook in _hooks(plugin, name, troubles):
                    _ask(hook, name, registry, provides, troubles)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # SystemExit too, and what extension modules panic with
                troubles.append(_one_line(error))
            row = PluginRow(name, source, "; ".join(troubles), tuple(provides))
            registry.plugins.append(row)
    return registry


def _candidates() -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Yield name, source and loader: the built-in first, so that nobody can take their names."""
    for name, module in BUILT_IN:
        yield name, "cchybrid", partial(import_module, module)
    found = sorted(
        entry_points(group=GROUP), key=lambda entry: (entry.value != "cchybrid_plugins", entry.name)
    )
    for entry in found:
        origin = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
        yield entry.name, origin, entry.load
    named = (text.strip() for text in os.environ.get(MODULES_VARIABLE, "").split(","))
    for module in filter(None, named):
        yield module, MODULES_VARIABLE, partial(import_module, module)


def _refuse_name(name: str, registry: Registry) -> None:
    for row in registry.plugins:
        if row.name == name:
            raise PluginError(f"another plugin is called {name} already, from {row.source}")


def _refuse_twin(plugin: Any, loaded: Iterable[tuple[str, Any]]) -> None:
    for name, other in loaded:
        if plugin is other:
            raise PluginError(f"is loaded already, as plugin {name}")


def _hooks(plugin: Any, name: str, troubles: list[str]) -> list[pluggy.HookCaller]:
    """Return the hooks that a plugin implements; one that is misspelt or unmarked is trouble.

    Every plugin has a manager of its own, which keeps apart what they do.
    """
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(HookSpecs)
    for attribute in dir(plugin):
        marks = manager.parse_hookimpl_opts(plugin, attribute)
        if marks is None:
            if attribute in _HOOKS:
                troubles.append(f"{attribute} is not marked with @hookimpl")
        elif (hook := marks.get("specname") or attribute) not in _HOOKS:
            close = difflib.get_close_matches(hook, _HOOKS, 1)
            mend = f"; did you mean {close[0]}?" if close else ""
            troubles.append(f"no hook is called {hook}{mend}")
    manager.register(plugin, name=name)
    hooks = [hook for hook in manager.get_hookcallers(plugin) or () if hook.name in _HOOKS]
    if not (hooks or troubles):
        raise PluginError("it implements no hook")
    return hooks


def _ask(
    hook: pluggy.HookCaller, name: str, registry: Registry, provides: list[str], troubles: list[str]
) -> None:
    """Call one hook of one plugin; a record that cannot be used does not cost the others."""
    try:
        answers = hook()
        if not answers:  # pluggy drops None
            raise PluginError("returned nothing")
        for record in chain.from_iterable(answers):
            try:
                provides.append(_add(record, hook.name, name, registry))
            except PluginError as error:
                troubles.append(_one_line(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        change = explain(error)
        troubles.append(change or f"{hook.name}: {_one_line(error)}")


def _add(record: Any, hook: str, name: str, registry: Registry) -> str:
    """Register what a hook of a plugin returned; return what it is called."""
    if hook == "cchybrid_observers":
        if not callable(record):
            raise PluginError(f"the observer {record!r:.60} cannot be called")
        registry.observers.append((name, record))
        return "observer"
    tables: dict[str, tuple[str, type[Any], dict[str, Any]]] = {
        "cchybrid_engines": ("engine", EngineInfo, registry.engines),
        "cchybrid_topologies": ("topology", TopologyInfo, registry.topologies),
        "cchybrid_collectives": ("collective", CollectiveInfo, registry.collectives),
        "cchybrid_bounds": ("bound", BoundInfo, registry.bounds),
        "cchybrid_exporters": ("exporter", ExporterInfo, registry.exporters),
    }
    kind, wanted, table = tables[hook]
    if not isinstance(record, wanted):
        found = type(record).__name__
        raise PluginError(f"the {kind} {record!r:.60} is of type {found}, not {wanted.__name__}")
    what = f"{kind} {record.name}"
    if record.api != API:
        raise PluginError(
            f"{what} is written for plugin interface {record.api}, this is {API} (docs/hooks.md)"
        )
    _check_fields(record, what)
    key = record.name.lower()
    if key in table:
        raise PluginError(f"{what} is already provided by plugin {registry.provider[kind, key]}")
    table[key] = _guarded(record, what, name)
    registry.provider[kind, key] = name
    return what


def _guarded(record: Any, what: str, name: str) -> Any:
    """Return the record with its function such that a failure is one line that names the plugin."""
    if type(record) not in _MAKES:
        return record
    attribute, wanted = _MAKES[type(record)]
    function = getattr(record, attribute)

    def call(*arguments: Any) -> Any:
        try:
            with contextlib.redirect_stdout(sys.stderr):  # ours may be JSON
                made = function(*arguments)
        except CchybridError:
            raise
        except (Exception, SystemExit) as error:
            raise PluginError(f"plugin {name}: {what} failed: {_one_line(error)}") from error
        if not isinstance(made, wanted):
            found = type(made).__name__
            raise PluginError(f"plugin {name}: {what} made a {found}, not a {wanted.__name__}")
        return made

    return replace(record, **{attribute: call})


def _check_fields(record: Any, what: str) -> None:
    """Refuse a record now that would break some command, anybody's, when it is looked at."""
    record_type: Any = type(record)
    for name, hint in _field_types(record_type):
        value = getattr(record, name)
        if get_origin(hint) is Literal:
            if value not in get_args(hint):
                known = ", ".join(get_args(hint))
                raise PluginError(f"{what}: the {name} {value!r:.60} is none of {known}")
        elif not (callable(value) if hint is Callable else isinstance(value, hint)):
            raise PluginError(f"{what}: the {name} {value!r:.60} is no {hint.__name__}")
    if not re.fullmatch(r"\S+", record.name):
        raise PluginError(f"{what}: its name is not one word")
    if not re.fullmatch(r"[\w.]+:\w+", getattr(record, "target", "a:b")):
        raise PluginError(f"{what}: the target {record.target!r} does not name module:object")
    try:
        re.compile(getattr(record, "pattern", ""))
    except re.error as error:
        raise PluginError(f"{what}: the pattern {record.pattern!r} is invalid: {error}") from None


@cache
def _field_types(record_type: type) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(record_type)
    names = (field.name for field in fields(record_type))
    return tuple((name, _plain(hints[name])) for name in names)


def _plain(hint: Any) -> Any:
    """Return what ``isinstance`` understands, and ``Literal`` as it is."""
    origin = get_origin(hint)
    return hint if origin in (None, Literal) else origin


def _find(table: dict[str, R], name: str, what: str, command: str) -> R:
    found = table.get(name.lower())
    if found is None:
        close = difflib.get_close_matches(name.lower(), list(table), 1)
        mend = f"did you mean {close[0]}?" if close else f"see: cchybrid {command}"
        raise InputError(f"no {what} is called {name}", mend=mend)
    return found


def _one_line(error: BaseException) -> str:
    if (change := explain(error)) is not None:
        return change
    text = " ".join(str(error).split()) or "no reason given"
    return text if isinstance(error, PluginError) else f"{type(error).__name__}: {text}"
