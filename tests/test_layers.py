"""A layer imports only what stands above it; plugins import only the public plugin surface."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

LAYERS = (
    "system",
    "model",
    "checker",
    "referee",
    "library",
    "problem",
    "proof",
    "plugin",
    "toolkit",
    "host",
    "view",
    "bench",
    "cli",
    "__main__",
)
"""From the bottom of the house to the top."""

PLUGIN_SURFACE = {"model", "problem", "plugin", "toolkit"}

STANDARD_LIBRARY_ONLY = ("model", "checker")


def sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Yield every module that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            if node.module == "cchybrid":
                yield from (f"cchybrid.{alias.name}" for alias in node.names)


def layer_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "cchybrid" and len(parts) > 1 else None


def layer_of_file(path: Path) -> str:
    return path.relative_to(ROOT / "cchybrid").parts[0].removesuffix(".py")


CORE = [
    path
    for path in sources(ROOT / "cchybrid")
    if path.name != "__init__.py" or path.parent.name != "cchybrid"
]


def test_every_part_has_its_layer() -> None:
    assert {layer_of_file(path) for path in CORE} == set(LAYERS)


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_upwards(path: Path) -> None:
    mine = layer_of_file(path)
    for module in imports(path):
        layer = layer_of(module)
        if layer is not None and layer != mine:
            assert LAYERS.index(layer) < LAYERS.index(mine), f"{path} imports {module}"


@pytest.mark.parametrize("path", sources(ROOT / "plugins"), ids=lambda path: path.name)
def test_plugins_use_the_public_surface_only(path: Path) -> None:
    for module in imports(path):
        layer = layer_of(module)
        assert layer is None or layer in PLUGIN_SURFACE, f"{path} imports {module}"


@pytest.mark.parametrize(
    "path",
    [*sources(ROOT / "plugins"), *sources(ROOT / "cchybrid" / "toolkit")],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_engines_see_the_structure_of_a_problem_not_its_origin(path: Path) -> None:
    assert "cchybrid.problem.origin" not in set(imports(path))
    for node in ast.walk(ast.parse(path.read_text())):
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        assert name not in ("origin", "InstanceOrigin"), f"{path}:{node.lineno}"


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_registry_touches_pluggy(path: Path) -> None:
    if path.stem not in ("hookspecs", "registry"):
        assert "pluggy" not in set(imports(path))


@pytest.mark.parametrize(
    "path", [p for p in CORE if layer_of_file(p) in STANDARD_LIBRARY_ONLY], ids=lambda p: p.stem
)
def test_the_base_needs_the_standard_library_only(path: Path) -> None:
    for module in imports(path):
        assert not module.startswith(("numpy", "ortools", "networkx", "numba", "typer", "rich"))


def test_the_checker_shares_no_code() -> None:
    for path in sources(ROOT / "cchybrid" / "checker"):
        assert {layer_of(module) for module in imports(path)} <= {None, "checker"}


def test_no_engine_imports_another() -> None:
    for path in sources(ROOT / "plugins"):
        mine = path.relative_to(ROOT / "plugins").parts[0]
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.level < 2, f"{path} leaves its folder"
        for module in imports(path):
            if module.startswith("cchybrid_plugins."):
                assert module.split(".")[1] == mine, f"{path} imports {module}"


def test_no_file_is_too_long_to_read_in_one_sitting() -> None:
    for path in (*CORE, *sources(ROOT / "plugins")):
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
