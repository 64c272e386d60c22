"""Completion of words in shells: names of networks, collectives, engines, options and files.

Typer calls these functions with what is typed so far. Nothing that takes long is imported: the
names come from the registry, those of options from the sources of the engines.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from cchybrid.plugin.records import DesignerInfo, EngineInfo
from cchybrid.plugin.registry import load_registry

Completion = tuple[str, str]
"""A word, and the summary that some shells show beside it."""


def _names_of(kind: str, field: str = "name") -> Callable[[str], list[Completion]]:
    """Return the function that completes a field of the records of a kind."""

    def completed(incomplete: str) -> list[Completion]:
        infos = getattr(load_registry(), kind).values()
        return matching(incomplete, [(getattr(info, field), info.summary) for info in infos])

    return completed


networks = _names_of("topologies", "example")
"""Examples of the families of networks, without files."""
engines, designers, strategies = map(_names_of, ("engines", "designers", "strategies"))
exporters, importers = _names_of("exporters"), _names_of("importers")


def topologies(incomplete: str) -> list[Completion]:
    """Return examples of the families of networks, and files."""
    return networks(incomplete) + paths(incomplete)


def collectives(incomplete: str) -> list[Completion]:
    """Return the names of collectives in both languages, in the case in which they are typed."""
    infos = load_registry().collectives.values()
    words = [(word, info.summary) for info in infos for word in (info.name, *info.aliases)]
    return matching(incomplete, words)


def teams(incomplete: str) -> list[Completion]:
    """Return the names of engines; of a team such as ``umda+cpsat`` those of its last member."""
    before, plus, last = incomplete.rpartition("+")
    return [(f"{before}{plus}{name}", text) for name, text in engines(last)]


def engines_and_designers(incomplete: str) -> list[Completion]:
    """Return the names of engines and of designers."""
    return matching(incomplete, [*engines(""), *designers("")])


def options(incomplete: str) -> list[Completion]:
    """Return ``ENGINE.NAME=`` for the options of engines."""
    return options_of(incomplete, load_registry().engines.values())


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
