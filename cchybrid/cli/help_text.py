"""Help as plain text: options and commands below headings, in columns that fit a terminal."""

from typing import Any

from typer.core import TyperGroup

ARGUMENTS, OPTIONS, COMMANDS = "Arguments", "Options", "Commands"
"""Headings, the first ones of the help."""
NAMES_WIDTH = 26
"""Columns of the names; a longer name has a line of its own."""


class PlainHelp:
    """A command or a group whose help is plain text; before its class of the library."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **{**settings, "rich_markup_mode": None})

    def format_options(self: Any, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the options below their headings, and the commands of a group."""
        panels: dict[str, list[tuple[str, str]]] = {ARGUMENTS: [], OPTIONS: []}
        for parameter in self.get_params(ctx):
            found = parameter.get_help_record(ctx)
            if found is not None:
                is_argument = parameter.param_type_name == "argument"
                panel = getattr(parameter, "rich_help_panel", None) or OPTIONS
                rows = panels.setdefault(ARGUMENTS if is_argument else panel, [])
                rows.append((_names(parameter), found[1]))
        for name, command in getattr(self, "commands", {}).items():
            panel = getattr(command, "rich_help_panel", None) or COMMANDS
            panels.setdefault(panel, []).append((name, command.get_short_help_str(limit=1000)))
        for heading, rows in panels.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=NAMES_WIDTH)


def _names(parameter: Any) -> str:
    """Return the names of an option and its value, or the name of an argument."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    names = ", ".join(sorted(parameter.opts, key=len))
    if parameter.secondary_opts:
        return f"{names} / {parameter.secondary_opts[0]}"
    value = "" if parameter.is_flag else parameter.metavar or "TEXT"
    return f"{names} {value}".rstrip()


class Group(PlainHelp, TyperGroup):
    """A group of commands."""
