"""An option that takes one value is given once, in every command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from cchybrid.cli.app import app, run
from cchybrid.plugin.registry import load_registry


def options() -> Iterator[tuple[list[str], Any]]:
    """Yield the words of every command with each of its options."""

    def walk(words: list[str], command: Any) -> Iterator[tuple[list[str], Any]]:
        command = command.load() if hasattr(command, "load") else command
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk([*words, name], inner)
        if not hasattr(command, "commands"):
            for option in command.params:
                if option.param_type_name == "option" and option.name != "help":
                    yield words, option

    yield from walk([], typer.main.get_command(app))


ALL = list(options())
LONG = {id(option): max(option.opts, key=len) for _, option in ALL}
ONE = [(words, option) for words, option in ALL if not (option.multiple or option.is_flag)]


@pytest.mark.parametrize(
    ("words", "option"), ONE, ids=[f"{'-'.join(words)}{LONG[id(each)]}" for words, each in ONE]
)
def test_an_option_with_one_value_is_refused_if_given_twice(words, option, capsys):
    name = LONG[id(option)]
    short = min(option.opts, key=len)
    assert run([*words, name, "1", short, "2"]) == 2
    assert capsys.readouterr().err == f"cchybrid: {name}: given twice; it has one value: drop one\n"


def test_the_options_of_every_command_are_tried():
    assert len(ONE) > 40
    assert {words[0] for words, _ in ALL} >= set(load_registry().commands)
    assert {" ".join(words) for words, _ in ONE} >= {"solve", "bound", "prove"}


def test_what_may_be_repeated(tmp_path, capsys):
    path = str(tmp_path / "i.json")
    words = ["instance", "mesh-3x3", "OAB", "--fail-link", "0-1", "--fail-link", "3-4"]
    assert run([*words, "-o", path]) == 0
    assert run(["collectives", "--json", "--json"]) == 0
