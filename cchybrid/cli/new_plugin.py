"""``new-plugin``: write a project with a plugin and its tests."""

import re
from importlib.util import find_spec
from pathlib import Path
from string import Template

from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import RESERVED_NAMES, load_registry

TEMPLATES = Path(__file__).parent / "templates"


def new_plugin(
    name: str,
    engine: bool = False,
    topology: bool = False,
    bound: bool = False,
    command: bool = False,
) -> None:
    """Write a project with a plugin of one kind, which works, and its tests.

    Arguments
    ---------
    name : NAME
        The name of what it registers, such as annealing; the folder is cchybrid-NAME.

    Kinds
    -----
    engine
        An engine for schedules, with the conformance suite.
    topology
        A family of networks.
    bound
        A provider of lower bounds.
    command
        A command of cchybrid.
    """
    kinds = {"engine": engine, "topology": topology, "bound": bound, "command": command}
    if sum(kinds.values()) != 1:
        hint = f"give one of --{', --'.join(kinds)}"
        raise InputError("it is of one kind", where="new-plugin", hint=hint)
    kind = next(kind for kind, given in kinds.items() if given)
    module, folder = name.replace("-", "_"), Path(f"cchybrid-{name}")
    package = f"cchybrid_{module}"
    _check_name(name, package)
    files = {
        "README.md": "README.md",
        "pyproject.toml": "pyproject.toml",
        f"{package}/__init__.py": f"{kind}_init.py",
        f"{package}/{kind}.py": f"{kind}.py",
        f"test_{module}.py": f"test_{kind}.py",
    }
    if folder.exists() or folder.is_symlink():
        raise InputError(f"{folder} exists", where="NAME", hint="choose another name or folder")
    (folder / package).mkdir(parents=True)
    words = {"name": name, "module": module, "folder": folder, "package": package, "kind": kind}
    for path, template in files.items():
        text = (TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
        (folder / path).write_text(Template(text).substitute(words), encoding="utf-8")
    print(f"{folder}: written; next: cd {folder} && pip install -e . pytest && pytest")


def _check_name(name: str, package: str) -> None:
    if not re.fullmatch(r"(?=.{1,64}$)[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        hint = "use up to 64 small letters, digits and single hyphens"
        raise InputError(f"{name[:64]!r} is no name", where="NAME", hint=hint)
    registry = load_registry()
    used = RESERVED_NAMES.union(key for _, key in registry.provider)
    patterns = [info.pattern for info in registry.topologies.values()]
    alike = any(re.fullmatch(pattern, f"{name}-6") for pattern in patterns)
    if name in used or alike or find_spec(package) is not None:
        raise InputError(f"{name} is in use", where="NAME", hint="choose another name")
