"""Write the pictures of pages in ``docs/pictures``; started as a module (``python -m``)."""

import tempfile
from pathlib import Path
from typing import Any

from cchybrid_plugins.drawing.page import page

import cchybrid
from cchybrid.model import Schedule
from tests.plugins.drawing.chromium import PHONE, find_chromium, started_chromium

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"


def solved(network: str, collective: str) -> Schedule:
    found = cchybrid.solve(network, collective, time_limit=20).schedule
    assert found is not None
    return found


def main() -> None:
    """Solve the instances, open their pages and write the pictures."""
    program = find_chromium()
    if program is None:
        raise SystemExit("there is no Chromium")
    torus, ring = solved("torus-4x4", "AAS"), solved("ring-bi-8", "AAS")
    with started_chromium(program) as browser, tempfile.TemporaryDirectory() as folder:

        def opened(schedule: Schedule, **settings: Any) -> Any:
            path = Path(folder) / "page.html"
            path.write_text(page(schedule), encoding="utf-8")
            tab = browser.new_context(**settings).new_page()
            tab.goto(path.as_uri())
            return tab

        wide = {"viewport": {"width": 1280, "height": 900}}
        opened(torus, **wide).screenshot(path=FOLDER / "page-light.png")
        dark = opened(torus, **wide, color_scheme="dark")
        dark.click("#legend button >> nth=5")
        dark.click("#next")
        dark.mouse.move(0, 0)
        dark.screenshot(path=FOLDER / "page-dark.png")
        phone = opened(solved("dgx-1", "AAB"), **PHONE, device_scale_factor=2)
        phone.tap("#legend button >> nth=0")
        phone.screenshot(path=FOLDER / "page-phone.png")
        bound = opened(ring, **wide)
        bound.locator("#bound-section").screenshot(path=FOLDER / "page-bound.png")


if __name__ == "__main__":
    main()
