"""The help of all commands, which cog writes into ``docs/commands.md``.

``cog -r docs/commands.md`` writes it anew; a test compares it with what the commands print.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cchybrid.cli.app import app

WIDTH = 88
"""Columns of the texts."""


def help_texts() -> str:
    """Return a section for every command, with the text that ``--help`` prints."""
    from typer.main import get_command

    return "\n".join(_sections("cchybrid", get_command(app), None))


def _sections(path: str, command: Any, parent: Any) -> Iterator[str]:
    command = command.load() if hasattr(command, "load") else command
    settings = {"help_option_names": ["-h", "--help"], "terminal_width": WIDTH}
    context = command.make_context(path, [], parent, resilient_parsing=True, **settings)
    context.max_content_width = WIDTH
    text = "\n".join(line.rstrip() for line in command.get_help(context).strip().splitlines())
    yield f"## {path}\n\n```text\n{text}\n```\n"
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _sections(f"{path} {name}", inner, None)
