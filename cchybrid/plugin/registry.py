"""The registry: finds plugins, loads each separately, and stores their records by name."""

import difflib
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from importlib import import_module
from importlib.metadata import entry_points
from itertools import chain
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import pluggy

from cchybrid.checker import KINDS
from cchybrid.library.nearest import did_you_mean
from cchybrid.model import Collective, Instance, Network, Schedule
from cchybrid.model.errors import CchybridError, InputError, PluginError
from cchybrid.model.text import error_line, one_line
from cchybrid.plugin import records
from cchybrid.plugin.expressed import refuse_unexpressed
from cchybrid.plugin.hookspecs import HookSpecs
from cchybrid.plugin.imported import Imported, foreign_instance
from cchybrid.plugin.record_names import names_of, refuse_taken_names
from cchybrid.plugin.strategy import PROVER, Strategy
from cchybrid.system.output import output_to_stderr

GROUP = "cchybrid"
"""The entry-point group of plugins."""
MODULES_VARIABLE = "CCHYBRID_PLUGINS"
"""Environment variable with further modules to load as plugins, separated by commas."""

BUILT_IN = (("core", "cchybrid.plugin.builtin"), ("commands", "cchybrid.cli.commands"))
"""Plugins of cchybrid itself, by module name, as this package must not import ``view``."""

RESERVED_NAMES = {
    PROVER, "host", "reach", "all-parts", "composition", "partial-sums", "fewest-rounds", "start",
    "fewest-steps", *KINDS,
} - {"exchanges", "nested-sets"}  # fmt: skip
"""Names of cchybrid's own searches, and of the evidence by which its prover is named, but for those
of bound providers: no engine, designer, strategy or other bound provider may have them."""

_HOOKS = [name for name in vars(HookSpecs) if name.startswith(f"{GROUP}_")]

_MAKES: dict[type, tuple[str, type]] = {
    records.TopologyInfo: ("build", Network),
    records.CollectiveInfo: ("build", Collective),
    records.ExporterInfo: ("export", str),
    records.ImporterInfo: ("read", Imported),
}
"""The function of each type of record, and the type that it returns."""

R = TypeVar("R")
Candidate = tuple[str, str, Callable[[], Any]]
"""Name, source and loader of a plugin."""


@dataclass(frozen=True)
class PluginRow:
    """One plugin for ``cchybrid plugins``: its source, its records and its errors."""

    name: str
    source: str
    trouble: str = ""
    provides: tuple[str, ...] = ()


