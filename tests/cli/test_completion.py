"""Completion as shells ask for it: by environment variables; bash itself has a process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from cchybrid.cli.completion import paths, topologies
from cchybrid.plugin.option_names import option_names
from cchybrid.plugin.records import load_target
from cchybrid.plugin.registry import load_registry
from tests.cli.completed import check_names, variables

CHECKED = (sys.executable, "-c", "import sys; from cchybrid.cli import app\n"
           "try: app.run([])\n"
           "except SystemExit: pass\n"
           "print('\\n' + ' '.join({'numba', 'ortools', 'pandas'} & {*sys.modules}))")  # fmt: skip


def complete(words: str) -> str:
    """Return what bash is answered, and the slow modules that were imported."""
    done = subprocess.run(
        CHECKED, capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, **variables(words)},
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    ("words", "expected", "others"),
    [
        ("sol", "solve", "bound"),
        ("solve mesh", "mesh-4x4", "ring-bi-8"),
        ("solve mesh-4x4 all", "alltoall", "AAS"),
        ("solve mesh-4x4 aa", "aas", "oas"),
        ("solve mesh-4x4 AA", "AAS", "OAS"),
        ("solve mesh-4x4 AAS --engine c", "cpsat", "tabu"),
        ("solve mesh-4x4 AAS --strategy r", "relay", "auto"),
        ("solve mesh-4x4 AAS --option umda.p", "umda.population=", "tabu.patience="),
        ("solve mesh-4x4 AAS --option cp", "cpsat.", "umda."),
        ("solve mesh-4x4 AAS --ti", "--time-limit", "--threads"),
        ("engines um", "umda", "tabu"),
        ("topologies spi", "spidergon-16", "mesh-4x4"),
        ("warm-up ta", "tabu", "umda"),
    ],
)
def test_names_are_completed(words, expected, others, monkeypatch):
    check_names(words, expected, others, monkeypatch)


def test_files_are_completed_beside_names(tmp_path, monkeypatch):
    for name in ("mesh-mine.graphml", ".hidden", "other.json"):
        (tmp_path / name).touch()
    (tmp_path / "mesh folder").mkdir()
    (tmp_path / "mesh folder" / "a.gml").touch()
    monkeypatch.chdir(tmp_path)
    found = [word for word, _ in topologies("mesh")]
    assert {"mesh-4x4", "mesh-mine.graphml", "mesh folder/"} <= {*found}
    assert "other.json" not in found
    found = [word for word, _ in topologies("")]
    assert "other.json" in found
    assert ".hidden" not in found
    assert paths(f"{tmp_path}/oth") == [(f"{tmp_path}/other.json", "")]


@pytest.mark.slow
def test_nothing_slow_is_imported():
    *found, modules = complete("solve x --option cp").splitlines()
    assert found
    assert modules == ""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_with_the_script_that_is_installed(tmp_path):
    tool = tmp_path / "bin" / "cchybrid"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cchybrid "$@"\n')
    tool.chmod(0o755)
    script = """
cchybrid --install-completion > /dev/null
source ~/.bashrc
complete -p cchybrid
COMP_WORDS=(cchybrid solve spider) COMP_CWORD=2
_cchybrid_completion cchybrid
echo "${COMPREPLY[@]}"
"""
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "HOME": str(tmp_path), "PATH": f"{tool.parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "spidergon-16", done.stderr
    assert "_cchybrid_completion" in done.stdout


def test_option_names_are_those_of_the_classes():
    """The target of every engine and designer, compared with its class after an import."""
    import dataclasses

    registry = load_registry()
    for info in (*registry.engines.values(), *registry.designers.values()):
        real = [field.name for field in dataclasses.fields(load_target(info.target).Options)]
        assert option_names(info.target) == real, info.name


@pytest.mark.parametrize("target", ["no.such.module:Engine", "json:NoClass", "math:pi"])
def test_option_names_that_no_source_says(target):
    assert option_names(target) is None
