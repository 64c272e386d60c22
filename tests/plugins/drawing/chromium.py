"""A headless Chromium for tests and pictures of pages."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}

OpenPage = Callable[..., Any]


def find_chromium() -> str | None:
    """Return the path of the Chromium of this machine, if there is one."""
    programs = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, programs)), None)


@contextmanager
def started_chromium(program: str) -> Iterator[Any]:
    """Yield a browser of playwright; it ends with the block."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def type_key(tab: Any, key: str) -> None:
    """Push a key, such as ``ArrowRight``, and let it go."""
    tab.keyboard.down(key)
    tab.keyboard.up(key)
