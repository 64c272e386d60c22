"""Results and schedules as HTML, as notebooks show them; names are escaped."""

from collections.abc import Iterable, Mapping
from html import escape
from io import StringIO
from typing import Any

from rich.console import Console

from cchybrid.host.result import Result
from cchybrid.model import Schedule
from cchybrid.model.errors import InputError
from cchybrid.model.steps import count_transfers
from cchybrid.plugin.records import Observer
from cchybrid.plugin.registry import load_registry
from cchybrid.referee.verify import verify_schedule
from cchybrid.view.live import LiveView
from cchybrid.view.step_table import step_table
from cchybrid.view.summary import facts

MAX_TRANSFERS = 80
"""Transfers of the longest schedule that is shown as a table."""
REFRESH_SECONDS = 0.5
"""Seconds between two pictures of a run."""
MAX_NODES, MAX_STEPS = 32, 24
"""Nodes and steps of the largest schedule that is drawn."""


def result_html(result: Result) -> str:
    """Return the verdict, the facts of the instance and the schedule as HTML."""
    head, *rest = result.lines()
    lines = [*facts(result.instance), *rest]
    text = f"<p><b>{_text(head)}</b><br>{'<br>'.join(map(_text, lines))}</p>"
    shown = "" if result.schedule is None else _body(result.schedule)
    return f"<div>{text}{shown}</div>"


def schedule_html(schedule: Schedule) -> str:
    """Return the size of a schedule, its table and its drawing as HTML."""
    return f"<div><p><b>{_text(repr(schedule).strip('<>'))}</b></p>{_body(schedule)}</div>"


def live_view(title: str) -> Observer:
    """Return an observer that shows a run below the cell of a notebook, and nothing at its end."""
    from IPython.display import display

    console = Console(file=StringIO(), width=100, color_system=None, force_jupyter=False)
    view = LiveView(console, title)
    handle: Any = display({"text/html": ""}, raw=True, display_id=True)  # type: ignore[no-untyped-call]
    shown = 0.0

    def show(event: Mapping[str, Any]) -> None:
        nonlocal shown
        view(event)
        if event["event"] == "result":
            handle.update({"text/html": ""}, raw=True)
        elif event["seconds"] - shown > REFRESH_SECONDS:
            shown = event["seconds"]
            with console.capture() as capture:
                console.print(view.render())
            handle.update({"text/html": f"<pre>{escape(capture.get())}</pre>"}, raw=True)

    return show


def _body(schedule: Schedule) -> str:
    violations = verify_schedule(schedule)
    if violations:
        return f"<p>not a valid schedule: {_text(violations[0].text)}</p>"
    parts = []
    if count_transfers(schedule.steps) <= MAX_TRANSFERS:
        table = step_table(schedule)
        every = schedule.instance.horizon != "ticks"  # there are thousands of ticks
        shown = [number for number, step in enumerate(schedule.steps) if step or every]
        rows = [
            _row("th", ["source", *(f"step {number + 1}" for number in shown)]),
            *(
                _row("td", [source, *("\n".join(cells[number]) for number in shown)])
                for source, cells in zip(table.sources, table.cells, strict=True)
            ),
        ]
        parts.append(f"<table>{''.join(rows)}</table>")
    return "".join([*parts, _picture(schedule)])


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{_text(cell)}</{tag}>' for cell in cells)}</tr>"


def _text(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _picture(schedule: Schedule) -> str:
    """Return the steps as inline SVG; nothing where it would be large, or if nothing draws it."""
    small = schedule.instance.network.nodes <= MAX_NODES and len(schedule.steps) <= MAX_STEPS
    exporter = load_registry().exporters.get("svg")
    if not small or not schedule.steps or exporter is None:
        return ""
    try:
        text = exporter.export(schedule)
    except InputError:  # matplotlib is not installed
        return ""
    return text[text.index("<svg") :]
