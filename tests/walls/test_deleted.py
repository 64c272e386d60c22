"""A test is left out with an engine if it names the engine, and for no other reason."""

from tests.walls.deleted import TESTS, WITHOUT_PLUGINS, is_named, is_one, needs_no_plugin


def test_words_that_name_an_engine():
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


def test_what_is_left_out_behind_the_walls_knows_no_plugin():
    for folder in WITHOUT_PLUGINS:
        for path in (TESTS / folder).rglob("*.py"):
            assert needs_no_plugin(path)
            assert "cchybrid_plugins" not in path.read_text(), path
    assert not needs_no_plugin(TESTS / "plugins" / "engines" / "test_tabu.py")
    assert not needs_no_plugin(TESTS / "test_checker.py")
