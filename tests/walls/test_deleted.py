"""A test is left out with an engine if it names the engine, and for no other reason."""

from pathlib import Path

import pytest

from tests.walls.deleted import imports_one, is_named, is_one, texts_of

FILE = '''
"""The tabu search."""
import pytest
from cchybrid_plugins.engines.umda import engine
ENGINE = "cpsat"
def helper():
    """Return what tabu finds."""
    return ENGINE
def test_plain():
    """Nothing of tabu."""
    assert "broadcast" in "a broadcast"
def test_by_a_helper():
    assert helper()
def test_by_words():
    run("solve ring-bi-4 AAS --engine tabu+lns")
@pytest.mark.parametrize("name", ["mesh", "umda.draws=3", "--engine=lns"])
def test_of_each(name):
    assert name
'''


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (found := tmp_path / "test_some.py").write_text(FILE)
    return found


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("test_plain", ["broadcast", "a broadcast"]),
        ("test_by_a_helper", ["cpsat"]),
        ("test_by_words", ["solve ring-bi-4 AAS --engine tabu+lns"]),
        ("test_of_each", []),
    ],
)
def test_the_texts_of_a_test(path: Path, name: str, texts: list[str]) -> None:
    assert list(texts_of(path, name)) == texts


def test_an_import_of_an_engine(path: Path) -> None:
    assert imports_one(path, ["tabu", "umda"])
    assert not imports_one(path, ["um", "tabu"])
    assert not imports_one(path, [])


@pytest.mark.parametrize(
    ("text", "engines", "named"),
    [
        ("solve ring-bi-4 AAS --engine tabu+lns", "lns", True),
        ("--option umda.draws=3", "tabu umda", True),
        ("solve('ring-bi-4', engines=['cpsat'])", "cpsat", True),
        ("TABU", "tabu", True),
        ("did you mean tabu?", "tabu", True),
        ("tests.toolkit.tabu_search", "tabu", False),
        ("tabulate", "tabu", False),
        ("solve mesh-4x4 broadcast", "broadcast", False),
        ("solve ring-bi-4 AAS", "", False),
    ],
)
def test_words_that_name_an_engine(text: str, engines: str, named: bool) -> None:
    assert is_named(text, engines.split()) == named


def test_a_parameter_that_is_an_engine() -> None:
    deleted = ["broadcast", "random_search"]
    assert [is_one(words, deleted) for words in ("broadcast/reach=-1", "random", "tabu", "")] == [
        True, True, False, False
    ]  # fmt: skip