@dataclass
class Registry:
    """The records of all plugins; a broken plugin only adds a line to ``warnings``."""

    engines: dict[str, records.EngineInfo] = field(default_factory=dict)
    topologies: dict[str, records.TopologyInfo] = field(default_factory=dict)
    collectives: dict[str, records.CollectiveInfo] = field(default_factory=dict)
    bounds: dict[str, records.BoundInfo] = field(default_factory=dict)
    exporters: dict[str, records.ExporterInfo] = field(default_factory=dict)
    importers: dict[str, records.ImporterInfo] = field(default_factory=dict)
    strategies: dict[str, records.StrategyInfo] = field(default_factory=dict)
    designers: dict[str, records.DesignerInfo] = field(default_factory=dict)
    cost_terms: dict[str, records.CostTermInfo] = field(default_factory=dict)
    executors: dict[str, records.ExecutorInfo] = field(default_factory=dict)
    commands: dict[str, records.CommandInfo] = field(default_factory=dict)
    checks: dict[str, records.CheckInfo] = field(default_factory=dict)
    names: dict[str, records.NameInfo] = field(default_factory=dict)
    benchmarks: dict[str, records.BenchmarkKind] = field(default_factory=dict)
    proof_formats: dict[str, records.ProofFormatInfo] = field(default_factory=dict)
    observers: list[tuple[str, records.Observer]] = field(default_factory=list)
    plugins: list[PluginRow] = field(default_factory=list)
    provider: dict[tuple[str, str], str] = field(default_factory=dict)
    _reported: set[str] = field(default_factory=set)
    """Former names of engines that the user has been referred to the present name for."""

    @property
    def warnings(self) -> list[str]:
        """One line per plugin with an error."""
        return [f"plugin {row.name}: {row.trouble}" for row in self.plugins if row.trouble]

    @property
    def bound_providers(self) -> list[records.BoundInfo]:
        """The bound providers in the order in which they are asked."""
        return sorted(self.bounds.values(), key=lambda info: info.order)

    def engine(self, name: str) -> records.EngineInfo:
        """Return an engine by its present or a former name, in any case.

        Raises
        ------
        InputError
            No engine has this name; with a suggestion.
        """
        current = self.current_name(name)
        if current.lower() not in self.engines and re.search(r"->|[+,]", name):
            hint = "name each by an --engine of its own, and add --strategy relay"
            raise InputError(f"no engine is called {name}", hint=hint)
        return _find(self.engines, current, "engine", "see: cchybrid engines")

    def current_name(self, name: str) -> str:
        """Return the present name of an engine or strategy, given in any case; other texts as is.

        The first use of each former name prints one line on standard error.
        """
        former = name.lower()
        if known := self.engines.get(former) or self.strategies.get(former):
            return known.name
        for info in self.engines.values():
            if former in map(str.lower, info.former_names):
                if former not in self._reported:
                    self._reported.add(former)
                    print(f"cchybrid: engine {former} is now {info.name}", file=sys.stderr)
                return info.name
        return name

    def strategy(self, name: str) -> records.StrategyInfo:
        """Return a strategy by name (in any case); a ``CchybridError``: it cannot be used."""
        info = _find(self.strategies, name, "strategy", f"use {', '.join(self.strategies)}")
        self.load("strategy", info, Strategy)
        return info

    def designer(self, name: str) -> records.DesignerInfo:
        """Return a designer by name (in any case), or raise an ``InputError``."""
        return _find(self.designers, name, "designer", "see: cchybrid designers")

    def executor(self, name: str) -> records.ExecutorInfo:
        """Return an executor by name (in any case), or raise an ``InputError``."""
        return _find(self.executors, name, "executor", "see: cchybrid plugins")

    def exporter(self, name: str) -> records.ExporterInfo:
        """Return an exporter by name (in any case), or raise an ``InputError``."""
        return _find(self.exporters, name, "export format", "see: cchybrid plugins")

    def importer(self, name: str) -> records.ImporterInfo:
        """Return an importer by name (in any case), or raise an ``InputError``."""
        return _find(self.importers, name, "import format", "see: cchybrid plugins")

    def foreign_instance(self, text: str, name: str) -> Instance:
        """Return the instance of a file of another tool, or raise a ``CchybridError``."""
        return foreign_instance(self.importers, text, name)

    def benchmark(self, name: str) -> Any:
        """Import a kind of benchmarks by name, and return the ``Benchmark``.

        Raises
        ------
        CchybridError
            There is none, or it cannot be imported.
        """
        info = _find(self.benchmarks, name, "kind of benchmarks", "see: cchybrid plugins")
        return self.load("benchmark", info)(info)

    def load(self, kind: str, info: Any, expected: type = object) -> Any:
        """Import the target of a record; an error names its plugin."""
        try:
            if isinstance(found := records.load_target(info.target), expected):
                return found
            raise PluginError(f"its target is no {expected.__name__}")
        except Exception as error:
            by = self.provider[kind, info.name.lower()]
            raise PluginError(f"plugin {by}: {kind} {info.name}: {_one_line(error)}") from error


def load_registry() -> Registry:
    """Return the built-in and all installed plugins, loaded once per process."""
    return loaded_with(os.environ.get(MODULES_VARIABLE, ""))


@cache
def loaded_with(modules: str) -> Registry:
    """Load every plugin separately; an error is recorded under its name, the others are loaded."""
    registry, loaded = Registry(), list[tuple[str, Any]]()
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(HookSpecs)
    # Output of a plugin must not mix with a command's JSON.
    with output_to_stderr():
        waiting = deque(_candidates(modules))
        while waiting:
            name, source, load = waiting.popleft()
            provides: list[str] = []
            troubles: list[str] = []
            try:
                _check_name(name, registry)
                plugin = load()
                _check_not_loaded(plugin, loaded)
                loaded.append((name, plugin))
                for hook in _hooks(plugin, name, manager, troubles):
                    if hook.name == "cchybrid_plugins":
                        further = _further(hook, name, source)
                        provides += [f"plugin {other}" for other, *_ in further]
                        waiting.extendleft(reversed(further))
                    else:
                        _call_hook(hook, name, registry, provides, troubles)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # SystemExit and panics of extension modules, too
                troubles.append(_one_line(error))
            trouble = "; ".join(map(one_line, troubles))
            row = PluginRow(one_line(name), one_line(source), trouble, tuple(provides))
            registry.plugins.append(row)
    own = {row.name for row in registry.plugins if row.source.partition(" ")[0] == GROUP}
    for key, info in registry.engines.items():
        external = registry.provider["engine", key] not in own
        registry.engines[key] = replace(info, external=external)
    return registry


