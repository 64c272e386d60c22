"""The interactive page of a schedule: one HTML file that loads nothing else."""

import json
from pathlib import Path
from typing import Any

from cchybrid.model import Schedule
from cchybrid.plugin.expressed import refuse_slots_ticks_groups
from cchybrid.referee.verify import refuse_invalid
from cchybrid.view.extras import require_packages

SCRIPTS = ("page_model.js", "page_network.js", "page_charts.js", "page_tree.js", "page.js")
"""The scripts of the page, in the order in which they run."""


def page(schedule: Schedule, *, title: str | None = None) -> str:
    """Return the page of a schedule as HTML, with its styles, scripts and data inside.

    Parameters
    ----------
    title
        The title of the page; by default the name of the instance.

    Raises
    ------
    InputError
        An invalid schedule, a network that is too large, or no jinja2.
    """
    require_packages("a page", "jinja2")
    refuse_slots_ticks_groups(schedule.instance, "a page")
    refuse_invalid(schedule)
    from jinja2 import Environment, StrictUndefined

    from .page_data import page_data

    data = page_data(schedule)
    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    text = template.from_string(_read("page.html.j2")).render(
        title=schedule.instance.name if title is None else title,
        status=data["status"],
        model=data["model"],
        style=_read("page.css"),
        data=script_json(data),
        scripts="\n".join(map(_read, SCRIPTS)),
        left_out=_left_out(data),
        bound=data["bound"],
    )
    return text.encode("utf-8", "replace").decode()


def script_json(data: Any) -> str:
    """Return JSON that can stand in a script element: no text in it can end the element."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _left_out(data: dict[str, Any]) -> str:
    """Return what the page leaves out, in words; empty if nothing."""
    shown, steps = len(data["steps"]), data["allSteps"]
    if shown == steps:
        return ""
    return (
        f"This page has only the first {shown:,} of {steps:,} steps: with all of them the file "
        "would be too large for a browser. Figures of any step: cchybrid draw --step."
    )


def _read(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
