"""Options that are given and would be ignored are refused: a second value, or one without use."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from typer.core import TyperCommand

from cchybrid.cli.help_text import PlainHelp
from cchybrid.model.errors import InputError


class Command(PlainHelp, TyperCommand):
    """A command whose options with one value are given at most once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of a command line.

        Raises
        ------
        InputError
            An option that takes one value, or is on or off, is given twice; a number is none.
        """
        values: dict[str, Any] = {}
        if not ctx.resilient_parsing:  # not for the completion of words in shells
            values, _, given = self.make_parser(ctx).parse_args(args=list(args))
            for option in self.params:
                if given.count(option) > 1 and _takes_one(option):
                    name = max(option.opts, key=len)
                    raise InputError("given twice", where=name, hint="it has one value: drop one")
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # the library's versions say it in different words
            found = re.search(r"valid (integer|number|float)", getattr(error, "message", ""))
            named: Any = getattr(error, "param", None)
            if found is None or named is None or named.name not in values:
                raise
            kind = "whole number" if found[1] == "integer" else "number"
            unit = " of seconds" if named.metavar == "SEC" else ""
            what, hint = f"{values[named.name]!r:.40} is no {kind}{unit}", f"use a {kind} such as 5"
            raise InputError(what, where=max(named.opts, key=len), hint=hint) from None


def refuse_given(context: Any, why: str, *, names: Collection[str]) -> None:
    """Raise an ``InputError`` for an option on the command line that has no use.

    Parameters
    ----------
    context
        The context of the command.
    why
        The reason, such as ``"no sizes"``.
    names
        The parameters without use.
    """
    for option in _given(context):
        if option.name in names:
            raise InputError(why, where=max(option.opts, key=len), hint="leave it out")


def given_words(context: Any, *, without: Collection[str]) -> list[str]:
    """Return the options that are given on the command line, as words of a command.

    Parameters
    ----------
    context
        The context of the command.
    without
        The parameters that are left out.
    """
    words = []
    for option in _given(context):
        value = context.params[option.name]
        if option.name in without:
            continue
        if isinstance(value, bool):
            words.append((option.opts if value else option.secondary_opts)[0])
            continue
        for item in value if isinstance(value, (list, tuple)) else [value]:
            words += [max(option.opts, key=len), str(item)]
    return words


def _given(context: Any) -> Iterator[Any]:
    """Yield the options of a command that are given on the command line."""
    for option in context.command.params:
        if option.param_type_name == "option":
            source = context.get_parameter_source(option.name)
            if source is not None and source.name == "COMMANDLINE":
                yield option


def _takes_one(option: Any) -> bool:
    """Return whether giving an option twice would contradict itself: not of --json --json."""
    one = option.param_type_name == "option" and not option.multiple
    return one and bool(option.secondary_opts or not option.is_flag)
