"""The commands ``bench``: what has no use is refused, names are suggested and completed."""

from __future__ import annotations

from pathlib import Path

import pytest

from cchybrid.cli.app import run
from tests.cli.completed import check_names


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("bench rnu smoke", "did you mean run? see: cchybrid bench --help"),
        ("bench run smoke --engin tabu", "did you mean --engine? see: cchybrid bench run --help"),
        ("bench run smok", "did you mean smoke?"),
        ("bench run smoke --shards 3", "--shards: there is no script; add --slurm FILE"),
        ("bench run smoke --jobs 1 --jobs 2", "--jobs: given twice; it has one value: drop one"),
        ("bench merge a b -o c --output d", "--output: given twice; it has one value: drop one"),
    ],
)  # fmt: skip
def test_wrong_words_are_refused_in_one_line(
    words: str, line: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run(words.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert line in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "expected", "others"),
    [
        ("ben", "bench", "solve"),
        ("bench run th", "thesis", "smoke"),
        ("bench run smoke --engine umda+c", "umda+cpsat", "umda+tabu"),
    ],
)
def test_names_are_completed(
    words: str, expected: str, others: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_names(words, expected, others, monkeypatch)
