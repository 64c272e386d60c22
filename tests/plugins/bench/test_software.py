"""Runs of an engine whose code has changed are other runs."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cchybrid_plugins.bench.checking import check
from cchybrid_plugins.bench.contestant import Contestant, labels, software_of
from cchybrid_plugins.bench.store import Store

from cchybrid.plugin import software
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.small_suites import schedules

ENGINE = '''
from cchybrid.plugin.engine import EngineInfo, Stop
from cchybrid.plugin.hookspecs import hookimpl
from tests.faulty_engines import Sound

class Mine(Sound):
    """First fit."""

@hookimpl
def cchybrid_engines():
    return [EngineInfo("mine", f"{__name__}:Mine", "first fit")]
'''
BOUNDS = """
from cchybrid.plugin.records import BoundInfo

@hookimpl
def cchybrid_bounds():
    return [BoundInfo("mine-too", f"{__name__}:none", "no bound")]
"""
SUITE = 'name = "one"\n[[rows]]\ntopology = "ring-bi-4"\ncollective = "AAS"\n'


def ran(folder: Path) -> str:
    path = os.pathsep.join((str(folder), str(Path(__file__).parents[3])))
    done = subprocess.run(
        [sys.executable, "-m", "cchybrid", "bench", "run", "one.toml", "--engine", "mine"],
        cwd=folder, capture_output=True, text=True, check=True, timeout=240,
        env={**os.environ, "PYTHONPATH": path, "CCHYBRID_PLUGINS": "mine_engine"},
    )  # fmt: skip
    return done.stdout


@pytest.mark.long
def test_a_changed_engine_is_run_again_and_both_runs_are_kept(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(SUITE)
    (tmp_path / "mine_engine.py").write_text(ENGINE)
    assert "stored before" not in ran(tmp_path)
    assert "stored before, and verified again: 1 run" in ran(tmp_path)
    (tmp_path / "mine_engine.py").write_text(ENGINE + "# changed\n")
    assert "stored before" not in ran(tmp_path)
    with Store(tmp_path / "one.sqlite") as store:
        runs = list(store.runs())
    assert [run.failure for run in runs] == ["", ""]
    assert len({run.result["versions"]["engine mine"] for run in runs}) == 2
    assert sorted(labels(run.contestant for run in runs).values()) == sorted(
        f"mine, software {run.contestant.software[:6]}" for run in runs
    )
    assert labels([Contestant(("mine",)), runs[0].contestant])[Contestant(("mine",)).key] == (
        "mine, software unknown"
    )


def test_the_software_is_that_of_the_engines_that_take_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registry = load_registry()
    kind = registry.benchmark("schedules")
    before = {name: software_of(kind, [name], registry) for name in ("colouring", "lns")}
    digest = software.digest_of_code
    changed = {registry.engine("lns").target.partition(":")[0]: "changed"}
    monkeypatch.setattr(software, "digest_of_code", lambda m: changed.get(m) or digest(m))
    assert software_of(kind, ["colouring"], registry) == before["colouring"]
    assert software_of(kind, ["lns"], registry) != before["lns"]


@pytest.mark.parametrize(("more", "counts"), [("", False), (BOUNDS, True)])
def test_a_module_of_engines_is_software_of_their_teams_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str, counts: bool
) -> None:
    name = f"changing_engine_{counts}".lower()
    path = tmp_path / f"{name}.py"
    path.write_text(ENGINE + more)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CCHYBRID_PLUGINS", name)
    registry = load_registry()
    kind = registry.benchmark("schedules")
    teams: list[list[str]] = [[], ["colouring"], ["mine"], ["colouring", "mine"]]
    before = [software_of(kind, team, registry) for team in teams]
    path.write_text(ENGINE + more + "# changed\n")
    after = [software_of(kind, team, registry) for team in teams]
    changed = [one != other for one, other in zip(before, after, strict=True)]
    assert changed == [counts, counts, True, True]


def test_a_run_of_other_software_than_its_key_says_does_not_count() -> None:
    kind = load_registry().benchmark("schedules")
    run, row = schedules().runs[0], schedules().suite.rows[0]
    for digest, held in ((run.result["software"], True), ("000000000000", False)):
        own = replace(run, contestant=replace(run.contestant, software=digest))
        found = check(own, row, kind, run.result["digest"])
        assert found.held == held
        assert held or "its software is" in found.failure
