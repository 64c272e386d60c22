"""The gap over time as characters, and the live view that shows it."""

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from cchybrid.view.live import LiveView
from cchybrid.view.sparkline import ASCII_BLOCKS, BLOCKS, GapHistory, sparkline


@given(st.lists(st.none() | st.integers(0, 1000), max_size=80))
def test_higher_values_are_never_lower(values: list[int | None]) -> None:
    for ascii_only, blocks in ((True, ASCII_BLOCKS), (False, BLOCKS)):
        text = sparkline(values, ascii_only=ascii_only)
        assert len(text) == len(values)
        known = [(v, blocks.index(c)) for v, c in zip(values, text, strict=True) if v is not None]
        assert all(one[1] <= other[1] for one in known for other in known if one[0] <= other[0])
        assert not any(known) or not max(known)[0] or max(known)[1] == len(blocks) - 1


def test_the_gap_over_time() -> None:
    history = GapHistory()
    assert history.gap is None
    history.record(0.5, lower=3)
    assert history.samples(2.0, 4) == [None] * 4
    history.record(1.0, best=8)
    history.record(1.4, lower=6)
    history.record(2.0, best=6)
    assert history.gap == 0
    assert history.samples(2.0, 4) == [None, 5, 2, 0]


def shown(encoding: str) -> str:
    """Return the live view of a run, as a terminal with this encoding gets it."""
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=out, force_terminal=True, width=60, color_system=None)
    view = LiveView(console, "mesh-4x4 AAS")
    view({"event": "phase", "seconds": 0.0, "engines": ["some"]})
    view({"event": "schedule", "seconds": 0.0, "engine": "some", "steps": 20})
    view({"event": "bound", "seconds": 0.0, "engine": "prices", "steps": 19, "certified": True})
    console.print(view._render())
    out.seek(0)
    return out.read()


def test_the_live_view_shows_the_gap() -> None:
    for encoding, block in (("utf-8", BLOCKS[-1]), ("ascii", ASCII_BLOCKS[-1])):
        (line,) = [line for line in shown(encoding).splitlines() if line.startswith("gap:")]
        assert line.endswith(f"{block} 1 step")
        assert all(len(line) <= 60 for line in shown(encoding).splitlines())


def test_no_gap_is_shown_before_a_schedule() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=60)
    view = LiveView(console, "x")
    with console.capture() as capture:
        console.print(view._render())
    assert "gap" not in capture.get()
