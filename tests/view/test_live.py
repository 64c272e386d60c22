"""The live view of a run on a terminal."""

import io

from rich.console import Console

from cchybrid.view.live import LiveView


def test_the_live_view_shows_the_best_steps_the_bound_and_the_engines():
    out = io.StringIO()
    view = LiveView(Console(file=out, force_terminal=True, width=70), "mesh-4x4 AAS")
    with view:
        view({"event": "phase", "seconds": 0.0, "engines": ["some"]})
        view({"event": "schedule", "seconds": 0.1, "engine": "some", "steps": 20})
        view({"event": "bound", "seconds": 0.2, "engine": "cut", "steps": 19, "certified": True})
        view({"event": "progress", "engine": "some", "steps": 18, "conflicts": 7})
    shown = out.getvalue()
    for words in ("best: 20 (some, 0.1 s)", "lower bound: 19", "working", "18", "7"):
        assert words in shown
