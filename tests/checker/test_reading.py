"""JSON texts that the checker reads."""

from __future__ import annotations

import math

import pytest

from cchybrid.checker.reading import read_json


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
