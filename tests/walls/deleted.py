"""Engines that are deleted: a test that names one is a test of it, too."""

import ast
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

VARIABLE = "CCHYBRID_WITHOUT"
"""Environment variable with the names of deleted engines."""
DELETED = os.environ.get(VARIABLE, "").split()
TESTS = Path(__file__).parents[1]
WITHOUT_PLUGINS = ("checker", "design_checker", "exhaustive", "library", "model", "problem",
                   "proof", "referee", "system", "toolkit", "view")  # fmt: skip
"""Folders whose tests have a registry without plugins, always: so no deletion matters to them."""


def needs_no_plugin(path: Path) -> bool:
    """Return whether the tests of a file have a registry without plugins."""
    parts = path.relative_to(TESTS).parts if path.is_relative_to(TESTS) else ("",)
    return parts[0] in WITHOUT_PLUGINS


def imports_one(path: Path, deleted: list[str]) -> bool:
    """Return whether a file imports one of these engines."""
    pattern = rf"cchybrid_plugins\.engines\.(?:{'|'.join(deleted)})\b"
    return bool(deleted) and re.search(pattern, path.read_text()) is not None


def names_one(item: pytest.Item, deleted: list[str]) -> bool:
    """Return whether a test names one: in a parameter, itself, or in what it uses of its file."""
    assert isinstance(item, pytest.Function)
    given = getattr(item, "callspec", None)
    parameters: dict[str, object] = given.params if given else {}
    if is_one(str(parameters.get("engine", "")), deleted):
        return True
    texts = [*map(str, parameters.values()), *texts_of(item.path, item.originalname)]
    return any(is_named(text, deleted) for text in texts)


def is_one(words: str, deleted: list[str]) -> bool:
    """Return whether the parameter ``engine/option=value`` is of one of these engines."""
    name = words.partition("/")[0]
    return any(folder in (name, f"{name}_search") for folder in deleted)


def is_named(text: str, deleted: list[str]) -> bool:
    """Return whether a text has the name of one as a word."""
    names = [name for name in deleted if name != "broadcast"]  # a collective is called so, too
    pattern = rf"(?<![\w-])(?:{'|'.join(names)})(?![\w-])"
    return bool(names) and re.search(pattern, text, re.IGNORECASE) is not None


def texts_of(path: Path, name: str) -> Iterator[str]:
    """Yield the strings of a function, and of what it uses of its file, but docstrings."""
    definitions, always = _definitions(path)
    left, seen = [name, *always], set[str]()
    while left:
        if (name := left.pop()) in seen or name not in definitions:
            continue
        seen.add(name)
        node = definitions[name]
        # Decorators are left out: a test knows its own parameters only.
        parts = [node.args, *node.body] if isinstance(node, ast.FunctionDef) else [node]
        inner = [each for part in parts for each in ast.walk(part)]
        docstrings = {id(each.value) for each in inner if isinstance(each, ast.Expr)}
        for each in inner:
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                if id(each) not in docstrings:
                    yield each.value
            elif isinstance(each, ast.Name | ast.arg):
                left.append(each.id if isinstance(each, ast.Name) else each.arg)


@cache
def _definitions(path: Path) -> tuple[dict[str, ast.AST], list[str]]:
    """Return what a file defines by name, and the names of fixtures that every test uses."""
    module = ast.parse(path.read_text())
    found: dict[str, ast.AST] = {}
    always = []
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
            if any("autouse" in ast.unparse(each) for each in node.decorator_list):
                always.append(node.name)
    for node in module.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for each in ast.walk(node):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    found[each.id] = node
    return found, always
