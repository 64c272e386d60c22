"""A layer imports only what stands above it, plugins only their surface; no files in a circle."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import cchybrid

ROOT = Path(__file__).parents[1]

LAYERS = (
    "system",
    "model",
    "checker",
    "design_checker",
    "referee",
    "library",
    "problem",
    "proof",
    "plugin",
    "toolkit",
    "network_design",
    "host",
    "exchange",
    "run",
    "view",
    "bench",
    "cli",
    "__main__",
)
"""From the bottom of the house to the top."""

PLUGIN_SURFACE = {"model", "problem", "plugin", "toolkit", "network_design"}

STANDARD_LIBRARY_ONLY = ("model", "checker", "design_checker")

NAMED_ABOVE = {
    "host/session.py": {"cchybrid."},
    "model/shown.py": {"cchybrid.view."},
    "plugin/builtin.py": {"cchybrid.host.cluster.local", "cchybrid.host.cluster.dask_executor"},
    "plugin/registry.py": {
        "cchybrid.cli.commands",
        "cchybrid.exchange.exporter_plugin",
        "cchybrid.exchange.importer_plugin",
        "cchybrid.run.plugin",
        "cchybrid.view.export",
        "cchybrid_plugins",
    },
}
"""Names above the layer of a file: a prefix, methods that show, plugins to be registered."""

STARTED_BY_NAME = {"cchybrid.cli.commands", "cchybrid.host.cluster.race"}
"""Files whose strings are no needs: commands are called by name, a race starts jobs, its runs."""


def sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def imports(source: str, package: str) -> Iterator[str]:
    """Yield every module or name in one that a source text imports, or reaches by its package.

    Parameters
    ----------
    package
        The package of the file, for relative imports.
    """
    tree = ast.parse(source)
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
                top = alias.name.partition(".")[0]
                bound[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            outer = package.split(".")[: 1 - node.level or None] if node.level else []
            base = ".".join([*outer, *([node.module] if node.module else [])])
            for alias in node.names:
                yield f"{base}.{alias.name}"
                bound[alias.asname or alias.name] = f"{base}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name, _, inner = ast.unparse(node).partition(".")
            if name in bound:
                yield f"{bound[name]}.{inner}"


def named_modules(source: str) -> Iterator[str]:
    """Yield the modules of cchybrid and its plugins that a source text names as strings."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = re.fullmatch(r"(cchybrid(_plugins)?(\.[\w.]*)?)(:\w+)?", node.value)
            if found is not None:
                yield found[1]


def layer_of(module: str) -> str | None:
    """Return the layer of a module; a name that cchybrid exports has that of its module."""
    top, *inner = module.split(".")
    if top != "cchybrid" or not inner:
        return None
    if inner[0] in cchybrid.__all__:
        return cchybrid._LATER.get(inner[0], "cchybrid.model").split(".")[1]
    return inner[0]


def layer_of_file(path: Path) -> str:
    return path.relative_to(ROOT / "cchybrid").parts[0].removesuffix(".py")


def package_of(path: Path) -> str:
    """Return the package of a file: the one that it is in, or that it makes."""
    name = ".".join(path.relative_to(ROOT).parent.parts)
    return re.sub(r"^plugins\b", "cchybrid_plugins", name)


def imports_of(path: Path) -> set[str]:
    return set(imports(path.read_text(), package_of(path)))


def module_of(path: Path) -> str:
    """Return the module that a file is."""
    package = package_of(path)
    return package if path.stem == "__init__" else f"{package}.{path.stem}"


