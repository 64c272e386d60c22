"""A headless Chromium for tests of pages: any error, request or dialog in it fails the test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}

OpenPage = Callable[..., Any]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("there is no Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Any, tmp_path: Path) -> Iterator[OpenPage]:
    """Yield the function that opens the text of a page in a context of its own."""
    wrong: list[str] = []
    requests: list[str] = []
    with ExitStack() as stack:

        def open_text(text: str, **context: Any) -> Any:
            path = tmp_path / "page.html"
            path.write_text(text, encoding="utf-8")
            given = {"viewport": {"width": 1280, "height": 900}, **context}
            session = chromium.new_context(**given)
            stack.callback(session.close)
            tab = session.new_page()
            tab.on("console", lambda message: wrong.append(message.text))
            tab.on("pageerror", lambda error: wrong.append(str(error)))
            tab.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
            tab.on("request", lambda request: requests.append(request.url))
            tab.goto(path.as_uri())
            return tab

        yield open_text
    assert wrong == []
    assert all(url.startswith(("file:", "data:")) for url in requests)
    assert sum(url.startswith("file:") for url in requests) == sum("page.html" in u for u in requests)
