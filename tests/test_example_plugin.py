"""The example plugin does what its page says: installed as a user would, from its own project."""

import json
import os
import re
import shutil
import site
import subprocess
import venv
from pathlib import Path

import pytest

from cchybrid.plugin.registry import load_registry
from tests.python_process import run_python
from tests.test_layers import SURFACE

EXAMPLE = Path(__file__).parents[1] / "docs" / "example-plugin"


class Environment:
    """A virtual environment that sees this one's packages, and what is installed into it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder, with_pip=False)
        self.python = folder / "bin" / "python"
        packages = next(folder.glob("lib/python*/site-packages"))
        # addsitedir, because an editable cchybrid is itself found by a .pth file.
        lines = [f"import site; site.addsitedir({path!r})" for path in site.getsitepackages()]
        (packages / "outer.pth").write_text("\n".join(lines) + "\n")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run this environment's Python, far from the checkout."""
        dropped = ("PYTHONPATH", "CCHYBRID_PLUGINS", "PYTEST_ADDOPTS")
        environment = {key: value for key, value in os.environ.items() if key not in dropped}
        return subprocess.run(
            [str(self.python), *arguments],
            capture_output=True, text=True, timeout=300, check=False,
            cwd=self.folder, env=environment,
        )  # fmt: skip

    def pip(self, *arguments: str) -> None:
        done = self.run("-m", "pip", "--disable-pip-version-check", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr

    def cchybrid(self, *arguments: str) -> str:
        done = self.run("-m", "cchybrid", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A copy of the project: a build leaves traces."""
    return Path(shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("example") / "project"))


@pytest.fixture(scope="module")
def environment(project) -> Environment:
    made = Environment(project.parent / "venv")
    made.pip("install", "--no-index", "--no-deps", "--no-build-isolation", str(project))
    return made


@pytest.mark.long
def test_it_solves_next_to_the_other_engines(environment):
    out = environment.cchybrid(
        "solve", "ring-bi-8", "AAS", "--engine", "greedy", "--json", "--time-limit", "30",
        "--option", "greedy.patience=50", "-o", "schedule.json",
    )  # fmt: skip
    result = json.loads(out)
    assert result["engine"] == "greedy"
    assert 8 <= result["steps"] <= 12
    assert (result["lower_bound"], result["certified"]) == (8, True)
    assert result["troubles"] == []
    checked = json.loads(environment.cchybrid("verify", "schedule.json", "--json"))
    assert checked["valid"]


@pytest.mark.long
def test_it_is_listed(environment):
    assert "greedy list scheduling" in environment.cchybrid("engines")
    assert "--option greedy.tries=4" in environment.cchybrid("engines", "greedy")
    shown = " ".join(environment.cchybrid("plugins").split())
    assert "greedy cchybrid-greedy 0.1.0 ok engine greedy" in shown
    code = "from cchybrid.plugin.registry import load_registry as load; print(*[load().engine(n)"
    done = environment.run("-c", f"{code}.external for n in ('greedy', 'tabu', 'rounds')])")
    assert done.stdout.split() == ["True", "False", "False"]


@pytest.mark.long
def test_its_own_tests_pass(environment, project):
    done = environment.run("-m", "pytest", "-q", "-p", "no:cacheprovider", str(project))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d{3} passed", done.stdout, re.MULTILINE)


@pytest.mark.long
def test_uninstalled_it_is_gone(environment, project):
    assert "greedy" not in load_registry().engines
    second = Environment(project.parent / "second")
    second.pip("install", "--no-index", "--no-deps", "--no-build-isolation", str(project))
    assert "greedy" in second.cchybrid("plugins")
    second.pip("uninstall", "--yes", "cchybrid-greedy")
    assert "greedy" not in second.cchybrid("plugins")


def layers(path: Path) -> set[str]:
    """Return the packages of cchybrid that a file imports, the whole of it as an empty name."""
    text = path.read_text()
    return {
        found[1] or ""
        for found in re.finditer(r"^ *(?:from|import) cchybrid\b\.?(\w+)?", text, re.M)
    }


def test_it_uses_the_public_surface_only():
    for path in (EXAMPLE / "cchybrid_greedy").glob("*.py"):
        assert layers(path) <= SURFACE, path


def test_registering_imports_nothing_heavy():
    assert layers(EXAMPLE / "cchybrid_greedy" / "__init__.py") == {"plugin"}


@pytest.mark.long
def test_the_code_of_the_tutorial_works(tmp_path, monkeypatch, capsys):
    page = EXAMPLE.parent / "plugin-tutorial.md"
    first, second, tests, local = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    (tmp_path / "my_engine.py").write_text(first)
    assert "found by mine" in solve_by_mine(tmp_path, "ring-bi-8", "AAS")
    (tmp_path / "my_engine.py").write_text(second)
    options = ("--option", "mine.tries=5")
    assert "found by mine" in solve_by_mine(tmp_path, "spidergon-12", "AAS", *options)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CCHYBRID_PLUGINS", "my_engine")
    assert 'conformance_cases("mine")' in tests
    exec(tests, {})
    exec(local, {})
    assert capsys.readouterr().out.strip().isdigit()


def solve_by_mine(folder: Path, *words: str) -> str:
    """Solve with the engine of the tutorial, as a reader would, and return the output."""
    done = run_python(
        "-m",
        "cchybrid",
        "solve",
        *words,
        "--engine",
        "mine",
        cwd=folder,
        PYTHONPATH=".",
        CCHYBRID_PLUGINS="my_engine",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
