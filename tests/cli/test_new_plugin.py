"""`new-plugin` writes projects that pass their own tests, and refuses what it cannot name."""

from pathlib import Path

import pytest

from tests.python_process import run_python

ROOT = Path(__file__).parents[2]


def new_plugin(folder: Path, *words: str) -> list[str]:
    """Return the lines of `cchybrid new-plugin` on standard error."""
    return run_python("-m", "cchybrid", "new-plugin", *words, cwd=folder).stderr.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["engine", "topology", "bound", "command"])
def test_a_new_project_passes_its_tests(kind, tmp_path):
    assert not new_plugin(tmp_path, "my-first", f"--{kind}")
    project = tmp_path / "cchybrid-my-first"
    for words in (["format", "--check"], ["check"]):
        done = run_python("-m", "ruff", *words, "--no-cache", ".", cwd=project)
        assert done.returncode == 0, done.stdout
    words = ["-q", "-p", "no:cacheprovider", "-m", "not long", "-k", "not conformance"]
    if kind == "engine":  # its conformance is tested with that of the example plugin
        words[-1] = "not conformance or single or options"
    found = {"PYTHONPATH": str(project), "CCHYBRID_PLUGINS": "cchybrid_my_first"}
    done = run_python("-m", "pytest", *words, cwd=project, **found)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_example_is_what_it_writes(tmp_path):
    new_plugin(tmp_path, "greedy", "--engine")
    example, written = ROOT / "docs" / "example-plugin", tmp_path / "cchybrid-greedy"
    files = [path.relative_to(written) for path in written.rglob("*") if path.is_file()]
    assert len(files) == 5
    for path in files:
        assert (example / path).read_text() == (written / path).read_text(), path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (
            ["Mine", "--engine"],
            "'Mine' is no name; use up to 64 small letters, digits and single hyphens",
        ),
        (["a" * 300, "--engine"], f"'{'a' * 64}' is no name; use up to 64 small letters"),
        (["../mine", "--engine"], "'../mine' is no name"),
        (["mesh", "--topology"], "mesh is in use; choose another name"),
        (["solve", "--command"], "solve is in use; choose another name"),
        (["prover", "--bound"], "prover is in use"),
        (["instances", "--bound"], "instances is in use"),
        (["there", "--bound"], "cchybrid-there exists"),
        (["mine"], "it is of one kind; give one of --engine, --topology, --bound, --command"),
        (["mine", "--engine", "--bound"], "it is of one kind"),
    ],
)
def test_what_it_refuses(words, refusal, tmp_path):
    (tmp_path / "cchybrid-there").mkdir()
    (line,) = new_plugin(tmp_path, *words)
    assert refusal in line
    assert [path.name for path in tmp_path.iterdir()] == ["cchybrid-there"]


def test_a_wheel_has_the_templates():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["cchybrid"]
    templates = {*(ROOT / "cchybrid" / "cli" / "templates").iterdir()}
    matched = {path for pattern in patterns for path in (ROOT / "cchybrid").glob(pattern)}
    assert templates <= matched
    assert len(templates) == 14
