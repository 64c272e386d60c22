"""The documentation as a site: it builds without a warning, and its parts are complete."""

import dataclasses
import os
import re
import struct
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

import cchybrid
from cchybrid.plugin.records import load_target
from cchybrid.plugin.registry import load_registry
from tests.python_process import run_python

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.append(str(DOCS / "_ext"))
import repository_links  # noqa: E402

SECTIONS = ["Model", "Algorithm", "When it wins", "References"]
ADDRESS = "https://example.org/stable/"
NOTEBOOKS = ("first-steps", "python-gallery")
REPORT = re.compile(r"\]\((\.\./reports/\w[\w-]*/report\.md)\)")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built documentation, as it is built to be published, in a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    words = ["-W", "--keep-going", "-q", "-b", "html", str(DOCS), str(folder)]
    done = run_python("-m", "sphinx", *words, DOCS_URL=ADDRESS)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.long
def test_the_reference_is_complete(site):
    python = ids(site / "generated" / "python.html")
    assert {f"cchybrid.{name}" for name in cchybrid.__all__} <= python
    assert "cchybrid.bench.read" in python
    assert "cchybrid.Schedule.to_frame" in python
    engines = (site / "generated" / "engines.html").read_text()
    for info in load_registry().engines.values():
        for field in dataclasses.fields(load_target(info.target).Options):
            assert f">{field.name}<" in engines, f"{info.name}.{field.name}"


def test_the_page_of_commands_has_what_help_prints():
    words = ("-m", "cogapp", "--check", "-I", str(DOCS / "_ext"), str(DOCS / "commands.md"))
    done = run_python(*words)
    assert done.returncode == 0, "run cog -r -I docs/_ext docs/commands.md"


@pytest.mark.long
def test_every_link_of_the_site_leads_somewhere(site):
    anchors = {page: ids(page) for page in site.rglob("*.html")}
    wrong = []
    for page in anchors:
        for target, anchor in links(page):
            there = (page.parent / target).resolve() if target else page
            if not there.exists() or (anchor and anchor not in anchors.get(there, {anchor})):
                wrong.append(f"{page.relative_to(site)}: {target}#{anchor}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
def test_links_to_a_published_page_have_a_preview(site):
    page = (site / "how-to" / "gpu-cluster.html").read_text()
    assert f'<meta property="og:image" content="{ADDRESS}social-preview.png">' in page
    assert f'<link rel="canonical" href="{ADDRESS}how-to/gpu-cluster.html">' in page
    preview = site / "social-preview.png"
    assert preview.stat().st_size < 300_000
    assert struct.unpack(">II", preview.read_bytes()[16:24]) == (1280, 640)


@pytest.mark.long
def test_the_search_finds_pages(site):
    index = (site / "searchindex.js").read_text()
    assert '"how-to/prove-a-network"' in index
    assert (site / "search.html").exists()


@pytest.mark.long
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_notebook_runs(tmp_path, name):
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(DOCS / f"{name}.ipynb", as_version=4)
    shown = list(texts(notebook))
    for cell in notebook.cells:
        cell.pop("outputs", None)
        if cell.cell_type == "code":
            cell.outputs = []
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, resources=resources).execute()
    printed = list(texts(notebook))
    assert len(printed) == len(shown)
    # Steps and verdicts are those that the page shows; who found which schedule may differ.
    assert verdicts(printed) == verdicts(shown)
    assert verdicts(printed)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_notebook_is_stored_with_its_output(name):
    import nbformat

    assert (DOCS / f"{name}.ipynb").stat().st_size < 200_000
    notebook = nbformat.read(DOCS / f"{name}.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert all(cell.outputs for cell in code)


@pytest.mark.parametrize("name", sorted(load_registry().engines))
def test_every_engine_has_a_page(name):
    page = (DOCS / "engines" / f"{name}.md").read_text()
    assert page.startswith(f"# {name}\n")
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == SECTIONS
    assert "```text\n" in page
    assert f"{name}.md" in (DOCS / "engines" / "README.md").read_text()
    # An option that the page names is one of the engine, or of all evolutionary ones.
    known = {
        field.name
        for info in load_registry().engines.values()
        for field in dataclasses.fields(load_target(info.target).Options)
    }
    assert {*re.findall(r"`(\w+)=[\w.]+`", page)} <= known


@pytest.mark.parametrize(
    "page", sorted((DOCS / "engines").glob("*.md")), ids=lambda page: page.stem
)
def test_the_reports_that_a_page_measures_by_exist(page):
    for target in REPORT.findall(page.read_text()):
        assert (page.parent / target).exists()


def test_every_page_is_in_the_contents():
    listed, found = set(), ["index"]
    while found:
        listed.add(name := found.pop())
        found += {page for page in contents(name) if page not in listed}
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in sorted(DOCS.glob("*.md"))}
    pages |= {f"how-to/{page.stem}" for page in (DOCS / "how-to").glob("*.md")}
    pages |= {page.stem for page in DOCS.glob("*.ipynb")}
    assert pages <= listed
    for name in listed:
        written = any((DOCS / f"{name}.{kind}").exists() for kind in ("md", "ipynb"))
        assert written or name.startswith("generated/"), name


def contents(name: str) -> Iterator[str]:
    """Yield the pages in the tables of contents of a page."""
    page = DOCS / f"{name}.md"
    text = page.read_text() if page.exists() and not name.startswith("generated/") else ""
    for block in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL):
        for entry in filter(None, block.splitlines()):
            entry = entry.rpartition("<")[2].rstrip(">")
            if not entry.startswith(":"):
                path = os.path.relpath(page.parent / entry, DOCS)
                matched = [
                    str(one.relative_to(DOCS).with_suffix("")) for one in DOCS.glob(f"{path}.md")
                ]
                yield from matched if "*" in entry else [path]
    for entry in repository_links.PARTS.get(page, ()):
        yield os.path.relpath(page.parent / entry, DOCS)


def texts(notebook: object) -> Iterator[str]:
    """Yield the printed and shown texts of a notebook, of a frame or a figure its plain text.

    What a cell prints arrives in one piece or in several, so the pieces of a cell are joined.
    """
    for cell in notebook.cells:  # type: ignore[attr-defined]
        outputs = cell.get("outputs", ())
        printed = "".join(output.text for output in outputs if output.get("name") == "stdout")
        if printed:
            yield printed
        shown = (output.data for output in outputs if "data" in output)
        # Without a plain text it is the live view of a run.
        yield from (data["text/plain"] for data in shown if "text/plain" in data)


def verdicts(shown: list[str]) -> list[str]:
    return [line for text in shown for line in text.splitlines() if "optimal" in line]


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("id"):
            self.ids.add(str(values["id"]))
        link = values.get("href" if tag == "a" else "src" if tag == "img" else "")
        if link and not re.match(r"\w+:|//", link):
            self.links.append(link)


@cache
def parsed(page: Path) -> _Page:
    parser = _Page()
    parser.feed(page.read_text())
    return parser


def ids(page: Path) -> set[str]:
    """Return the anchors of a page."""
    return parsed(page).ids


def links(page: Path) -> Iterator[tuple[str, str]]:
    """Yield the file and the anchor of every link within the site."""
    for link in parsed(page).links:
        target, _, anchor = link.partition("#")
        yield target.partition("?")[0], anchor
