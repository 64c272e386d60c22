"""The names of an engine's options, read from its source.

Importing an engine would import Numba or OR-Tools, which takes seconds: too long for completion.
"""

import ast
import importlib.util
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache

Place = tuple[str, ast.ClassDef]
"""A class and the module that defines it."""


def option_names(target: str) -> list[str] | None:
    """Return the names of the fields of ``Options`` of a class, without importing its module.

    Parameters
    ----------
    target
        ``package.module:Class``, as in ``EngineInfo``.

    Returns
    -------
    list of str or None
        The names, those of base classes first; ``None`` where the source does not say, for example
        because the class is made by a function.

    Examples
    --------
    >>> option_names("cchybrid_plugins.engines.tabu.engine:Tabu")[:2]
    ['width', 'tenure']
    """
    module, _, name = target.partition(":")
    engine = _find(module, name)
    options = None if engine is None else _member(*engine, "Options")
    return None if options is None else list(dict.fromkeys(_fields(*options)))


def _member(module: str, owner: ast.ClassDef, name: str) -> Place | None:
    """Return the class that a class has as an attribute, its own or that of a base class."""
    for node in owner.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return module, node
        if isinstance(node, ast.Assign) and name in _names(node.targets):
            return _find(module, node.value.id) if isinstance(node.value, ast.Name) else None
    found = (_member(*base, name) for base in _bases(module, owner))
    return next(filter(None, found), None)


def _fields(module: str, options: ast.ClassDef) -> Iterator[str]:
    """Yield the names of the fields of a dataclass in their order."""
    for base in _bases(module, options):
        yield from _fields(*base)
    for node in options.body:
        if isinstance(node, ast.AnnAssign) and "ClassVar" not in ast.unparse(node.annotation):
            yield from _names([node.target])


def _bases(module: str, owner: ast.ClassDef) -> Iterator[Place]:
    for base in owner.bases:
        plain = base.value if isinstance(base, ast.Subscript) else base
        found = _find(module, plain.id) if isinstance(plain, ast.Name) else None
        if found is not None and found[1] is not owner:
            yield found


def _find(module: str, name: str, depth: int = 8) -> Place | None:
    """Return the class that a name stands for in a module; imports are followed."""
    for node in _body(module) if depth else ():
        if isinstance(node, ast.ClassDef) and node.name == name:
            return module, node
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _find(_absolute(module, node), alias.name, depth - 1)
    return None


def _absolute(module: str, node: ast.ImportFrom) -> str:
    """Return the full name of the module from which a statement imports."""
    outer = module.split(".")[: -node.level] if node.level else []
    return ".".join([*outer, *([node.module] if node.module else [])])


@cache
def _body(module: str) -> tuple[ast.stmt, ...]:
    """Return the statements of a module; none if it has no readable source."""
    with suppress(ImportError, AttributeError, ValueError, OSError, SyntaxError):
        spec = importlib.util.find_spec(module)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            with open(spec.origin, encoding="utf-8") as file:
                return tuple(ast.parse(file.read()).body)
    return ()


def _names(targets: Iterable[ast.expr]) -> list[str]:
    return [target.id for target in targets if isinstance(target, ast.Name)]
