"""README and docs are tested: every command is run, every example loaded, every name looked up."""

import ast
import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import get_args, get_type_hints

import pytest

import cchybrid.toolkit
from cchybrid.checker import KINDS
from cchybrid.host.quotient_search import QuotientOptions
from cchybrid.library.collectives import PATTERNS
from cchybrid.model import Instance
from cchybrid.plugin import Run
from cchybrid.plugin.hookspecs import HookSpecs
from cchybrid.plugin.records import load_target
from cchybrid.plugin.registry import load_registry
from cchybrid.referee.verify import RULES
from tests.python_process import run_python
from tests.test_layers import LAYERS

ROOT = Path(__file__).parents[1]
GUIDES = [
    ROOT / "README.md", ROOT / "docs" / "faq.md", ROOT / "docs" / "tutorial.md",
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
]  # fmt: skip
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    *sorted((ROOT / "docs" / "engines").glob("*.md")),
]
LONG = (
    "README.md", "allreduce.md", "audit.md", "cluster.md", "export.md", "rounds.md",
    "benchmark.md", "compare-engines.md", "design-a-network.md", "draw.md", "formats.md",
    "many-cores.md", "other-checkers.md", "prove-a-network.md", "prove.md",
    "read-a-certificate.md", "reproduce-the-thesis.md", "run.md", "gallery.md",
    "gpu-cluster.md", "faq.md",
    "symmetry.md", "throughput.md", "trust.md", "tutorial.md", "umda.md",
)  # fmt: skip
"""Pages whose commands take more than about five seconds."""
FILES = ROOT / "docs" / "files"
"""The files that pages have their readers save."""
EVERY_PAGE = [
    *PAGES, ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", ROOT / "instances" / "README.md",
    ROOT / "docs" / "example-plugin" / "README.md", ROOT / "docs" / "reports" / "README.md",
]  # fmt: skip
HOOKS = sorted(name for name in vars(HookSpecs) if name.startswith("cchybrid_"))


