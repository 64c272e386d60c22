"""A layer imports only what stands before it, plugins only their surface; no files in a circle."""

import ast
import re
import sys
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]

ORDER = """
system model checker design_checker referee library problem proof plugin toolkit
host view cli __main__
"""
LAYERS = tuple(ORDER.split())
"""From the bottom of the house to the top."""

SURFACE = {"model", "problem", "plugin", "toolkit"}
"""The layers that engines and designers may import."""

FEATURES = {"bench", "cluster", "design", "drawing", "exchange", "execution", "pipelining"}
"""Folders of plugins that may import all of the core."""

OF_DESIGN = {"network", "benchmark"}
"""The folders of ``design`` that are no designers."""

NAMED_ABOVE = {
    "cchybrid.model.shown": "cchybrid.view",
    "cchybrid.plugin.builtin": "cchybrid.host.local_executor",
    "cchybrid.plugin.registry": "cchybrid.cli.commands cchybrid_plugins",
}
"""Names above the layer of a file: a prefix, methods that show, plugins to be registered."""

STARTED_BY_NAME = {"cchybrid.cli.commands"}
"""Files whose strings are no needs: commands are imported by name when they are called."""


SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    .removesuffix(".__init__")
    .replace("plugins", "cchybrid_plugins", 1 if path.is_relative_to(ROOT / "plugins") else 0): path
    for folder in ("cchybrid", "plugins")
    for path in sorted((ROOT / folder).rglob("*.py"))
}
"""The file of every module."""


@cache
def graph() -> grimp.ImportGraph:
    """Return all imports; a second of work, which is only for the process that needs them."""
    packages = ("cchybrid", "cchybrid_plugins")
    return grimp.build_graph(*packages, include_external_packages=True, cache_dir=None)


