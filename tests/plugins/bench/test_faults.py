"""Faults of the machine during benchmarks: kills, signals, a jumping clock, a read-only store."""

from pathlib import Path

import pytest

from tests.faults.conftest import _alone  # noqa: F401
from tests.faults.processes import call, gone
from tests.faults.test_disks import read_only
from tests.faults.test_shortages import jumping

pytestmark = pytest.mark.faults

ONE = 'name = "one"\n[[rows]]\ntopology = "ring-bi-4"\ncollective = "AAS"\n'


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
