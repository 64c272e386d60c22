"""Mutants of a module: its functions with one small change each, as code objects."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple


class Mutant(NamedTuple):
    """A function with one change.

    Attributes
    ----------
    line
        The line of the change.
    function
        The qualified name of the function.
    before, after
        The changed expression or statement.
    code
        The code of the function after the change.
    """

    line: int
    function: str
    before: str
    after: str
    code: CodeType

    def __str__(self) -> str:
        return f"line {self.line}, {self.function}: {self.before} -> {self.after}"


_COMPARISONS: dict[type, tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
_OPERATORS: dict[type, type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.Div: ast.Mult,
}  # fmt: skip
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


def mutants(name: str) -> list[Mutant]:
    """Return all mutants of the functions of a module, in the order of its lines."""
    source = inspect.getsource(importlib.import_module(name))
    tree = ast.parse(source)
    found = []
    for function, node in _functions(tree):
        plain = ast.unparse(node)
        for line, before, after in _changes(node):
            if ast.unparse(node) != plain:
                code = _code(compile(tree, f"<mutant of {name}>", "exec"), function)
                found.append(Mutant(line, function, before, after, code))
    return sorted(found, key=lambda mutant: mutant.line)


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


def _changes(function: ast.FunctionDef) -> Iterator[tuple[int, str, str]]:
    """Make one change after another in a function; each is undone before the next one."""
    for parent in list(ast.walk(function)):
        for field, value in ast.iter_fields(parent):
            if field in ("decorator_list", "returns", "annotation", "args"):
                continue
            if isinstance(value, list):
                for place, item in enumerate(value):
                    for new in _replacements(item):
                        value[place] = new
                        yield _line(item), _shown(item), _shown(new)
                        value[place] = item
            elif isinstance(value, ast.AST):
                for new in _replacements(value):
                    setattr(parent, field, new)
                    yield _line(value), _shown(value), _shown(new)
                    setattr(parent, field, value)


def _replacements(node: Any) -> Iterator[ast.AST]:
    for new in _plain_replacements(node):
        yield ast.fix_missing_locations(ast.copy_location(new, node))


def _plain_replacements(node: Any) -> Iterator[Any]:
    match node:
        case ast.Compare(ops=[op]):
            for other in _COMPARISONS[type(op)]:
                yield ast.Compare(node.left, [other()], node.comparators)
        case ast.Compare():
            for place, op in enumerate(node.ops):
                ops = list(node.ops)
                ops[place] = _COMPARISONS[type(op)][0]()
                yield ast.Compare(node.left, ops, node.comparators)
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
            for place in range(len(node.values)):
                rest = node.values[:place] + node.values[place + 1 :]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        case ast.UnaryOp(op=ast.Not() | ast.Invert() | ast.USub()):
            yield node.operand
        case ast.BinOp() if type(node.op) in _OPERATORS:
            yield ast.BinOp(node.left, _OPERATORS[type(node.op)](), node.right)
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int()):
            yield ast.Constant(node.value + 1)
            if node.value:
                yield ast.Constant(node.value - 1)
        case ast.Name(id=name, ctx=ast.Load()) if name in _NAMES:
            yield ast.Name(_NAMES[name], ast.Load())
        case ast.IfExp():
            yield node.body
            yield node.orelse
        case ast.If():
            yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        case ast.Raise() | ast.Continue() | ast.Break() | ast.AugAssign():
            yield ast.Pass()
        case ast.Expr(value=ast.Call() | ast.YieldFrom()):
            yield ast.Pass()
        case ast.comprehension(ifs=[_, *_]):
            yield ast.comprehension(node.target, node.iter, [], node.is_async)


def _line(node: ast.AST) -> int:
    return next(inner.lineno for inner in ast.walk(node) if hasattr(inner, "lineno"))


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    if isinstance(node, ast.If):
        text = f"if {ast.unparse(node.test)}"
    return text if len(text) <= 70 else f"{text[:67]}..."


def _code(module: CodeType, function: str) -> CodeType:
    """Return the code of a function of a module's code."""
    code = module
    for part in function.split("."):
        code = next(
            each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == part
        )
    return code


def install(module: ModuleType, mutant: Mutant) -> None:
    """Let the function of a loaded module have the code of a mutant."""
    owner: Any = module
    *outer, name = mutant.function.split(".")
    for part in outer:
        owner = getattr(owner, part)
    found: Any = vars(owner)[name]
    for attribute in ("fget", "func", "__func__"):  # properties, and methods of other kinds
        found = getattr(found, attribute, found)
    plain: Callable[..., Any] = inspect.unwrap(found)
    assert isinstance(plain, FunctionType)
    plain.__code__ = mutant.code