def circle(texts: Mapping[Path, str]) -> list[str]:
    """Return modules of which each needs the one before it, the first also at the end; or none.

    Parameters
    ----------
    texts
        The source texts of files. Imports count anywhere in them, also for types alone.
    """
    modules = {module_of(path) for path in texts}
    needs: dict[str, set[str]] = {}
    for path, text in texts.items():
        own = module_of(path)
        found = set(imports(text, package_of(path)))
        if own not in STARTED_BY_NAME:
            found |= set(named_modules(text)) - {"cchybrid", "cchybrid."}  # the project
        needs[own] = {file for file in map(partial(nearest, modules), found) if file != own}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def nearest(modules: Collection[str], name: str) -> str:
    """Return the module that has a name: itself, or the innermost of its packages."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name


def wrong_in_core(source: str, package: str, named: Collection[str] = ()) -> list[str]:
    """Return what a file of ``cchybrid`` must not import or name: plugins and layers above.

    Parameters
    ----------
    named
        What it may name.
    """
    below = LAYERS[: LAYERS.index(package.split(".")[1]) + 1]
    return [
        module
        for module in (*imports(source, package), *set(named_modules(source)).difference(named))
        if layer_of(module) not in (None, *below) or module.split(".")[0] == "cchybrid_plugins"
    ]


def wrong_in_plugin(source: str, package: str) -> list[str]:
    """Return what a plugin must not import or name: other plugins, all but the public surface."""
    own = package.split(".")[:2]
    return [
        module
        for module in (*imports(source, package), *named_modules(source))
        if layer_of(module) not in (None, *PLUGIN_SURFACE)
        or (module.split(".")[0] == "cchybrid_plugins" and module.split(".")[:2] != own)
    ]


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


CORE = [
    path
    for path in sources(ROOT / "cchybrid")
    if path.name != "__init__.py" or path.parent.name != "cchybrid"
]
PLUGINS = sources(ROOT / "plugins")[1:]
"""All but ``plugins/__init__.py``, which registers the engines by the names of their modules."""


def test_every_part_has_its_layer() -> None:
    assert {layer_of_file(path) for path in CORE} == set(LAYERS)


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_upwards(path: Path) -> None:
    package = (
        f"cchybrid.{layer_of_file(path)}" if path.parent.name == "cchybrid" else package_of(path)
    )
    named = NAMED_ABOVE.get(path.relative_to(ROOT / "cchybrid").as_posix(), ())
    wrong = wrong_in_core(path.read_text(), package, named)
    if path.parent.name == "conformance":  # runs plugins as users do, by the whole of cchybrid
        wrong = [module for module in wrong if module not in ("cchybrid.solve", "cchybrid.design")]
    assert wrong == []


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("cchybrid.model", "from cchybrid.host import api"),
        ("cchybrid.model", "from cchybrid import host"),
        ("cchybrid.model", "from ..host import api"),
        ("cchybrid.model", "from .. import host"),
        ("cchybrid.library.topologies", "from ...host.api import solve"),
        ("cchybrid.model", "import cchybrid as cc\ncc.host"),
        ("cchybrid.model", "import cchybrid.model\ncchybrid.host.api.solve()"),
        ("cchybrid.model", "import cchybrid\ncchybrid.solve()"),
        ("cchybrid.model", "from cchybrid import solve"),
        ("cchybrid.model", "def f():\n    import cchybrid_plugins.tabu"),
        ("cchybrid.toolkit", "import cchybrid_plugins.tabu"),
        ("cchybrid.host", "from cchybrid_plugins import tabu"),
        ("cchybrid.model", "import_module('cchybrid.host.api')"),
        ("cchybrid.model", "import_module(f'cchybrid.view.{name}')"),
        ("cchybrid.plugin", "target = 'cchybrid.host.cluster.local:LocalExecutor'"),
        ("cchybrid.toolkit", "target = 'cchybrid_plugins.tabu.engine:Tabu'"),
    ],
)
def test_a_wrong_import_of_the_core_is_found(package: str, source: str) -> None:
    assert wrong_in_core(source, package)


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("cchybrid.model", "from .instance import Instance\nfrom . import network\nimport math"),
        ("cchybrid.library.topologies", "from ..collectives import ALLREDUCE\nfrom .mesh import x"),
        ("cchybrid.host", "import cchybrid as cc\ncc.model.Network\ncc.Network"),
    ],
)
def test_a_right_import_of_the_core_is_allowed(package: str, source: str) -> None:
    assert wrong_in_core(source, package) == []


@pytest.mark.parametrize("path", PLUGINS, ids=lambda path: str(path.relative_to(ROOT)))
def test_plugins_use_the_public_surface_and_no_other_plugin(path: Path) -> None:
    assert wrong_in_plugin(path.read_text(), package_of(path)) == []


@pytest.mark.parametrize(
    "source",
    [
        "from cchybrid_plugins import tabu",
        "import cchybrid_plugins as p\np.tabu",
        "import cchybrid_plugins.tabu.engine",
        "from ..tabu import engine",
        "from .. import tabu",
        "import importlib\nimportlib.import_module('cchybrid_plugins.tabu.engine')",
        "import_module(f'cchybrid_plugins.{name}')",
        "target = 'cchybrid_plugins.tabu.engine:Tabu'",
        "import_module('cchybrid.host.api')",
        "from cchybrid.host import api",
        "import cchybrid as cc\ncc.host",
        "import cchybrid as cc\ncc.solve",
        "from cchybrid import solve",
    ],
)
def test_a_wrong_import_of_a_plugin_is_found(source: str) -> None:
    assert wrong_in_plugin(source, "cchybrid_plugins.own")


@pytest.mark.parametrize(
    "source",
    [
        "from . import engine\nfrom .engine import Own\nfrom cchybrid_plugins.own import engine",
        "import cchybrid_plugins.own.engine as e\ne.Own",
        "from cchybrid.toolkit import packing\nfrom cchybrid import Network\nimport cchybrid",
        "'cchybrid'\n'cchybrid finds plugins'\n'origin of things'",
    ],
)
def test_a_right_import_of_a_plugin_is_allowed(source: str) -> None:
    assert wrong_in_plugin(source, "cchybrid_plugins.own") == []
    assert uses_of_origin(source) == []


@pytest.mark.parametrize(
    "path",
    [*PLUGINS, *sources(ROOT / "cchybrid" / "toolkit")],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_engines_see_the_structure_of_a_problem_not_its_origin(path: Path) -> None:
    assert uses_of_origin(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "problem.origin.instance",
        "getattr(problem, 'origin')",
        "vars(problem)['origin']",
        "attrgetter('origin.instance')(problem)",
        "from cchybrid.problem import origin",
        "from cchybrid.problem import origin as o",
        "from cchybrid.problem.origin import InstanceOrigin as I",
        "import cchybrid.problem.origin as o",
        "import_module('cchybrid.problem.origin')",
        "match problem:\n    case Problem(origin=o): pass",
        "replace(problem, origin=None)",
    ],
)
def test_a_use_of_the_origin_is_found(source: str) -> None:
    assert uses_of_origin(source)


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_registry_touches_pluggy(path: Path) -> None:
    if path.stem not in ("hookspecs", "registry"):
        assert "pluggy" not in {module.partition(".")[0] for module in imports_of(path)}


@pytest.mark.parametrize(
    "path", [p for p in CORE if layer_of_file(p) in STANDARD_LIBRARY_ONLY], ids=lambda p: p.stem
)
def test_the_base_needs_the_standard_library_only(path: Path) -> None:
    for module in imports_of(path):
        assert not module.startswith(("numpy", "ortools", "networkx", "numba", "typer", "rich"))


@pytest.mark.parametrize(
    ("package", "allowed"),
    [("checker", {"checker"}), ("design_checker", {"checker", "design_checker"})],
)
def test_the_checkers_share_no_code(package: str, allowed: set[str]) -> None:
    for path in sources(ROOT / "cchybrid" / package):
        assert {layer_of(module) for module in imports_of(path)} <= {None, *allowed}


def test_no_files_need_each_other() -> None:
    files = (*sources(ROOT / "cchybrid"), *sources(ROOT / "plugins"))
    assert circle({path: path.read_text() for path in files}) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("from cchybrid.model import b", "from cchybrid.model.a import x"),
        ("from . import b", "def f():\n    from .a import x"),
        ("import cchybrid.model.b", "if TYPE_CHECKING:\n    from cchybrid.model.a import x"),
        ("from cchybrid import model\nmodel.b.f()", "from cchybrid.model import a"),
        ("from .b import x", "load_target('cchybrid.model.a:x')"),
        ("from .b import x", "from cchybrid.model import a as c"),
    ],
)
def test_a_circle_is_found(first: str, second: str) -> None:
    folder = ROOT / "cchybrid" / "model"
    texts = {folder / "__init__.py": "", folder / "a.py": first}
    found = circle({**texts, folder / "b.py": second})
    assert set(found) == {"cchybrid.model.a", "cchybrid.model.b"}
    assert circle({**texts, folder / "b.py": "from cchybrid.problem import x"}) == []


def test_no_file_is_too_long_to_read_in_one_sitting() -> None:
    for path in (*CORE, *PLUGINS):
        assert len(path.read_text().splitlines()) <= 450, path


def test_every_package_is_installed() -> None:
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


def test_finders_have_their_own_rows() -> None:
    """Else a wrong row would be found and accepted."""
    allowed = {*CHECKING, *(f"{module}.{name}" for module in CHECKING for name in CHECKING[module])}
    for path in sources(ROOT / "cchybrid" / "proof"):
        used = {name for name in imports_of(path) if name.startswith("cchybrid.checker")}
        reached = {name for name in used if not any(name.startswith(f"{a}.") for a in allowed)}
        assert reached - allowed == set(), path.name
