"""Commands are declared by their docstrings."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from cchybrid.cli.documented import add_command, declared


def words(incomplete: str) -> list[str]:
    """Return what completes a word."""
    return [incomplete + "s"]


def paint(
    context: typer.Context,
    file: Path,
    colour: Annotated[str, {"autocompletion": words}] = "red",
    number: int = 1,
    is_bright: bool = False,
    framed: bool = True,
    plain: str = "",
) -> None:
    """Paint a file.

    Exit status: 0 always.

    Arguments
    ---------
    file : FILE
        What is painted.

    Options
    -------
    colour : -c, --colour NAME
        The colour, which has a name
        of two lines.
    number : N|ALL,...
        How often.
    is_bright
        Whether it shines.
    framed
        Whether it has a frame.
    """
    print(file, colour, number, is_bright, framed, plain)


def invoke(*given: str) -> str:
    """Return the output of the command."""
    app = typer.Typer()
    add_command(app, paint)
    return CliRunner().invoke(app, given, env={"COLUMNS": "160"}).output


def test_arguments_and_options_are_declared_with_their_names_values_and_meanings():
    info = {name: each.annotation.__metadata__[0] for name, each in declared(paint).items()
            if hasattr(each.annotation, "__metadata__")}  # fmt: skip
    assert [*info] == ["file", "colour", "number", "is_bright", "framed"]
    assert type(info["file"]).__name__ == "ArgumentInfo"
    assert (info["file"].metavar, info["file"].show_default) == ("FILE", False)
    assert (info["colour"].default, *info["colour"].param_decls) == ("-c", "--colour")
    assert info["colour"].help == "The colour, which has a name of two lines."
    assert info["colour"].autocompletion is words
    assert (info["number"].metavar, info["number"].param_decls) == ("N|ALL,...", ())
    assert declared(paint)["plain"] == inspect.signature(paint, eval_str=True).parameters["plain"]


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        (("a",), "a red 1 False True \n"),
        (("a", "-c", "blue", "--is-bright", "--no-framed"), "a blue 1 True False \n"),
        (("a", "--number", "3", "--plain", "x"), "a red 3 False True x\n"),
    ],
)
def test_the_command_is_called_with_what_is_given(given, printed):
    assert invoke(*given) == printed


def test_a_flag_that_is_off_by_default_cannot_be_switched_off():
    assert "No such option" in invoke("a", "--no-is-bright")


def test_the_help_has_the_text_without_the_sections():
    text = invoke("--help")
    assert "Exit status: 0 always." in text
    assert "-----" not in text
    assert "N|ALL,..." in text
    assert "What is painted." in text


def test_an_entry_without_a_parameter_is_an_error():
    def wrong() -> None:
        """Fail.

        Options
        -------
        absent : N
            Nothing.
        """

    with pytest.raises(KeyError, match="absent"):
        declared(wrong)


def test_what_a_command_returns_is_its_exit_status():
    application = typer.Typer()

    def status(number: int = 3) -> int:
        """Return a number."""
        return number

    add_command(application, status)
    result = CliRunner().invoke(application, ["--number", "4"], standalone_mode=False)
    assert result.return_value == 4


def test_sections_of_another_kind_are_text():
    def flags(number: int = 3) -> None:
        """Show flags.

        Options
        -------
        All flags are shown.
        """

    assert list(declared(flags)) == ["number"]
