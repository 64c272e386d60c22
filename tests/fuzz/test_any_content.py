"""Files of any content, drawn by hypothesis: every reader answers with a value, or one line."""

import contextlib
import json
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.fuzz.child import answer
from tests.fuzz.mutators import mutate_json
from tests.fuzz.reader import Reader
from tests.fuzz.readers import READERS
from tests.fuzz.run import CLEAN, SECONDS

MAX_BYTES = 20_000
"""Size of the seed files whose words and keys are used."""


@cache
def contents(chosen: Reader) -> st.SearchStrategy[bytes]:
    """Return files of any bytes, of the words of the seeds, and of their keys and values."""
    seeds = [seed for seed in chosen.seeds() if len(seed) <= MAX_BYTES]
    text = "\n".join(seed.decode(errors="replace") for seed in seeds)
    words = sorted(set(re.findall(r"\w+|\s+|[^\w\s]", text))) or [""]  # an SQLite file has none
    some = st.lists(st.sampled_from(words) | st.text(max_size=3), max_size=30).map("".join)
    found = st.binary(max_size=100) | some.map(lambda each: each.encode(errors="surrogatepass"))
    if chosen.mutate is mutate_json:
        trees = st.sampled_from([json.loads(seed) for seed in seeds])
        found |= trees.flatmap(_changed).map(lambda tree: json.dumps(tree).encode())
    return found


_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def _changed(tree: Any) -> st.SearchStrategy[Any]:
    """Return trees that differ from a tree at one place, or lack what is there."""
    other: st.SearchStrategy[Any]
    lacks: st.SearchStrategy[Any]
    if isinstance(tree, dict) and tree:
        keys = st.sampled_from(sorted(tree))
        other = keys.flatmap(
            lambda key: _changed(tree[key]).map(lambda value: {**tree, key: value})
        )
        lacks = keys.map(lambda key: {k: v for k, v in tree.items() if k != key})
        return other | lacks | _VALUES
    if isinstance(tree, list) and tree:
        places = st.integers(0, len(tree) - 1)
        other = places.flatmap(
            lambda n: _changed(tree[n]).map(lambda value: [*tree[:n], value, *tree[n + 1 :]])
        )
        lacks = places.map(lambda n: [*tree[:n], *tree[n + 1 :]])
        return other | lacks | _VALUES
    return _VALUES


@pytest.mark.parametrize("chosen", READERS, ids=lambda chosen: chosen.name)
@settings(
    max_examples=examples(20), deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip
@given(data=st.data())
def test_any_content_has_a_clean_answer(chosen: Reader, data: st.DataObject) -> None:
    content = data.draw(contents(chosen))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        path = Path(folder) / "input" / f"input{chosen.suffix}"
        path.parent.mkdir()
        path.write_bytes(content)
        record = answer(chosen, path, SECONDS)
    assert record["outcome"] in CLEAN, record
