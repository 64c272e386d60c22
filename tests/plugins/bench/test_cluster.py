"""Suites on a Dask cluster: nothing is lost, nothing is counted twice, whichever worker dies."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from cchybrid_plugins.bench.checking import check_suite, stored_suite

from cchybrid.plugin.registry import load_registry
from tests.host.running_jobs import wait_for
from tests.plugins.bench.test_runner import content

processes = pytest.importorskip("tests.plugins.cluster.dask_processes")
SUITE = """
name = "rings"
[[rows]]
topology = [{topologies}]
collective = ["AAB", "AAR", "OAS", "AOG"]
"""
REPEATABLE = ("--engine", "colouring", "--evaluations", "20")
QUICK = ("--time-limit", "600")
"""Ends at once on these rows, as the host's greedy schedule meets the cheapest bounds."""


def write_suite(folder: Path, sizes: range) -> None:
    topologies = ", ".join(f'"ring-bi-{size}"' for size in sizes)
    (folder / "rings.toml").write_text(SUITE.format(topologies=topologies))


class SuiteRun:
    """A ``bench run`` whose lines on standard error are counted while it works."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cchybrid", "bench", "run", "rings.toml", *words],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.lines.extend(iter(self.process.stderr.readline, ""))

    @property
    def done(self) -> int:
        return sum(line.startswith("[") for line in self.lines)

    def reaches(self, runs: int) -> bool:
        return self.done >= runs or self.process.poll() is not None

    def end(self) -> int:
        status = self.process.wait(1200)
        self._reader.join()
        return status


def verified_rows(path: Path) -> dict[tuple[str, str, int], object]:
    """Return what a store says of its rows, schedules and evidence checked again."""
    names = ("steps", "lower_bound", "certified")
    registry = load_registry()
    found = check_suite(path, stored_suite(path, None, registry), registry).all_runs
    assert [each.line for each in found if each.failure] == []
    return {each.run.key: [each.found[name] for name in names] for each in found}


@pytest.mark.long
@pytest.mark.parametrize(
    ("sizes", "command", "contents"),
    [(range(4, 6), REPEATABLE, content), (range(4, 19), QUICK, verified_rows)],
    ids=["8 rows", "60 rows"],
)
def test_two_workers_are_killed_and_the_store_is_the_same(
    tmp_path: Path,
    sizes: range,
    command: tuple[str, ...],
    contents: Callable[[Path], dict[tuple[str, str, int], object]],
) -> None:
    write_suite(tmp_path, sizes)
    rows = 4 * len(sizes)
    with processes.dask_processes(tmp_path, 2) as cluster:
        words = ("--cluster", str(cluster.file), "--store", "cluster.sqlite")
        run = SuiteRun(tmp_path, *command, *words)
        try:
            wait_for(lambda: run.reaches(rows // 6), "no run is done")
            cluster.preempt(0)
            cluster.start_worker()
            wait_for(lambda: run.reaches(rows // 2), "no further run is done")
            assert run.done < rows, "killed too late"
            cluster.kill_worker_process(1)
            status = run.end()
        finally:
            run.process.kill()
    assert status == 0, run.lines
    assert run.done == rows, "each run has one line"
    calm = SuiteRun(tmp_path, *command, "--jobs", "2", "--store", "calm.sqlite")
    assert calm.end() == 0, calm.lines
    found = contents(tmp_path / "cluster.sqlite")
    assert len(found) == rows
    assert found == contents(tmp_path / "calm.sqlite")
