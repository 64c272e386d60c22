"""Completion of words in shells: names of networks, collectives, engines, options and files.

Typer calls these functions with what is typed so far. Nothing that takes long is imported: the
names come from the registry, those of options from the sources of the engines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cchybrid.plugin.records import DesignerInfo, EngineInfo
    from cchybrid.plugin.registry import Registry

Completion = tuple[str, str]
"""A word, and the summary that some shells show beside it."""


def topologies(incomplete: str) -> list[Completion]:
    """Return examples of the families of networks, and files."""
    return networks(incomplete) + paths(incomplete)


def networks(incomplete: str) -> list[Completion]:
    """Return examples of the families of networks, without files."""
    infos = _registry().topologies.values()
    return matching(incomplete, [(info.example, info.summary) for info in infos])


def collectives(incomplete: str) -> list[Completion]:
    """Return the names of collectives in both languages, in the case in which they are typed."""
    infos = _registry().collectives.values()
    words = [(word, info.summary) for info in infos for word in (info.name, *info.aliases)]
    return matching(incomplete, words)


def engines(incomplete: str) -> list[Completion]:
    """Return the names of engines; of a team such as ``umda+cpsat`` those of its last member."""
    before, plus, last = incomplete.rpartition("+")
    infos = _registry().engines.values()
    found = matching(last, [(info.name, info.summary) for info in infos])
    return [(f"{before}{plus}{name}", summary) for name, summary in found]


def designers(incomplete: str) -> list[Completion]:
    """Return the names of designers."""
    infos = _registry().designers.values()
    return matching(incomplete, [(info.name, info.summary) for info in infos])


def engines_and_designers(incomplete: str) -> list[Completion]:
    """Return the names of engines and of designers."""
    return matching(incomplete, [*engines(""), *designers("")])


def strategies(incomplete: str) -> list[Completion]:
    """Return the names of strategies."""
    return matching(incomplete, [(s.name, s.summary) for s in _registry().strategies.values()])


def exporters(incomplete: str) -> list[Completion]:
    """Return the names of export formats."""
    infos = _registry().exporters.values()
    return matching(incomplete, [(info.name, info.summary) for info in infos])


def importers(incomplete: str) -> list[Completion]:
    """Return the names of import formats."""
    infos = _registry().importers.values()
    return matching(incomplete, [(info.name, info.summary) for info in infos])


def options(incomplete: str) -> list[Completion]:
    """Return ``ENGINE.NAME=`` for the options of engines."""
    return options_of(incomplete, _registry().engines.values())


def paths(incomplete: str) -> list[Completion]:
    """Return the files and folders whose path begins so; hidden ones only if a dot is typed."""
    folder, slash, start = incomplete.rpartition("/")
    try:
        found = sorted(Path(f"{folder}{slash}" or ".").expanduser().iterdir())
    except OSError:
        return []
    return [
        (f"{folder}{slash}{path.name}{'/' if path.is_dir() else ''}", "")
        for path in found
        if path.name.startswith(start) and (start or not path.name.startswith("."))
    ]


def options_of(incomplete: str, infos: Iterable[EngineInfo | DesignerInfo]) -> list[Completion]:
    """Return ``OWNER.NAME=`` for the options of engines or designers."""
    from cchybrid.plugin.option_names import option_names

    targets = {info.name: info.target for info in infos}
    owner, dot, _ = incomplete.partition(".")
    chosen = [name for name in targets if not dot or name == owner.lower()]
    names = {name: option_names(targets[name]) or [] for name in chosen}
    words = [(f"{owner}.{name}=", "") for owner, known in names.items() for name in known]
    return matching(incomplete, words)


def matching(incomplete: str, words: Sequence[Completion]) -> list[Completion]:
    """Return the words that begin so, in lower case where that is how they are typed."""
    found = [(word, summary) for word, summary in words if word.startswith(incomplete)]
    if found or incomplete != incomplete.lower():
        return found
    lower = ((word.lower(), summary) for word, summary in words)
    return [(word, summary) for word, summary in lower if word.startswith(incomplete)]


def _registry() -> Registry:
    from cchybrid.plugin.registry import load_registry

    return load_registry()
