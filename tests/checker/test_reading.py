"""JSON texts that the checker reads."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import cchybrid
from cchybrid.checker.__main__ import main
from cchybrid.checker.reading import read_json
from cchybrid.model.errors import InputError


def test_json() -> None:
    assert read_json('{"a": [1, 2.5, -1e308, null, true, "x"], "b": {"a": 2}}') == {
        "a": [1, 2.5, -1e308, None, True, "x"],
        "b": {"a": 2},
    }
    assert math.isclose(read_json("0.1"), 0.1)
    for text, message in (
        ('{"a": 1, "a": 1}', "a key is listed twice in one object"),
        ('[{"a": 1, "b": 2, "a": 3}]', "a key is listed twice in one object"),
        ("[NaN]", "NaN is no number"), ("Infinity", "Infinity is no number"),
        ("-Infinity", "-Infinity is no number"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"^{message}$"):
            read_json(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"format": "a", "format": "cchybrid-schedule/1"}', '{"steps": NaN}', '{"a": -Infinity}',
        "[" * 100_000, '{"a":' * 100_000, "9" * 5000, "\ufeff{}",
        "", "\0", "{} {}", "'a'", '"\\ud800"x',
    ],
    ids=[
        "a key twice", "NaN", "infinity", "deep lists", "deep objects", "a long number", "a mark",
        "empty", "null", "two objects", "single quotes", "more after a text",
    ],
)  # fmt: skip
def test_texts_that_are_no_json_to_the_checker(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises((ValueError, RecursionError)):
        read_json(text)
    path = tmp_path / "a.json"
    path.write_text(text)
    assert main([str(path), str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "cannot be read" in err
    with pytest.raises(InputError):
        cchybrid.check(path, path)
