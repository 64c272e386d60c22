"""Files beside the code agree with it: citation, workflow, contributing guide and decisions."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.test_docs import anchors, is_there

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "docs" / "decisions" / "README.md", *DECISIONS]
FOLDERS = r"\.ci|\.github|cchybrid|docs|instances|plugins|tests"


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    for ours, theirs in {"title": "name", "version": "version", "license": "license"}.items():
        assert citation[ours] == PROJECT[theirs]
    assert citation["authors"] == PROJECT["authors"]
    assert citation["keywords"] == PROJECT["keywords"]


def test_the_workflow_runs_what_continuous_integration_runs():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    job = workflow["jobs"]["test"]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    first = re.findall(r"^ *(make .+)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert commands == [*first, "make test-long"]
    versions = {
        f"Programming Language :: Python :: {v}" for v in job["strategy"]["matrix"]["python"]
    }
    assert versions <= set(PROJECT["classifiers"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_runs_exists(path):
    workflow = yaml.safe_load(path.read_text())
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    runs = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    for run in runs:
        for target in re.findall(r"^make (.+)$", run, re.MULTILINE):
            assert target in targets
        for file in re.findall(r"^(?:\S*python|bash) (\S+\.\w+)", run, re.MULTILINE):
            assert (ROOT / file).exists(), file
    assert any(run.startswith("make ") for run in runs)


@pytest.mark.slow
def test_the_documentation_of_several_versions_is_published(tmp_path):
    """The last step of the workflow runs here, with a repository on this machine."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "docs.yml").read_text())
    *_, step = workflow["jobs"]["publish"]["steps"]
    repository, site = tmp_path / "repository", tmp_path / "docs" / "_build" / "html"
    subprocess.run(["git", "init", "--quiet", "--bare", repository], check=True)
    (tmp_path / ".ci").symlink_to(ROOT / ".ci")
    (site / "_static").mkdir(parents=True)
    (site / "_static" / "site.css").touch()

    def publish(name):
        (site / "index.html").write_text(name)
        shutil.rmtree(tmp_path / "published", ignore_errors=True)
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # there may be only python3
        names = {"NAME": name, "REPOSITORY": str(repository), "PATH": path}
        subprocess.run(
            ["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=os.environ | names,
            check=True, capture_output=True,
        )  # fmt: skip

    def shown(path):
        words = ["git", "-C", repository, "show", f"gh-pages:{path}"]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    publish("latest")
    assert json.loads(shown("versions.json")) == ["latest"]
    assert 'url=latest/"' in shown("index.html")
    for name in ("v1.9.0", "v1.10.0", "v1.9.1", "latest"):
        publish(name)
    assert json.loads(shown("versions.json")) == ["stable", "latest", "1.10.0", "1.9.1", "1.9.0"]
    assert shown("stable/index.html") == shown("1.10.0/index.html") == "v1.10.0"
    assert shown("1.9.1/index.html") == "v1.9.1"
    assert 'url=stable/"' in shown("index.html")
    assert shown(".nojekyll") == shown("stable/_static/site.css") == ""
    with pytest.raises(subprocess.CalledProcessError) as failed:
        publish("../elsewhere")
    assert b"no version; use latest or numbers" in failed.value.stderr


def test_every_decision_is_listed():
    listed = (ROOT / "docs" / "decisions" / "README.md").read_text()
    for page in DECISIONS:
        assert page.read_text().startswith(f"# {page.name[:4]}: ")
        assert f"- [{page.name[:4]}]({page.name}): " in listed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_and_links_of_a_page_exist(page):
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for path in re.findall(rf"`((?:{FOLDERS})/[\w./-]*)`", text):
        assert "NAME" in path or (ROOT / path).exists(), path
    for name in re.findall(r"`(cchybrid(?:\.\w+)+)`", text):
        assert is_there(name), name
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
        assert (page.parent / target).exists(), target
        assert not anchor or anchor in anchors(page.parent / target), f"{target}#{anchor}"
