"""Suites on a Dask cluster: nothing is lost, nothing is counted twice, whichever worker dies."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.bench.test_runner import content
from tests.host.cluster.dask_processes import dask_processes, wait_for

SUITE = """
name = "sixty"
[[rows]]
topology = [{topologies}]
collective = ["AAS", "AAB", "OAB", "OAS", "AOG", "AOR"]
"""
COMMAND = ("--engine", "colouring", "--evaluations", "20")


def write_suite(folder: Path, sizes: range) -> None:
    topologies = ", ".join(f'"ring-bi-{size}"' for size in sizes)
    (folder / "sixty.toml").write_text(SUITE.format(topologies=topologies))


class SuiteRun:
    """A ``bench run`` whose lines on standard error are counted while it works."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cchybrid", "bench", "run", "sixty.toml", *COMMAND, *words],
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


@pytest.mark.long
@pytest.mark.parametrize("sizes", [range(4, 5), range(4, 14)], ids=["6 rows", "60 rows"])
def test_two_workers_are_killed_and_the_store_is_the_same(tmp_path: Path, sizes: range) -> None:
    write_suite(tmp_path, sizes)
    rows = 6 * len(sizes)
    with dask_processes(tmp_path, 2) as cluster:
        run = SuiteRun(tmp_path, "--cluster", str(cluster.file), "--store", "cluster.sqlite")
        try:
            wait_for(lambda: run.reaches(rows // 6), "no run is done")
            cluster.preempt(0)
            cluster.start_worker()
            wait_for(lambda: run.reaches(rows // 2), "no further run is done")
            cluster.kill_worker_process(1)
            status = run.end()
        finally:
            run.process.kill()
    assert status == 0, run.lines
    assert run.done == rows, "each run has one line"
    calm = SuiteRun(tmp_path, "--jobs", "2", "--store", "calm.sqlite")
    assert calm.end() == 0, calm.lines
    found = content(tmp_path / "cluster.sqlite")
    assert len(found) == rows
    assert found == content(tmp_path / "calm.sqlite")
