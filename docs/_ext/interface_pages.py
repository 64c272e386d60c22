"""The pages of the Python and the plugin interface: what autodoc is to document."""

from __future__ import annotations

import inspect
from pkgutil import resolve_name
from typing import Any

import cchybrid
import cchybrid.plugin
from cchybrid.plugin.hookspecs import HookSpecs
from cchybrid.plugin.registry import load_registry

FURTHER = {
    "cchybrid.plugin.imported": ("OwnBound",),
    "cchybrid.plugin.strategy": ("Strategy", "Phase", "Arm", "History"),
    "cchybrid.plugin.benchmark": (
        "Benchmark", "BenchmarkRow", "StoredRun", "Checked", "CheckedSuite",
    ),
    "cchybrid.plugin.benchmark_report": ("Report", "Section"),
    "cchybrid.problem": (
        "Problem", "Assignment", "AssignmentViolation", "NetworkStructure", "extend", "list_hops",
        "list_transfers",
    ),
    "cchybrid.plugin.conformance": (
        "LocalRun", "check_engine", "conformance_cases", "conformance_instances",
    ),
}  # fmt: skip
"""The names that authors of plugins use beside ``cchybrid.plugin``."""


def python_page() -> str:
    """Return the page of the public names of ``cchybrid``."""
    groups: dict[str, list[str]] = {"Functions": [], "Classes": [], "Errors": [], "Modules": []}
    registered = (info.name for info in load_registry().names.values())
    for name in sorted({*cchybrid.__all__, *registered}, key=str.lower):
        groups[_group(getattr(cchybrid, name))].append(name)
    text = ["# The Python interface", "```python\nimport cchybrid\n```"]
    for title, names in groups.items():
        if names:
            text += [f"## {title}", *(_documented("cchybrid", name) for name in names)]
    return "\n\n".join(text)


def plugin_page() -> str:
    """Return the page of the interface for plugins: hooks, records, engines, tests."""
    text = [
        "# The plugin interface",
        "[Plugins](../hooks.md) has an example of every hook; here are signatures and fields.",
        "## Hooks",
    ]
    hooks = sorted(name for name in vars(HookSpecs) if name.startswith("cchybrid_"))
    text += [_directive("automethod", f"cchybrid.plugin.hookspecs.HookSpecs.{h}") for h in hooks]
    text.append("## Records, engines and runs")
    names = sorted(set(cchybrid.plugin.__all__) - {"API", "hookimpl", "Observer"}, key=str.lower)
    text += [_documented("cchybrid.plugin", name) for name in names]
    text.append("## Strategies, benchmarks, Problems, and tests of an engine")
    for module, inner in FURTHER.items():
        text += [_documented(module, name) for name in inner]
    text += ["## Toolkit", _directive("automodule", "cchybrid.toolkit")]
    return "\n\n".join(text)


def _group(value: Any) -> str:
    if inspect.ismodule(value):
        return "Modules"
    if not inspect.isclass(value):
        return "Functions"
    return "Errors" if issubclass(value, Exception) else "Classes"


def _documented(module: str, name: str) -> str:
    """Return the directive for a public name, with the methods of a class."""
    path = f"{module}.{name}"
    value = resolve_name(path)
    if inspect.ismodule(value):
        inner = [_documented(path, each) for each in value.__all__]
        return "\n\n".join([f"### {path}", _directive("automodule", value.__name__), *inner])
    if not inspect.isclass(value):
        return _directive("autofunction", path)
    if issubclass(value, Exception):
        return _directive("autoexception", path)
    # The fields of a named tuple have no description beyond that of the class.
    if issubclass(value, tuple):
        return _directive("autoclass", path)
    bases = ":inherited-members: object, str, Enum, Protocol, ABC"
    return _directive("autoclass", path, ":members:", bases)


def _directive(kind: str, path: str, *options: str) -> str:
    lines = [f".. {kind}:: {path}", *(f"   {option}" for option in options)]
    return "\n".join(["```{eval-rst}", *lines, "```"])
