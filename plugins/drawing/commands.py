"""``draw``: a schedule or a network as an interactive page or a figure."""

from pathlib import Path
from typing import Annotated

from cchybrid.cli import arguments, completion
from cchybrid.library.formats import NetworkFile, read_network
from cchybrid.library.instance_spec import find_network
from cchybrid.library.nearest import did_you_mean
from cchybrid.model import Instance, Network, Schedule
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import read_json, write_text
from cchybrid.view.screen import print_note

PAGE = ".html"
FIGURES = (".svg", ".pdf", ".png")


def _charts(incomplete: str) -> list[completion.Completion]:
    from .figures import CHARTS

    return completion.matching(incomplete, [(name, "") for name in CHARTS])


def draw(
    source: Annotated[str, {"autocompletion": completion.topologies}],
    output: Path,
    step: int | None = None,
    chart: Annotated[str | None, {"autocompletion": _charts}] = None,
    title: str | None = None,
    ignore_attributes: arguments.IgnoreAttributes = False,
    unit: arguments.Unit = None,
) -> None:
    """Draw a schedule as an interactive page or a figure, or a network as a figure.

    Exit status: 0 the file is written, 2 bad input.

    Arguments
    ---------
    source : SCHEDULE|TOPOLOGY|FILE
        A cchybrid-schedule/1 file; or a network, which is drawn alone.

    Options
    -------
    output : -o, --output FILE
        NAME.html: interactive page; NAME.svg, .pdf or .png: figure.
    step : N
        Draw one step of a schedule, from 1.
    chart : NAME
        steps (default), channels, nodes, or bound.
    title : TEXT
        The title of a page; default: the instance.
    """

    from .figures import CHARTS, save_figure
    from .figures import draw as draw_figure

    suffix = output.suffix.lower()
    if suffix not in (PAGE, *FIGURES):
        raise InputError(
            f"the file type of {output.name!r} is not known",
            where="-o",
            hint="use a name that ends in .html, .svg, .pdf or .png",
        )
    if chart is not None and chart not in CHARTS:
        hint = did_you_mean(chart, CHARTS) or f"use {', '.join(CHARTS)}"
        raise InputError(f"no chart is called {chart!r}", where="--chart", hint=hint.rstrip("."))
    _refuse_options(suffix, step, chart, title)
    arguments.check_graph_options(source, ignore_attributes, unit)
    found = _read(source, ignore_attributes, unit)
    given = "-o" if suffix == PAGE else _given(step, chart)
    if given and isinstance(found, Network):
        raise InputError(
            f"{source} is a network, and that needs a schedule",
            where=given,
            hint="draw it as .svg, or name a file that solve has written",
        )
    if suffix == PAGE and isinstance(found, Schedule):
        from .page import page

        with with_context(source):
            text = page(found, title=title)
        write_text(text, output)
    else:
        with with_context(source):
            figure = draw_figure(found, step, chart)
        save_figure(figure, output)
    print(f"written to {output}")


def _refuse_options(suffix: str, step: int | None, chart: str | None, title: str | None) -> None:
    """Raise an ``InputError`` for options that the kind of file has no use for."""
    if step is not None and chart is not None:
        raise InputError("--step and --chart exclude each other", hint="leave one of them out")
    given = _given(step, chart)
    if suffix == PAGE and given:
        raise InputError(
            "a page shows all steps and charts", where=given, hint="leave it out, or draw a figure"
        )
    if suffix != PAGE and title is not None:
        raise InputError("a figure has no title", where="--title", hint="leave it out")


def _given(step: int | None, chart: str | None) -> str:
    """Return the option that chooses a figure of a schedule; empty if none does."""
    return "--step" if step is not None else "--chart" if chart is not None else ""


def _read(source: str, ignore_attributes: bool, unit: str | None) -> Schedule | Network:
    """Return the schedule in a file, or the network that a name or a file gives."""
    from cchybrid.cli.plugin_loading import load_plugins

    def read(path: str | Path) -> NetworkFile:
        file = read_network(path, ignore_attributes=ignore_attributes, unit=unit)
        for note in file.notes:
            print_note(f"{file.network.name}: {note}")
        return file

    if Path(source).suffix.lower() == ".json":
        record = read_json(source)
        with with_context(source):
            written = str(record.get("format")) if isinstance(record, dict) else ""
            if written.startswith("cchybrid-schedule/"):
                return Schedule.from_json(record)
            if written.startswith("cchybrid-instance/"):
                return Instance.from_json(record).network
    return find_network(source, load_plugins(), print_note, read)
