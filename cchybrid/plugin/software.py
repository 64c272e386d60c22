"""The software that a run depends on: versions of plugins, and digests of the code of engines."""

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from importlib.util import resolve_name
from pathlib import Path

from cchybrid.plugin.registry import GROUP, MODULES_VARIABLE
from cchybrid.system.kernel_cache import module_file

OWN = "cchybrid"
"""The distribution of cchybrid itself, whose version stands beside those of libraries."""
_IMPORT = re.compile(
    r"(?:from[ \t\f]*([.\w][.\w \t\f]*?)[ \t\f]*\bimport|import)\b[ \t\f]*(\([\w\s,]*\)|[^\n;]*)"
)


def software(engines: Mapping[str, str]) -> dict[str, str]:
    """Return the versions of installed plugins, and the digests of the code of engines.

    Parameters
    ----------
    engines
        Targets (``package.module:Class``) of engines or designers by their names.

    Returns
    -------
    dict
        By names such as ``plugin PACKAGE`` and ``engine NAME``. A module that the environment
        names as a plugin has no version, but a digest of its code.
    """
    found = {
        f"plugin {entry.dist.name}": entry.dist.version
        for entry in entry_points(group=GROUP)
        if entry.dist is not None and entry.dist.name != OWN
    }
    modules = map(str.strip, os.environ.get(MODULES_VARIABLE, "").split(","))
    found |= {f"plugin {module}": digest_of_code(module) for module in modules if module}
    code = {name: target.partition(":")[0] for name, target in sorted(engines.items())}
    digests = {module: digest_of_code(module) for module in {*code.values()}}
    return found | {f"engine {name}": digests[module] for name, module in code.items()}


def digest_of_code(module: str) -> str:
    """Return a digest of the code of a module: its file, or all Python files of its folder if that
    is a package, and what these import of the same package, or of the folder in which that lies.
    """
    try:
        files = _files_of(module)
        code = b"\0".join(map(Path.read_bytes, sorted(files)))
        return hashlib.sha256(code).hexdigest()[:12] if files else "unknown"
    except (OSError, ValueError, ImportError):  # the engine's worker will report it
        return "unknown"


def _files_of(module: str) -> set[Path]:
    top, waiting = module.partition(".")[0], [module]
    found, read = set[Path](), set[Path]()
    beside = set[str]()
    if file := module_file(top):
        folder = file.parent.parent if file.name == "__init__.py" else file.parent
        beside = _modules_of(folder) - {OWN}
    while waiting:
        name = waiting.pop()
        file = module_file(name)
        if file is None or file in read:
            continue
        read.add(file)
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        if name == module and package:
            found = {*file.parent.rglob("*.py")}
            inner = (path.relative_to(file.parent).with_suffix("").parts for path in found)
            waiting += [".".join((package, *each)).removesuffix(".__init__") for each in inner]
        imports = {*_imports(file.read_bytes().decode(errors="replace"), package)}
        waiting += [each for each in imports if each.partition(".")[0] in {top, *beside}]
    return found | read


def _modules_of(folder: Path) -> set[str]:
    """Return the names of the modules, and of the packages unless installed, in a folder."""
    installed = any(folder.glob("*.dist-info"))
    return {
        path.stem
        for path in folder.iterdir()
        if path.suffix == ".py" or (path.is_dir() and not installed)
    }


def _imports(code: str, package: str) -> Iterator[str]:
    """Yield the names of all modules that some code may import, and further words of texts.

    Parsing the code of all engines takes longer than a small run. What follows a ``#`` may be a
    comment inside an import, or code after a text, so both are looked through.
    """
    joined = re.sub(r"\\\r?\n", " ", code)
    for start, names in {*_IMPORT.findall(joined), *_IMPORT.findall(re.sub("#.*", "", joined))}:
        words = re.findall(r"[\w.]+", names)
        with contextlib.suppress(ImportError):  # relative to no package, as in a text
            base = resolve_name("".join(start.split()), package) if start else ""
            yield from (base, *(f"{base}.{word}" for word in words)) if base else words