def blocks(text: str, language: str) -> list[str]:
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```", text, re.MULTILINE | re.DOTALL)
    return [dedent(block) for _, block in found]


def section(page: str, title: str) -> str:
    """Return the text below a heading, up to the next one of the same or a higher level."""
    text = (ROOT / "docs" / page).read_text()
    found = re.search(rf"^(##+) {re.escape(title)}\n", text, re.MULTILINE)
    assert found, f"docs/{page} has no section {title}"
    rest = text[found.end() :]
    return re.split(rf"^#{{2,{len(found[1])}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """Return the cells of the tables in a text, heads left out."""
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def named(text: str) -> list[str]:
    """Return what stands between backquotes."""
    return re.findall(r"`([^`]+)`", text)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.long] if page.name in LONG else [])
        for page in PAGES
        if "```console" in page.read_text()
    ],
    ids=lambda page: page.name,
)
def test_every_command_runs(page, tmp_path):
    """The commands of a page run one after another in one folder, as a reader would do it.

    The lines that a page shows below its commands are among those that they print.
    """
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    tool = tmp_path / "bin"
    tool.mkdir()
    for name, words in {"cchybrid": "-m cchybrid", "python": ""}.items():
        (tool / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (tool / name).chmod(0o755)
    beside = Path(sys.executable).parent  # mpiexec
    environment = {**os.environ, "PATH": f"{tool}:{beside}:{os.environ['PATH']}"}
    printed: set[str] = set()
    for block in blocks(page.read_text(), "console"):
        for line in block.splitlines():
            assert line.startswith("$ "), f"{page.name}: {line}"
            done = subprocess.run(
                line[2:], shell=True, cwd=tmp_path, env=environment, capture_output=True,
                text=True, timeout=120, check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
            assert "trouble" not in done.stdout.replace('"troubles": []', ""), line
            printed |= {*done.stdout.splitlines()}
    if page in GUIDES:
        for block in blocks(page.read_text(), "text"):
            assert {*block.splitlines()} <= printed


PRINTED = {
    "python.md": (
        "lab AAB, half duplex: ", r"optimal \(certified\)", "core -> ann: ",
        "<Instance 'triangle': 3 nodes, 6 channels, 6 messages, wormhole>",
    ),
    "symmetry.md": (
        r"^group of order \d+( that moves \d+ steps)? \d+ deliveries instead of 240\n\Z",
    ),
}  # fmt: skip
"""Output of the examples of a page, as regular expressions."""
WRITTEN = {
    "design-a-network.md": {"best.json"},
    "python.md": {"steps.svg", "step-1.png", "first.json", "lab.json", "lab.certificate.json"},
}  # fmt: skip
"""Files that they write."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[] if page.name == "symmetry.md" else [pytest.mark.long])
        for page in PAGES
        if page in GUIDES or (page.name in PRINTED and blocks(page.read_text(), "python"))
    ],
    ids=lambda page: page.name,
)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    text, scope = page.read_text(), {}
    for script in blocks(text, "python"):
        exec(script, scope if page.name == "python.md" else {})
    out = capsys.readouterr().out
    assert {*re.findall("It prints `(.+?)`", text)} <= {*out.splitlines()}
    for line in PRINTED.get(page.name, ()):
        assert re.search(line, out, re.MULTILINE), line
    assert WRITTEN.get(page.name, set()) <= {path.name for path in tmp_path.iterdir()}


def test_the_tutorial_shows_its_file():
    [shown] = blocks((ROOT / "docs" / "tutorial.md").read_text(), "xml")
    assert shown == (FILES / "cluster.graphml").read_text()


def test_the_model_page_shows_what_demo_prints():
    shown = blocks((ROOT / "docs" / "model.md").read_text(), "text")[0].splitlines()
    assert "cchybrid solve spidergon-8 AAS" in (ROOT / "Makefile").read_text()
    done = run_python("-m", "cchybrid", "solve", "spidergon-8", "AAS")
    shown_lines = done.stdout.splitlines()
    assert shown_lines[-3:-1] == shown[-3:-1]
    pattern = r"found by [\w ]+ after [\d.]+ s, verified; \d+ channel uses; seed 0; [\d.]+ s in all"
    assert all(re.fullmatch(pattern, lines[-1]) for lines in (shown_lines, shown))
    assert shown[0].split() == ["source", "step", "1", "step", "2", "step", "3", "step", "4"]


@pytest.mark.long
def test_the_engines_of_the_plugin_tutorial_run(tmp_path):
    """Each version of the engine is run by the last command of the block below it."""
    text = (ROOT / "docs" / "plugin-tutorial.md").read_text()
    scripts, commands = blocks(text, "python"), blocks(text, "sh")
    settings = commands[0].splitlines()[0]
    variables = dict(pair.split("=") for pair in settings.removeprefix("export ").split())
    expected = ([9, "feasible"], [9, "optimal"])
    for script, command, found in zip(scripts, commands, expected, strict=False):
        (tmp_path / "my_engine.py").write_text(script)
        words = [sys.executable, "-m", *command.splitlines()[-1].split(), "--json"]
        done = subprocess.run(
            words, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False,
            env={**os.environ, **variables},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert result["troubles"] == []
        assert [result["steps"], result["status"]] == found
    assert result["engine"] == "mine"


@pytest.mark.slow
def test_the_replay_of_the_benchmark_page_runs(tmp_path, monkeypatch, capsys):
    runs = section("benchmark.md", "Repeatable runs")
    assert "--log run.jsonl" in blocks(runs, "console")[-1]
    monkeypatch.chdir(tmp_path)
    instance = cchybrid.instance("mesh-3x3", "AAB")
    with open("run.jsonl", "w") as file:
        result = cchybrid.solve(
            instance, engines=[], time_limit=20,
            log=lambda line: file.write(json.dumps(line) + "\n"),
        )  # fmt: skip
    exec(blocks(runs, "python")[0], {})
    assert capsys.readouterr().out.split() == [
        str(result.steps), str(result.lower_bound.steps), result.status,
    ]  # fmt: skip


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_documented_by_a_plugin_that_works(hook, tmp_path, monkeypatch):
    text = (ROOT / "docs" / "hooks.md").read_text()
    section = re.search(rf"^### {hook}\(\)\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    assert section, f"docs/hooks.md does not document {hook}"
    name = f"documented_{hook}"
    (tmp_path / f"{name}.py").write_text(blocks(section.group(1), "python")[0])
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CCHYBRID_PLUGINS", name)
    [row] = [row for row in load_registry().plugins if row.name == name]
    assert row.provides
    assert row.trouble == ""


def test_every_hook_is_used():
    sources = [
        ROOT / "cchybrid" / "plugin" / "builtin.py", ROOT / "cchybrid" / "cli" / "commands.py",
        ROOT / "tests" / "full_plugin.py", *(ROOT / "plugins").rglob("__init__.py"),
    ]  # fmt: skip
    trees = [ast.walk(ast.parse(path.read_text())) for path in sources]
    defined = {node.name for tree in trees for node in tree if isinstance(node, ast.FunctionDef)}
    assert {*HOOKS} <= defined


@pytest.mark.parametrize("hook", sorted({*HOOKS} - {"cchybrid_plugins", "cchybrid_observers"}))
def test_every_hook_says_where_the_fields_of_its_record_are(hook):
    [record] = get_args(get_type_hints(getattr(HookSpecs, hook))["return"])
    assert f"help(cchybrid.plugin.{record.__name__})" in section("hooks.md", f"{hook}()")


def test_every_method_of_run_is_documented():
    documented = set(re.findall(r"`run\.(\w+)", section("hooks.md", "Run")))
    members = {name for name in vars(Run) if not name.startswith("_")} | set(Run.__annotations__)
    assert documented == members


def announced() -> Iterator[tuple[str, set[str]]]:
    """Yield every event that the host announces, and its keys."""
    host = ROOT / "cchybrid" / "host"
    texts = [(host / name).read_text() for name in ("task.py", "schedule_task.py")]
    for node in (node for text in texts for node in ast.walk(ast.parse(text))):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "_announce":
            assert isinstance(node.args[0], ast.Constant)
            yield str(node.args[0].value), {str(keyword.arg) for keyword in node.keywords}
    yield "run", {"instance", "seed"}
    yield "result", set()


def test_every_event_is_documented():
    documented = {
        row[0].strip("`"): set() if row[0] == "`result`" else set(named(row[1]))
        for row in rows(section("hooks.md", "Events"))
    }
    assert documented == dict(announced())
    session = (ROOT / "cchybrid" / "host" / "session.py").read_text()
    assert set(re.findall(r'emit\("(\w+)"', session)) == {"run", "result"}


def test_the_toolkit_is_documented_as_it_is():
    listed = dict(re.findall(r"^``(.+)``\n((?:    .*\n)+)", cchybrid.toolkit.__doc__ or "", re.M))
    for module, contents in listed.items():
        import_module(f"cchybrid.toolkit.{module}")
        for name in re.findall(r"``([\w.]+)``", contents):
            within = "" if name.startswith("cchybrid.") else f"cchybrid.toolkit.{module}."
            assert is_there(within + name), name
    folder = Path(cchybrid.toolkit.__path__[0])
    parts = {path.stem for path in folder.iterdir() if not path.name.startswith("__")}
    assert parts == {name.split(".")[0] for name in listed}


def test_every_option_of_a_strategy_is_documented():
    strategies = load_registry().strategies
    known = {name: load_target(info.target).Options for name, info in strategies.items()}
    known["quotients"] = QuotientOptions
    expected = {
        (name, field.name): field.default
        for name, options in known.items()
        for field in dataclasses.fields(options)
    }
    documented = {
        (row[0].strip("`"), row[1].strip("`")): float(Fraction(row[2]))
        for row in rows(section("benchmark.md", "Strategies"))
    }
    assert documented == expected
    text = section("benchmark.md", "Strategies")
    assert all(f"- `{name}`" in text for name in strategies)


def test_the_packages_are_documented_in_their_order():
    names = [row[0].strip("`") for row in rows(section("architecture.md", "Packages"))]
    assert names == [layer for layer in LAYERS if layer != "__main__"]
    drawing = (ROOT / "docs" / "architecture.svg").read_text()
    positions = [drawing.index(f">{name}<") for name in names]
    assert positions == sorted(positions)


def test_files_of_the_host_that_are_documented_exist():
    cells = [row[0] for row in rows(section("architecture.md", "The host"))]
    for name in {name for cell in cells for name in named(cell)}:
        assert (ROOT / "cchybrid" / "host" / name).exists(), name


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: str(page.relative_to(ROOT)))
def test_modules_and_files_that_pages_name_exist(page):
    text = page.read_text()
    text, changes, old_and_new = text.partition("## Changes in interface 2")
    if changes:  # of this table only the new names exist
        text += re.sub(r"^\|[^|]*\|", "|", old_and_new, flags=re.MULTILINE)
    for name in set(re.findall(r"\bcchybrid(?:\.\w+)+", text)):
        assert is_there(name), f"{page.name}: {name}"
    for name in set(re.findall(r"\b(?:cchybrid|bench|host|tests|plugins)/[\w/]+\.py\b", text)):
        places = (
            ROOT / name, ROOT / "cchybrid" / name, ROOT / "tests" / name, page.parent / name,
        )  # fmt: skip
        assert any(place.exists() for place in places), f"{page.name}: {name}"


def is_there(name: str) -> bool:
    """Return whether a dotted name is a module, or an attribute of one, or of its attribute."""
    try:
        import_module(name)
    except ModuleNotFoundError:
        owner, _, attribute = name.rpartition(".")
        if not owner or not is_there(owner):
            return False
        try:
            return hasattr(import_module(owner), attribute)
        except ModuleNotFoundError:
            module, _, outer = owner.rpartition(".")
            return hasattr(getattr(import_module(module), outer), attribute)
    return True


def test_the_glossary_is_in_alphabetical_order_and_names_the_kinds_of_evidence():
    text = (ROOT / "docs" / "glossary.md").read_text()
    terms = re.findall(r"^- \*\*(.+?)\*\*: ", text, re.MULTILINE)
    assert terms == sorted(terms, key=str.lower)
    assert len(terms) == text.count("\n- ")
    assert {*KINDS} <= {*terms}


def test_the_model_page_lists_the_names_of_the_collectives():
    text = (ROOT / "docs" / "model.md").read_text()
    for info in PATTERNS[:8]:
        names = rf"^\| `{info.name}` \| {'`' + info.aliases[0] + '`' if info.aliases else ''}"
        assert re.search(names, text, re.MULTILINE), info.name


def test_every_rule_is_documented():
    text = (ROOT / "docs" / "valid-schedule.md").read_text()
    for rule, meaning in RULES.items():
        assert f"| `{rule}` | {meaning} |" in text


def test_the_instance_of_the_formats_page_is_read():
    text = (ROOT / "docs" / "formats.md").read_text()
    Instance.from_json(json.loads(blocks(text, "json")[0]))


def test_links_lead_somewhere():
    for page in EVERY_PAGE:
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text()):
            there = page.parent / target if target else page
            assert there.exists(), f"{page.name}: {target}"
            if anchor:
                assert anchor in anchors(there), f"{page.name}: {target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def test_the_top_level_is_the_house():
    tracked = subprocess.run(
        ["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=False
    ).stdout.split("\n")
    if shutil.which("git") and len(tracked) > 1:
        assert {line.split("/")[0] for line in tracked if line} <= {
            ".ci", ".github", ".gitignore", ".pre-commit-config.yaml", "CHANGELOG.md",
            "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md",
            "cchybrid", "docs", "instances", "plugins", "pyproject.toml", "tests",
        }  # fmt: skip
