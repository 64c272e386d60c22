"""The pages of the archive, and the check that they run in a browser."""

import gzip
import json
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cchybrid_plugins.bench.archive import ENTRIES, Archive

import cchybrid
from cchybrid.host.first_schedule import first_schedule
from cchybrid.model import Schedule
from tests.plugins.drawing.chromium import PHONE, find_chromium, started_chromium

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "docs" / "_ext"))
import archive_pages  # noqa: E402

pytestmark = pytest.mark.long
NAMES = (("thesis", "mesh-3x3 AAS"), ("general", "half-duplex-random-regular-18-3-2261-AAB.json"))
HOSTILE = "<script>alert(1)</script>"


def unbounded() -> Schedule:
    """Return a broadcast on a ring of four nodes, without a lower bound."""
    instance = cchybrid.instance("ring-bi-4", "OAB")
    return Schedule(instance, first_schedule(instance) or ())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of two entries of the archive, one that is tampered with, and one of no bound."""
    source, folder = tmp_path_factory.mktemp("archive"), tmp_path_factory.mktemp("site")
    committed, few = Archive(ROOT / "docs" / "archive"), Archive(source)
    for name in NAMES:
        record, proof = committed.records(committed.entries[name])
        few.add(Schedule.from_json(record), proof, [name])
    few.add(unbounded(), names=[("other", HOSTILE)])
    archive_pages.write_pages(source, folder / "archive", "0")
    entry = few.entries[NAMES[1]]
    record, proof = few.records(entry)
    record["steps"][0].pop()
    text = f"{json.dumps(record)}\n{json.dumps(proof)}\n"
    (folder / "archive" / ENTRIES / entry.file).write_bytes(gzip.compress(text.encode()))
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The address of the site, served on this machine."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/archive/"
    server.shutdown()


@pytest.fixture
def tab(address: str) -> Iterator[Any]:
    """A page of a browser; a request to another site fails the test."""
    program = find_chromium()
    if program is None:
        pytest.skip("there is no Chromium")
    requests: list[str] = []
    with started_chromium(program) as browser:
        page = browser.new_context(**PHONE).new_page()
        page.context.on("request", lambda request: requests.append(request.url))
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        yield page
    assert all(each.startswith(address.removesuffix("archive/")) for each in requests)


def page_of(site: Path, name: str) -> str:
    """Return the page of an instance."""
    pages = (site / "archive" / "pages").glob("*.html")
    return next(f"pages/{page.name}" for page in pages if name in page.read_text())


@pytest.mark.parametrize(
    ("name", "holds", "words"),
    [
        ("mesh-3x3 AAS", "yes", "6 steps, optimal, checked here in "),
        (NAMES[1][1], "no", "refused: the schedule is not valid"),
        ("ring-bi-4", "yes", "2 steps, valid, without a certificate, checked here in "),
    ],
)
def test_the_checker_runs_in_the_browser(
    site: Path, address: str, tab: Any, name: str, holds: str, words: str
) -> None:
    if not (site / "archive" / "pyodide").exists():
        pytest.skip("there is no Pyodide: npm could not install it")
    tab.goto(address + page_of(site, name))
    tab.click("#check")
    tab.wait_for_selector("#result[data-holds]", timeout=300_000)
    assert tab.inner_text("#result").startswith(words)
    assert tab.get_attribute("#result", "data-holds") == holds
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_site_that_lost_pyodide_says_so(site: Path, address: str, tab: Any) -> None:
    if not (site / "archive" / "pyodide").exists():
        pytest.skip("there is no Pyodide: npm could not install it")
    tab.route("**/pyodide/*", lambda route: route.abort())
    tab.goto(address + page_of(site, "mesh-3x3 AAS"))
    tab.click("#check")
    tab.wait_for_selector("#result[data-holds=no]", timeout=300_000)
    assert tab.inner_text("#result").startswith("The checker cannot run here: ")


def test_the_index_is_searched_and_filtered(address: str, tab: Any) -> None:
    tab.goto(f"{address}index.html")

    def shown() -> list[str]:
        cells = tab.locator("#rows tbody tr:not([hidden]) td:first-child")
        return [text.strip() for text in cells.all_inner_texts()]

    assert sorted(shown()) == sorted([HOSTILE, *(name for _, name in NAMES)])
    assert tab.inner_text("#count") == "3 of 3 rows"
    tab.fill("#search", "aas MESH")
    assert shown() == ["mesh-3x3 AAS"]
    tab.fill("#search", "")
    tab.select_option("#suite", "general")
    assert shown() == [NAMES[1][1]]
    tab.select_option("#suite", "")
    tab.check("#open")
    assert shown() == [HOSTILE]
    tab.click("#rows a:visible")
    assert tab.inner_text("h1") == HOSTILE
    assert tab.evaluate("document.querySelector('figure img').naturalWidth") > 0


def test_without_pyodide_the_pages_have_no_button(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_pages, "GENERATED", tmp_path / "generated")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    archive = Archive(tmp_path)
    archive.add(unbounded())
    archive_pages.write_pages(tmp_path, tmp_path / "site", "0")
    (page,) = (tmp_path / "site" / "pages").iterdir()
    text = page.read_text()
    assert "built without Pyodide" in text
    assert "<button" not in text
    assert "<svg" in next((tmp_path / "site" / "pictures").iterdir()).read_text()
