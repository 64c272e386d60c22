"""Suites of throughputs: rows, jobs, the store, and a report that checks every record again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cchybrid_plugins.bench.checking import check_suite, stored_suite
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.suite import Suite

from cchybrid.library.topologies import network
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.local_runs import fill, made, suite_of

if "throughputs" not in load_registry().benchmarks:
    pytest.skip("no plugin has throughputs", allow_module_level=True)

KIND = load_registry().benchmark("throughputs")
TABLE = """topology,collective,rounds_per_chunk,source,note
ring-bi-4,allgather,3/2,a paper,
ring-bi-4,AAS,3,a paper,too many
dgx-1,AAB,1,a paper,too few
mesh-2x2,AAB,,,
"""


@pytest.fixture(name="suite")
def _suite(tmp_path: Path) -> Suite:
    (tmp_path / "mine.csv").write_text(TABLE)
    return suite_of(tmp_path, 'about = "x"\n[[throughputs]]\nfile = "mine.csv"\n')


@pytest.fixture(name="store")
def _store(suite: Suite, tmp_path: Path) -> Path:
    """Return a store with a run of every row."""
    runs = (made("throughputs", row, Contestant()) for row in suite.rows)
    return fill(tmp_path / "mine.sqlite", suite, runs)


def test_files_are_those_of_their_names_beside_the_suite(tmp_path: Path) -> None:
    for file, name in (("Net.json", "mesh-1x3"), ("net.json", "complete-3")):
        record = {"format": "cchybrid-network/1", "network": network(name).to_json()}
        (tmp_path / file).write_text(json.dumps(record))
    toml = '[[throughputs]]\ntopology = "./Net.json"\ncollective = "AAB"\n'
    [row] = suite_of(tmp_path, toml).rows
    assert row.name == "Net.json AAB throughput"
    registry = load_registry()
    assert len(KIND.resolved(row.name, row.spec, registry).network.channels) == 4


def test_a_report_compares_with_what_was_published(store: Path) -> None:
    registry = load_registry()
    checked = check_suite(store, stored_suite(store, None, registry), registry)
    table = KIND.report(checked, None, registry).table
    assert [line["verdict"] for line in table] == ["equal", "better", "impossible", "new"]
    assert [line["ours"] for line in table] == ["3/2", "2", "7/6", "3/2"]
    assert {line["proof"] for line in table} == {"yes"}


def test_the_progress_rests_on_what_is_checked_alone() -> None:
    result = {"rounds_per_chunk": "9", "bound": "3/2", "certified": True}
    assert KIND.words(result) == "9 rounds per chunk, at least 3/2"


@pytest.mark.parametrize(
    ("table", "error"),
    [
        ("topology,collective,chunks\na,b,3", "has no 'chunks'"),
        ("topology,collective\nring-bi-4,", "without a collective"),
        ("topology,collective,rounds_per_chunk\nring-bi-4,AAB,1.5", "no fraction"),
        ("topology,collective,rounds_per_chunk\nring-bi-4,AAB,1/0", "no fraction"),
        ("topology,collective\nring-bi-4,AAB\nring-bi-4,allgather", "two rows"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, table: str, error: str) -> None:
    (tmp_path / "bad.csv").write_text(table)
    with pytest.raises(InputError, match=error):
        suite_of(tmp_path, '[[throughputs]]\nfile = "bad.csv"\n')