def _candidates(modules: str) -> Iterator[Candidate]:
    """Yield name, source and loader, built-in plugins first, so that they keep their names."""
    for name, module in BUILT_IN:
        yield name, "cchybrid", partial(import_module, module)
    found = sorted(
        entry_points(group=GROUP), key=lambda entry: (entry.value != "cchybrid_plugins", entry.name)
    )
    for entry in found:
        origin = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
        yield entry.name, origin, entry.load
    for module in filter(None, map(str.strip, modules.split(","))):
        yield module, MODULES_VARIABLE, partial(import_module, module)


def _further(hook: pluggy.HookCaller, name: str, source: str) -> list[Candidate]:
    """Return the plugins that a plugin names."""
    modules = list(chain.from_iterable(hook()))
    for module in modules:
        if not isinstance(module, str):
            raise PluginError(f"{hook.name}: {module!r:.60} is no name of a module")
    return [
        (f"{name}.{module.rpartition('.')[2]}", source, partial(import_module, module))
        for module in modules
    ]


def _check_name(name: str, registry: Registry) -> None:
    for row in registry.plugins:
        if row.name == name:
            raise PluginError(f"another plugin is called {name} already, from {row.source}")


def _check_not_loaded(plugin: Any, loaded: Iterable[tuple[str, Any]]) -> None:
    for name, other in loaded:
        if plugin is other:
            raise PluginError(f"is loaded already, as plugin {name}")


