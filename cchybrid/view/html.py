"""Results and schedules as small pieces of HTML, for notebooks."""

from __future__ import annotations

from html import escape

from cchybrid.host.result import Result
from cchybrid.model import Network, Schedule
from cchybrid.model.errors import InputError
from cchybrid.view.verdict import verdict

MAX_DRAWN = 32
"""Nodes of the largest network that is drawn."""
MAX_ROWS = 40
"""Rows of steps that are shown."""


def result_html(result: Result) -> str:
    """Return the verdict, and a drawing of a small network."""
    head, *lines = verdict(result)
    rest = "".join(f"<div>{escape(line)}</div>" for line in lines)
    return f"<div><strong>{escape(head)}</strong>{rest}{_drawing(result.instance.network)}</div>"


def schedule_html(schedule: Schedule) -> str:
    """Return what a schedule is, and the number of its transfers and channel uses by step."""
    network = schedule.instance.network
    rows = "".join(
        f"<tr><td>{number}</td><td>{len(step)}</td>"
        f"<td>{sum(len(path) - 1 for _, path in step)}</td></tr>"
        for number, step in enumerate(schedule.steps[:MAX_ROWS], 1)
    )
    more = len(schedule.steps) - MAX_ROWS
    foot = f"<div>and {more} more steps</div>" if more > 0 else ""
    head = "<tr><th>step</th><th>transfers</th><th>channel uses</th></tr>"
    return (
        f"<div><strong>{escape(repr(schedule)[1:-1])}</strong>"
        f"<table>{head}{rows}</table>{foot}{_drawing(network)}</div>"
    )


def _drawing(network: Network) -> str:
    """Return the drawing of a small network as SVG, or "" without matplotlib."""
    if network.nodes > MAX_DRAWN:
        return ""
    from cchybrid.view.drawing.figure_styles import figure_bytes
    from cchybrid.view.drawing.figures import draw_network

    try:
        figure = draw_network(network)
    except InputError:
        return ""
    text = figure_bytes(figure, ".svg").decode()
    return f"<div>{text[text.index('<svg') :]}</div>"
