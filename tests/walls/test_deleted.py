"""A test is left out with an engine if it names the engine, and for no other reason."""

from pathlib import Path

import pytest

from tests.walls.deleted import (
    TESTS,
    WITHOUT_PLUGINS,
    imports_one,
    is_named,
    is_one,
    needs_no_plugin,
    texts_of,
)

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
def path(tmp_path) -> Path:
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
def test_the_texts_of_a_test(path, name, texts):
    assert list(texts_of(path, name)) == texts


def test_words_that_name_an_engine(path):
    for text in (
        "solve ring-bi-4 AAS --engine tabu+lns", "--option tabu.draws=3", "engines=['tabu'])",
        "TABU", "did you mean tabu?",
    ):  # fmt: skip
        assert is_named(text, ["lns", "tabu"])
    for text in ("tests.toolkit.tabu_search", "tabulate", "solve mesh-4x4 broadcast"):
        assert not is_named(text, ["tabu", "broadcast"])
    assert not is_named("solve ring-bi-4 AAS", [])
    deleted = ["broadcast", "random_search"]
    given = ("broadcast/reach=-1", "random", "tabu", "")
    assert [is_one(words, deleted) for words in given] == [True, True, False, False]
    assert imports_one(path, ["tabu", "umda"])
    assert not imports_one(path, ["um", "tabu"])
    assert not imports_one(path, [])


def test_what_is_left_out_behind_the_walls_knows_no_plugin():
    for folder in WITHOUT_PLUGINS:
        for path in (TESTS / folder).rglob("*.py"):
            assert needs_no_plugin(path)
            assert "cchybrid_plugins" not in path.read_text(), path
    assert not needs_no_plugin(TESTS / "plugins" / "engines" / "test_tabu.py")
    assert not needs_no_plugin(TESTS / "test_checker.py")
