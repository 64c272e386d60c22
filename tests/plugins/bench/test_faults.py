"""Faults of the machine during benchmarks: kills, signals, a jumping clock, a read-only store."""

import contextlib
import random
import signal
import time
from pathlib import Path

import pytest
from cchybrid_plugins.bench.store import Store

from cchybrid.model.errors import InputError
from tests.faults.conftest import _alone  # noqa: F401
from tests.faults.processes import LATE_SECONDS, call, gone, start, until, workers
from tests.faults.test_disks import read_only
from tests.faults.test_kills import kill
from tests.faults.test_shortages import jumping
from tests.faults.test_signals import ENDING

pytestmark = pytest.mark.faults

TWO = """
name = "two"
[[rows]]
topology = ["ring-bi-4", "mesh-4x4"]
collective = "AAS"
"""
ONE = 'name = "one"\n[[rows]]\ntopology = "ring-bi-4"\ncollective = "AAS"\n'


@pytest.mark.parametrize("seed", range(3))
def test_a_kill(tmp_path: Path, seed: int) -> None:
    """Finished runs are kept; the same command goes on."""
    (tmp_path / "two.toml").write_text(TWO)
    words = "bench run two.toml --engine scatter --engine sound-1 --time-limit 2"
    words += " --jobs 2 --threads 1"
    process = start(words, tmp_path)
    until(workers, process=process)
    time.sleep(random.Random(seed).uniform(0.0, 3.0))
    kill(process)
    if seed == 0:
        status, _, err = call(words, tmp_path)
        assert status == 0, err


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_keeps_the_finished_runs(tmp_path: Path, number: signal.Signals) -> None:
    """Of two runs the first ends by itself; the second would go on for minutes."""
    (tmp_path / "two.toml").write_text(TWO)
    words = "bench run two.toml --engine sound-1 --engine good-1 --time-limit 300 --jobs 1"
    process = start(f"{words} --store s.sqlite", tmp_path)

    def finished() -> int:
        if not (tmp_path / "s.sqlite").exists():
            return 0
        # The file is there before its tables are.
        with contextlib.suppress(InputError), Store(tmp_path / "s.sqlite") as opened:
            return sum(opened.run_counts().values())
        return 0

    until(finished, process=process)
    until(workers, process=process)
    process.send_signal(number)
    _, err = process.communicate(timeout=LATE_SECONDS)
    assert process.returncode == 1, err
    assert "interrupted; the same command continues" in err
    assert finished()
    gone()


def test_a_clock_that_jumps(tmp_path: Path) -> None:
    """The time of day jumps by hours and decades at every look, in all processes."""
    environment = jumping(tmp_path)
    (tmp_path / "one.toml").write_text(ONE.replace("ring-bi-4", "mesh-4x4"))
    words = "bench run one.toml --engine sound-1 --time-limit 60 --store s.sqlite"
    status, _, err = call(words, tmp_path, env=environment)
    assert status == 0, err
    status, _, err = call(words, tmp_path, env=environment)  # the store holds the run
    assert (status, "[1/1]" in err) == (0, False), err
    assert "Traceback" not in err
    assert (tmp_path / "jumps").read_text().count("\n") >= 2  # host and workers
    gone()


def test_a_read_only_store(tmp_path: Path) -> None:
    """The store can be read, and not written to."""
    folder, writable = tmp_path / "folder", tmp_path / "writable"
    folder.mkdir()
    writable.mkdir()
    (folder / "one.toml").write_text(ONE)
    status, _, err = call("bench run one.toml --engine sound-1 --store old.sqlite", folder)
    assert status == 0, err
    with read_only(folder, writable) as run:
        status, _, err = run(
            "bench run one.toml --engine sound-1 --time-limit 9 --store old.sqlite"
        )
        assert status == 2
        assert "old.sqlite: cannot be used as a store" in err
        status, _, err = run("bench report old.sqlite")
        assert status == 2
        assert "cannot be written" in err
        status, _, err = run(f"bench report old.sqlite -o {writable / 'report'}")
        assert status == 0, err
        assert (writable / "report" / "report.md").exists()
