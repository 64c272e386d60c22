"""Modules in the current folder that are called like ours, or like what we use, do not run."""

from __future__ import annotations

import pytest

from tests.cli.test_proving import save
from tests.python_process import run_python

TRAPS = ("pysolvers", "pysat", "numpy", "numba", "ortools", "networkx", "typer", "cchybrid_plugins")


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "safe"), [("prove s.json", ("-P",)), ("solve ring-bi-4 AAS --engine cpsat", ())]
)
def test_no_module_of_the_current_folder_runs(words, safe, tmp_path):
    """With -P as the installed script; without it as ``python -m cchybrid``."""
    save(tmp_path / "s.json", "mesh-3x3", "OAB", root=0)
    for name in TRAPS:
        (tmp_path / f"{name}.py").write_text(
            f"open({str(tmp_path / 'sprung')!r}, 'a').write('{name} ')\nraise ImportError"
        )
    done = run_python(*safe, "-m", "cchybrid", *words.split(), cwd=tmp_path)
    assert not (tmp_path / "sprung").exists(), (tmp_path / "sprung").read_text()
    assert done.returncode == (1 if "prove" in words else 0), done.stderr
    if "prove" in words:  # CaDiCaL did its work
        assert "there is a schedule of" in done.stdout
