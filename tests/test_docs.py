"""README and docs tell the truth: every command is run, every example is loaded."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cchybrid.model import Instance
from cchybrid.plugin.hookspecs import HookSpecs
from cchybrid.plugin.registry import load_registry
from cchybrid.referee.verify import RULES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
HOOKS = sorted(name for name in vars(HookSpecs) if name.startswith("cchybrid_"))


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page", [p for p in PAGES if "```console" in p.read_text()], ids=lambda page: page.name
)
def test_every_command_runs(page: Path, tmp_path: Path) -> None:
    """The commands of a page run one after another in one folder, as a reader would do it."""
    tool = tmp_path / "bin"
    tool.mkdir()
    (tool / "cchybrid").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cchybrid "$@"\n')
    (tool / "cchybrid").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tool}:{os.environ['PATH']}"}
    for block in blocks(page.read_text(), "console"):
        for line in block.splitlines():
            assert line.startswith("$ "), f"{page.name}: {line}"
            done = subprocess.run(
                line[2:], shell=True, cwd=tmp_path, env=environment, capture_output=True,
                text=True, timeout=120, check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
            assert "trouble" not in done.stdout.replace('"troubles": []', ""), line


def test_the_readme_shows_what_demo_prints() -> None:
    shown = blocks((ROOT / "README.md").read_text(), "text")[0].splitlines()
    assert "cchybrid solve spidergon-8 AAS" in (ROOT / "Makefile").read_text()
    done = subprocess.run(
        [sys.executable, "-m", "cchybrid", "solve", "spidergon-8", "AAS"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    told = done.stdout.splitlines()
    assert told[-3:-1] == shown[-3:-1]
    pattern = r"found by [\w ]+ after [\d.]+ s, verified; \d+ channel uses; seed 0; [\d.]+ s in all"
    assert re.fullmatch(pattern, told[-1])
    assert re.fullmatch(pattern, shown[-1])
    assert shown[0].split() == ["source", "step", "1", "step", "2", "step", "3", "step", "4"]


def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    script = next(
        block for block in blocks((ROOT / "README.md").read_text(), "python") if "solve" in block
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[2:] == ["optimal", "True"]
    assert (tmp_path / "mesh.json").exists()


def test_the_python_about_symmetry_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [script] = blocks((ROOT / "docs" / "symmetry.md").read_text(), "python")
    exec(script, {})
    assert re.fullmatch(
        r"group of order \d+( that moves \d+ steps)? \d+ deliveries instead of 240\n",
        capsys.readouterr().out,
    )


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_documented_by_a_plugin_that_works(
    hook: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs" / "hooks.md").read_text()
    section = re.search(rf"^### {hook}\(\)\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    assert section, f"docs/hooks.md does not document {hook}"
    name = f"documented_{hook}"
    (tmp_path / f"{name}.py").write_text(blocks(section.group(1), "python")[0])
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CCHYBRID_PLUGINS", name)
    registry = load_registry()
    row = next(row for row in registry.plugins if row.name == name)
    assert row.trouble == ""
    assert row.provides


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_used(hook: str) -> None:
    sources = [ROOT / "cchybrid" / "plugin" / "builtin.py", ROOT / "plugins" / "__init__.py"]
    sources.append(ROOT / "tests" / "full_plugin.py")
    defined = {
        node.name
        for path in sources
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    }
    assert hook in defined


def test_every_rule_is_documented() -> None:
    text = (ROOT / "docs" / "valid-schedule.md").read_text()
    for rule, meaning in RULES.items():
        assert f"| `{rule}` | {meaning} |" in text


def test_the_instance_of_the_formats_page_is_read() -> None:
    text = (ROOT / "docs" / "formats.md").read_text()
    Instance.from_json(json.loads(blocks(text, "json")[0]))


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_top_level_is_the_house() -> None:
    tracked = subprocess.run(
        ["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=False
    ).stdout.split("\n")
    if shutil.which("git") and len(tracked) > 1:
        assert {line.split("/")[0] for line in tracked if line} <= {
            ".ci", ".gitignore", "CHANGELOG.md", "LICENSE", "Makefile", "README.md", "cchybrid",
            "docs", "instances", "plugins", "pyproject.toml", "tests",
        }  # fmt: skip