def named_modules(source: str) -> set[str]:
    """Return the modules of cchybrid and its plugins that a source text names as strings."""
    found = (
        re.fullmatch(r"(cchybrid(?:_plugins)?(?:\.\w+)*)\.?(?::\w+)?", node.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return {nearest(each[1]) for each in found if each is not None}


def nearest(name: str) -> str:
    """Return the module that has a name: itself, or the innermost of its packages."""
    while name and name not in SOURCES:
        name = name.rpartition(".")[0]
    return name


def imports(module: str) -> set[str]:
    """Return what a module imports."""
    return graph().find_modules_directly_imported_by(module)


@cache
def names(module: str) -> set[str]:
    """Return the modules that a module names as strings."""
    return named_modules(SOURCES[module].read_text())


def unit_of(module: str) -> list[str]:
    """Return the parts of the name of the plugin to which a module of ``plugins`` belongs."""
    parts = module.split(".")[1:]
    is_designer = parts[:1] == ["design"] and is_folder(parts[:2]) and parts[1] not in OF_DESIGN
    return parts[:2] if parts[:1] == ["engines"] or is_designer else parts[:1]


def is_folder(parts: list[str]) -> bool:
    """Return whether a part of ``plugins`` below another one is a folder."""
    return len(parts) == 2 and (ROOT / "plugins" / Path(*parts)).is_dir()


def is_feature(module: str) -> bool:
    """Return whether a module belongs to a feature, and to no engine or designer."""
    return module.startswith("cchybrid_plugins.") and unit_of(module) in [
        [each] for each in FEATURES
    ]


def layer_of(module: str) -> str:
    """Return the layer of a module of ``cchybrid``; of the package itself an empty name."""
    return (*module.split("."), "")[1]


def is_wrong(importer: str, imported: str) -> bool:
    """Return whether a module must not need another one of the project."""
    own, *parts = importer.split(".")
    if own == "cchybrid_plugins":
        if imported.startswith("cchybrid_plugins"):
            shared = [["design"]] if parts[:1] == ["design"] else []
            return parts != [] and unit_of(imported) not in (unit_of(importer), *shared)
        return layer_of(imported) not in ((*LAYERS, "") if is_feature(importer) else SURFACE)
    if imported == "cchybrid":  # conformance suites run plugins as users do
        return ".conformance." not in importer
    below = LAYERS[: LAYERS.index(parts[0]) + 1]
    return not imported.startswith("cchybrid.") or layer_of(imported) not in below


def needs(module: str) -> set[str]:
    """Return the modules of the project that a module imports, or names but for those it may."""
    named = names(module) - {"cchybrid"} - set(NAMED_ABOVE.get(module, "").split())
    return {*imports(module), *named} & set(SOURCES)


def circle(needed: dict[str, set[str]]) -> list[str]:
    """Return modules of which each needs the one before it, the first also at the end; or none."""
    try:
        TopologicalSorter(needed).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def uses_of_origin(source: str) -> list[str]:
    """Return the names and strings of a source text by which it reaches a Problem's origin."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.keyword(arg=str(name)):
                found.append(name)
            case ast.alias(name=name) | ast.Constant(value=str(name)):
                found += name.split(".")
            case ast.MatchClass(kwd_attrs=names):
                found += names
    return [name for name in found if name in ("origin", "InstanceOrigin")]


def test_every_part_has_its_layer():
    assert {layer_of(module) for module in SOURCES if module.startswith("cchybrid.")} == set(LAYERS)


def test_modules_need_only_what_they_may():
    assert [
        f"{module} needs {other}"
        for module in SOURCES
        if module not in ("cchybrid", "cchybrid_plugins")
        for other in needs(module)
        if is_wrong(module, other)
    ] == []


@pytest.mark.parametrize(
    "words",
    [
        "cchybrid.model.network cchybrid.host.api", "cchybrid.model.network cchybrid",
        "cchybrid.toolkit.packing cchybrid_plugins.engines.tabu",
        "cchybrid.host.api cchybrid_plugins",
        "cchybrid_plugins.engines.umda.engine cchybrid_plugins.engines.tabu.engine",
        "cchybrid_plugins.engines.umda.engine cchybrid.host.api",
        "cchybrid_plugins.execution.mpi cchybrid_plugins.engines.umda",
        "cchybrid_plugins.bench.cli cchybrid_plugins.design",
        "cchybrid_plugins.design.gappin.engine cchybrid_plugins.design.symmetric.engine",
        "cchybrid_plugins.design.gappin.engine cchybrid.host.api",
        "cchybrid_plugins.design.api cchybrid_plugins.design.gappin.engine",
        "cchybrid_plugins.engines.umda.engine cchybrid",
    ],
)  # fmt: skip
def test_a_wrong_need_is_found(words):
    assert is_wrong(*words.split())
    assert not is_wrong(words.split()[0], "cchybrid.model.network")


def test_names_in_strings_are_needs():
    assert named_modules("target = 'cchybrid.host.api:solve'") == {"cchybrid.host.api"}
    assert named_modules("import_module(f'cchybrid.view.{name}')") == {"cchybrid.view"}
    assert named_modules("'cchybrid_plugins.engines.tabu.engine:Tabu'") == {
        "cchybrid_plugins.engines.tabu.engine"
    }
    assert named_modules("'cchybrid finds plugins'\n'origin of things'") == set()


def test_engines_see_the_structure_of_a_problem_not_its_origin():
    for module, path in SOURCES.items():
        seen = module.startswith(("cchybrid_plugins.", "cchybrid.toolkit"))
        # Exchange calls the source of a message its origin.
        if seen and not module.startswith("cchybrid_plugins.exchange."):
            assert uses_of_origin(path.read_text()) == [], module


@pytest.mark.parametrize(
    "source",
    [
        "problem.origin.instance", "getattr(problem, 'origin')",
        "attrgetter('origin.instance')(problem)", "from cchybrid.problem import origin as o",
        "from cchybrid.problem.origin import InstanceOrigin as I",
        "import cchybrid.problem.origin as o", "match problem:\n    case Problem(origin=o): pass",
        "replace(problem, origin=None)",
    ],
)  # fmt: skip
def test_a_use_of_the_origin_is_found(source):
    assert uses_of_origin(source)


def test_only_the_registry_touches_pluggy():
    touching = {"cchybrid.plugin.hookspecs", "cchybrid.plugin.registry"}
    assert graph().find_modules_that_directly_import("pluggy") == touching


def test_the_base_needs_the_standard_library_only_and_the_checkers_share_no_code():
    for module in SOURCES:
        if (layer := layer_of(module)) in ("model", "checker", "design_checker"):
            foreign = {name for name in imports(module) if not name.startswith("cchybrid")}
            # Only the flat arrays of large schedules need numpy, and load it when one is made.
            foreign -= {"numpy"} if module == "cchybrid.model.steps" else set()
            assert foreign <= sys.stdlib_module_names, module
            allowed = {"checker": {"checker"}, "design_checker": {"checker", "design_checker"}}
            used = {layer_of(name) for name in needs(module)}
            assert layer == "model" or used <= allowed[layer], module


def test_no_files_need_each_other():
    needed = {
        module: imports(module)
        | (set() if module in STARTED_BY_NAME else names(module) - {"cchybrid"}) - {module}
        for module in SOURCES
    }
    assert circle(needed) == []
    assert circle({**needed, "cchybrid.model.network": {"cchybrid.host.api"}})


def test_no_file_is_too_long_to_read_in_one_sitting():
    for module, path in SOURCES.items():
        assert len(path.read_text().splitlines()) <= 450, module


def test_every_package_is_installed():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for folder in ("cchybrid", "plugins")
        for path in (ROOT / folder).rglob("__init__.py")
    }
    listed = settings["tool"]["setuptools"]["packages"]
    assert packages <= {name.replace("cchybrid_plugins", "plugins") for name in listed}


CHECKING = {
    "cchybrid.checker": {"EvidenceError", "Network"},
    "cchybrid.checker.kinds": {"shown_steps"},
    "cchybrid.checker.linear": {"linear_rounds"},
    "cchybrid.checker.certificate": {"ANY_ROUTING", "own_scope", "prove"},
    "cchybrid.checker.throughput": {"FORMAT"},
    "cchybrid.checker.instance": {"EvidenceError", "Network", "TooLargeError"},
    "cchybrid.checker.reach": {"out_of_reach"},
    "cchybrid.checker.clauses": {"Formula"},
}  # fmt: skip
"""Finders of bounds use the checker only to read an instance and to have evidence checked.

``Formula`` is the one exception: a propositional proof names these very clauses by number, so a
finder's own would copy a hundred lines; ``tests/checker/test_clauses_hold.py`` shows that valid
schedules satisfy them.
"""


def test_finders_have_their_own_rows():
    """Else a wrong row would be found and accepted."""
    allowed = {*CHECKING, *(f"{module}.{name}" for module in CHECKING for name in CHECKING[module])}
    for module, path in SOURCES.items():
        if "proof" in module.split("."):
            assert not {name for name in imports(module) if "checker" in name} - set(CHECKING)
            used = {
                f"{node.module}.{alias.name}"
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.ImportFrom) and (node.module or "") in CHECKING
                for alias in node.names
            }
            assert used <= allowed, module
