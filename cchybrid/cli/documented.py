"""Commands whose arguments and options are declared by their docstrings."""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin

import typer

from cchybrid.cli.single_options import Command

_SECTION = re.compile(r"\n\n([A-Z][a-z ]+)\n-+\n(?=\w+(?: : .*)?\n )")


def add_command(app: typer.Typer, command: Callable[..., Any], name: str | None = None) -> None:
    """Add a command to an application, with the help and the parameters of its docstring."""

    @functools.wraps(command)
    def call(**given: Any) -> Any:
        return command(**given)

    call.__signature__ = inspect.Signature([*declared(command).values()])  # type: ignore[attr-defined]
    text = _SECTION.split(inspect.getdoc(command) or "")[0]
    app.command(name, cls=Command, help=text or None)(call)


def declared(command: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a command, declared as its docstring says.

    The section ``Arguments`` and those of options, whose titles are headings of the help, have an
    entry ``parameter : -n, --name VALUE`` with its meaning for some of them. By default the name of
    an option is that of the parameter. What cannot be said there, such as the completion, is a
    dictionary of typer's settings in the annotation: ``Annotated[str, {"autocompletion": ...}]``.
    Other parameters stay as they are.
    """
    _, *sections = _SECTION.split(inspect.getdoc(command) or "")
    found = dict(inspect.signature(command, eval_str=True).parameters)
    for title, section in zip(sections[::2], sections[1::2], strict=True):
        for entry in re.split(r"\n(?=\S)", section.strip()):
            head, _, text = entry.partition("\n")
            name, *words = head.replace(" :", "").split()
            parameter = found[name]
            kind = parameter.annotation
            settings: dict[str, Any] = {"help": " ".join(text.split())}
            if get_origin(kind) is Annotated:
                kind, more = get_args(kind)
                settings |= more
            names = [word.rstrip(",") for word in words if word.startswith("-")]
            if words[len(names) :]:
                settings["metavar"] = words[-1]
            elif not names and parameter.default is False:
                names = [f"--{name.replace('_', '-')}"]  # and none to switch it off
            if title == "Arguments":
                info = typer.Argument(**{"show_default": False, **settings})
            else:
                info = typer.Option(*names, rich_help_panel=title, **settings)
            found[name] = parameter.replace(annotation=Annotated[kind, info])
    return found
