"""The page of the engines' options, from the registry and the docstrings of the options."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from numpydoc.docscrape import NumpyDocString
from written_pages import code, table

from cchybrid.host.quotient_search import QuotientOptions
from cchybrid.plugin.records import DesignerInfo, EngineInfo, load_target
from cchybrid.plugin.registry import load_registry


def engines_page() -> str:
    """Return engines, designers and strategies, each with its options."""
    registry = load_registry()
    text = [
        "# Engines, designers and strategies",
        "Options are set by `--option NAME.OPTION=VALUE`, in Python by the argument `options`."
        " The [pages of the engines](../engines/README.md) say how each works.",
        "## Engines",
    ]
    for name in sorted(registry.engines):
        text += _engine(registry.engines[name])
    text.append("## Designers of networks")
    for name in sorted(registry.designers):
        info = registry.designers[name]
        text += [f"### Designer {name}", f"{_sentence(info.summary)} {info.kind.capitalize()}."]
        text.append(_options(load_target(info.target).Options))
    text += ["## Strategies", "Options of searches on quotients are set under any strategy."]
    owners = {name: load_target(info.target).Options for name, info in registry.strategies.items()}
    for name, options in {**owners, "quotients": QuotientOptions}.items():
        text += [f"### Strategy {name}", _options(options)]
    return "\n\n".join(text)


def _engine(info: EngineInfo | DesignerInfo) -> list[str]:
    facts = [
        {"exact": "Exact", "heuristic": "Heuristic", "construction": "Construction"}[info.kind],
        {
            "any": "",
            "forwarded": "only where messages are forwarded",
            "hop by hop": "only where messages are forwarded in store-and-forward switching",
            "direct": "only where no message is forwarded",
        }[info.messages],
        "takes part only if named" if info.baseline else f"priority {info.priority}",
    ]
    page = f"[How it works](../engines/{info.name}.md)."
    return [
        f"### {info.name}",
        f"{_sentence(info.summary)} {'; '.join(filter(None, facts))}. {page}",
        _options(load_target(info.target).Options),
    ]


def _sentence(summary: str) -> str:
    return f"{summary[:1].upper()}{summary[1:]}."


def _options(options: type) -> str:
    """Return the table of the fields of a dataclass, described by its docstring."""
    described = descriptions(options)
    rows = [
        (code(field.name), _text(field.default), described.get(field.name, ""))
        for field in dataclasses.fields(options)
    ]
    return table(("option", "default", "meaning"), rows) if rows else "It has no options."


def descriptions(options: type) -> dict[str, str]:
    """Return the description of every field; a class inherits those of its bases."""
    found: dict[str, str] = {}
    for base in reversed(options.__mro__[:-1]):
        for entry in NumpyDocString(inspect.cleandoc(base.__doc__ or ""))["Parameters"]:
            text = " ".join(entry.desc)
            for name in entry.name.split(", "):
                if not (name in found and text.startswith("See ")):
                    found[name] = text
    return found


def _text(value: Any) -> str:
    return code(f"{value:.3g}" if isinstance(value, float) else repr(value))