def _hooks(
    plugin: Any, name: str, manager: pluggy.PluginManager, troubles: list[str]
) -> list[pluggy.HookCaller]:
    """Return the hooks that a plugin implements; add misspelt or unmarked ones to ``troubles``."""
    for attribute in dir(plugin):
        marks = manager.parse_hookimpl_opts(plugin, attribute)
        if marks is None:
            if attribute in _HOOKS:
                troubles.append(f"{attribute} is not marked with @hookimpl")
        elif (hook := marks.get("specname") or attribute) not in _HOOKS:
            close = difflib.get_close_matches(hook, _HOOKS, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            troubles.append(f"no hook is called {hook}{hint}")
    for _, other in manager.list_name_plugin():  # a hook calls one plugin alone
        manager.unregister(other)
    manager.register(plugin, name=name)
    hooks = [hook for hook in manager.get_hookcallers(plugin) or () if hook.name in _HOOKS]
    if not (hooks or troubles):
        raise PluginError("it implements no hook")
    return hooks


def _call_hook(
    hook: pluggy.HookCaller, name: str, registry: Registry, provides: list[str], troubles: list[str]
) -> None:
    """Call one hook of one plugin and register its records; wrong ones are skipped."""
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
        troubles.append(f"{hook.name}: {_one_line(error)}")


def _add(record: Any, hook: str, name: str, registry: Registry) -> str:
    """Register a record of a plugin; return its kind and name."""
    if hook == "cchybrid_observers":
        if not callable(record):
            raise PluginError(f"the observer {record!r:.60} cannot be called")
        registry.observers.append((name, record))
        return "observer"
    name_of_table = hook.removeprefix(f"{GROUP}_")
    kind, table = _kind(name_of_table), getattr(registry, name_of_table)
    expected = _record_type(hook)
    if not isinstance(record, expected):
        found = type(record).__name__
        raise PluginError(f"the {kind} {record!r:.60} is of type {found}, not {expected.__name__}")
    what = f"{kind} {record.name}"
    if record.api != records.API:
        which = f"interface {record.api}, this is {records.API}"
        raise PluginError(f"{what} is written for plugin {which} (docs/hooks.md)")
    _check_fields(record, what)
    key = record.name.lower()
    refuse_taken_names(record, kind, table, registry.provider)
    _check_owner(record, what, registry)
    if isinstance(record, records.BenchmarkKind):
        _check_keys(record, what, registry)
    table[key] = _with_error_text(record, what, name)
    registry.provider[kind, key] = name
    return what


@cache
def _record_type(hook: str) -> type[Any]:
    """Return the type of the records that a hook returns."""
    [found] = get_args(get_type_hints(getattr(HookSpecs, hook))["return"])
    return found  # type: ignore[no-any-return]


def _kind(table: str) -> str:
    """Return the words for a record of a table, such as ``cost term`` for ``cost_terms``."""
    stem = f"{table[:-3]}y" if table.endswith("ies") else table.removesuffix("s")
    return stem.replace("_", " ")


def _check_owner(record: Any, what: str, registry: Registry) -> None:
    """Refuse a name, present or former, by which options or results name another owner."""
    engines, strategies, bounds = registry.engines, registry.strategies, registry.bounds
    others: dict[type, tuple[Mapping[str, Any], ...]] = {
        records.EngineInfo: (strategies, bounds),
        records.StrategyInfo: (engines,), records.BoundInfo: (engines,), records.DesignerInfo: (),
    }  # fmt: skip
    if (tables := others.get(type(record))) is None:
        return
    taken = RESERVED_NAMES.union(*(names_of(each) for table in tables for each in table.values()))
    if both := taken & {*names_of(record)}:
        raise PluginError(f"{what}: {min(both)} is the name of a part of cchybrid")


def _check_keys(kind: records.BenchmarkKind, what: str, registry: Registry) -> None:
    for other in registry.benchmarks.values():
        taken = {*other.table_keys} & {*kind.table_keys} or {other.row_key} & {kind.row_key}
        if taken:
            raise PluginError(f"{what}: its key {min(taken)} is that of benchmark {other.name}")


def _with_error_text(record: Any, what: str, name: str) -> Any:
    """Return the record with a function whose errors name the plugin in one line."""
    if type(record) not in _MAKES:
        return record
    attribute, expected = _MAKES[type(record)]
    function = getattr(record, attribute)

    def call(*arguments: Any) -> Any:
        try:
            if isinstance(record, records.ExporterInfo) and isinstance(arguments[0], Schedule):
                refuse_unexpressed(arguments[0], record.name, record.expresses)
            with output_to_stderr():  # standard output may be JSON
                made = function(*arguments)
                if isinstance(made, str):
                    made.encode()  # raises for lone surrogates, which no file can hold
        except CchybridError:
            raise
        except (Exception, SystemExit) as error:
            raise PluginError(f"plugin {name}: {what} failed: {_one_line(error)}") from error
        if type(made) is not expected:  # what a subclass adds, neither files nor checkers know
            found = type(made).__name__
            raise PluginError(f"plugin {name}: {what} made a {found}, not a {expected.__name__}")
        return made

    return replace(record, **{attribute: call})


def _check_fields(record: Any, what: str) -> None:
    """Raise a ``PluginError`` if a field of a record has the wrong type or form."""
    record_type: Any = type(record)
    for name, hint in _field_types(record_type):
        value = getattr(record, name)
        if get_origin(hint) is Literal:
            if value not in get_args(hint):
                known = ", ".join(get_args(hint))
                raise PluginError(f"{what}: the {name} {value!r:.60} is none of {known}")
        elif not (callable(value) if hint is Callable else isinstance(value, hint)):
            raise PluginError(f"{what}: the {name} {value!r:.60} is no {hint.__name__}")
        # The texts of the field, which is one itself or a tuple of texts.
        for text in (value,) if isinstance(value, str) else value if hint is tuple else ():
            if not (isinstance(text, str) and text.isprintable()):
                raise PluginError(f"{what}: its {name} {text!r:.60} is not one printable line")
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
    """Return a type for ``isinstance``; ``Literal`` is unchanged."""
    origin = get_origin(hint)
    return hint if origin in (None, Literal) else origin


def _find(table: dict[str, R], name: str, what: str, otherwise: str) -> R:
    found = table.get(name.lower())
    if found is None:
        hint = did_you_mean(name, table, otherwise)
        raise InputError(f"no {what} is called {name}", hint=hint)
    return found


def _one_line(error: BaseException) -> str:
    return one_line(str(error)) if isinstance(error, PluginError) else error_line(error)
