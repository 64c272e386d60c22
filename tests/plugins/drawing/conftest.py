"""Pages in a headless Chromium: any error, dialog or request of a page fails its test."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.drawing.chromium import OpenPage, find_chromium, started_chromium


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    program = find_chromium()
    if program is None:
        pytest.skip("there is no Chromium")
    with started_chromium(program) as browser:
        yield browser


@pytest.fixture
def open_page(chromium: Any, tmp_path: Path) -> Iterator[OpenPage]:
    """Yield the function that opens the text of a page in a session of its own."""
    wrong: list[str] = []
    path = tmp_path / "page.html"
    with ExitStack() as stack:

        def open_text(text: str, **settings: Any) -> Any:
            path.write_text(text, encoding="utf-8")
            session = chromium.new_context(
                **{"viewport": {"width": 1280, "height": 900}, **settings}
            )
            stack.callback(session.close)
            tab = session.new_page()
            tab.on("console", lambda message: wrong.append(message.text))
            tab.on("pageerror", lambda error: wrong.append(str(error)))
            tab.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
            tab.on("request", check_request)
            tab.goto(path.as_uri())
            return tab

        def check_request(request: Any) -> None:
            if request.url != path.as_uri() and not request.url.startswith("data:"):
                wrong.append(f"requested {request.url}")

        yield open_text
    assert wrong == []
