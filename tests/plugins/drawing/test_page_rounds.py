"""The page of a schedule whose steps have several rounds, in a real browser."""

from cchybrid_plugins.drawing.page import page

import cchybrid
from cchybrid.model import Schedule, Transfer
from tests.plugins.drawing.chromium import OpenPage, type_key


def wide() -> Schedule:
    """Return a broadcast of three chunks over a line of three nodes, in steps of 3 and 1 rounds."""
    instance = cchybrid.instance(
        "mesh-1x3", "OAB", root=0, chunks=3, rounds=[3, 2], switching="store-and-forward"
    )
    first = tuple(Transfer(chunk, (0, 1)) for chunk in range(3))
    second = tuple(Transfer(chunk, (1, 2)) for chunk in range(2))
    return Schedule(instance, (first, second, (Transfer(2, (1, 2)),)))


def test_charts_count_with_the_rounds_of_a_step(open_page: OpenPage) -> None:
    tab = open_page(page(wide()))
    assert tab.locator("#step-title").inner_text() == "Step 1 of 3, 3 rounds"
    # Four channels; the first step uses one of them in all three rounds.
    assert "uses 25 %" in tab.locator("#channels-sum").inner_text()
    type_key(tab, "ArrowRight")
    assert tab.locator("#step-title").inner_text() == "Step 2 of 3, 2 rounds"
    assert "uses 25 %" in tab.locator("#channels-sum").inner_text()
    type_key(tab, "ArrowRight")
    shown = tab.locator("#channels-sum").inner_text()
    assert "uses 13 %" in shown
    assert "all steps together 21 %" in shown
