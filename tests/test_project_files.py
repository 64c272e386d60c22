"""Files beside the code agree with it: citation, workflow, contributing guide and decisions."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.test_docs import anchors, is_there

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
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
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for each in workflow["jobs"].values():
        for step in each["steps"]:
            if step.get("run", "").startswith("make "):
                assert step["run"].split()[1] in targets
    versions = {
        f"Programming Language :: Python :: {v}" for v in job["strategy"]["matrix"]["python"]
    }
    assert versions <= set(PROJECT["classifiers"])


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
