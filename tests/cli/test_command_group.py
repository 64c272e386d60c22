"""Commands come from plugins: each is imported where it is called, and its errors are named."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import pytest

from cchybrid.cli.app import run
from cchybrid.plugin.records import load_target
from cchybrid.plugin.registry import MODULES_VARIABLE, load_registry
from tests.python_process import run_python

PLUGIN = """
import typer
from cchybrid.plugin import CommandInfo, hookimpl

several = typer.Typer()

@several.command()
def inner():
    print("the inner one")

@several.callback()
def all_of_them():
    pass

def greet(name: str, times: int = 1):
    '''Say hello.'''
    print(*["hello", name] * times)

def fails():
    raise ValueError("no such luck")

def ends():
    raise typer.Exit(3)

number = 7

@hookimpl
def cchybrid_commands():
    return [
        CommandInfo("greet", f"{__name__}:greet", "Say hello.", group="Greetings"),
        CommandInfo("several", f"{__name__}:several", "More commands."),
        CommandInfo("fails", f"{__name__}:fails", "It fails."),
        CommandInfo("ends", f"{__name__}:ends", "It ends."),
        CommandInfo("absent", f"{__name__}:absent", "It is not there."),
        CommandInfo("number", f"{__name__}:number", "It is no command."),
        CommandInfo("solve", f"{__name__}:greet", "Taken."),
    ]
"""

Call = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def call(tmp_path, monkeypatch, capsys) -> Call:
    (tmp_path / "commanding.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(MODULES_VARIABLE, "commanding")

    def command(words: str) -> tuple[int, str, str]:
        status = run(words.split())
        return status, *capsys.readouterr()

    return command


@pytest.mark.parametrize(
    ("words", "status", "out"),
    [
        ("greet you", 0, "hello you\n"),
        ("greet you --times 2", 0, "hello you hello you\n"),
        ("several inner", 0, "the inner one\n"),
        ("ends", 3, ""),
    ],
)
def test_a_command_of_a_plugin_is_called(words, status, out, call):
    assert call(words) == (status, out, "")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("several", "Missing command; see: cchybrid several"),
        ("greet", "Missing argument"),
        ("greet you --times 1 --times 2", "--times: given twice; it has one value: drop one"),
        ("gret you", "No such command 'gret'; did you mean greet? see: cchybrid --help"),
        ("several iner", "No such command 'iner'; did you mean inner? see: cchybrid several"),
        ("fails", "plugin commanding: command fails failed: ValueError: no such luck"),
        ("absent", "plugin commanding: command absent failed: AttributeError: module"),
        ("number", "plugin commanding: command number failed: commanding:number is no function"),
    ],
)
def test_errors_are_one_line(words, line, call):
    status, out, err = call(words)
    assert (status, out) == (2, "")
    assert err.startswith(f"cchybrid: {line}")
    assert err.count("\n") == 1


def test_help_shows_commands_below_their_headings(call):
    lines = call("--help")[1].splitlines()
    headings = [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings[:4] == ["Options", "Solve", "Trust", "Networks and instances"]
    assert headings[-2:] == ["Greetings", "Commands of plugins"]
    row = next(number for number, line in enumerate(lines) if "Say hello." in line)
    assert lines[row - 1] == "Greetings:"


def test_help_shows_daily_options_first_and_every_option_in_one_piece(call):
    text = call("solve --help")[1]
    assert text.index("--time-limit") < text.index("Instance:") < text.index("Search:")
    for option in ("--ignore-attributes", "--first-schedule / --no-first-schedule", "--output"):
        assert re.search(rf"^  (-o, )?{option}\b", text, re.MULTILINE)


def test_without_words_the_commands_of_the_first_day_are_shown(call):
    lines = call("")[1].splitlines()
    shown = [line for line in lines if line.startswith("  cchybrid ")]
    known = load_registry().commands
    assert shown
    assert all(line.split()[1] in known for line in shown)
    assert max(map(len, lines)) <= 80


def test_a_name_that_is_taken_is_refused(call):
    out = " ".join(call("plugins")[1].split())
    assert "command solve is already provided by plugin" in out


def test_commands_are_imported_when_they_are_called():
    script = "import sys; from cchybrid.cli.app import run; run(['--help'])\n"
    script += "print(*[name for name in sys.modules if name.startswith('cchybrid.cli.')])"
    done = run_python("-c", script)
    loaded = done.stdout.splitlines()[-1].split()
    assert "cchybrid.cli.commands" in loaded
    assert "cchybrid.cli.solving" not in loaded


def test_every_command_has_a_text_that_begins_with_a_verb():
    for info in load_registry().commands.values():
        target = load_target(info.target)
        text = inspect.getdoc(target) if inspect.isfunction(target) else target.info.help
        assert text is not None
        assert text.split()[0].rstrip(",.") == info.summary.split()[0].rstrip(",."), info.name
