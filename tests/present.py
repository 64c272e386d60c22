"""Commands and modules of features that are present, as any feature may be deleted."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType

from cchybrid.plugin.registry import load_registry
from tests import plugins


def present(*lines: str) -> list[str]:
    """Return the command lines whose first word is a command."""
    commands = load_registry().commands
    return [line for line in lines if line.split()[0] in commands]


def beside_tests(name: str) -> Iterator[ModuleType]:
    """Yield the modules of this name beside the tests of features."""
    for found in iter_modules(plugins.__path__):
        module = f"{plugins.__name__}.{found.name}.{name}"
        if found.ispkg and find_spec(module) is not None:
            yield import_module(module)
