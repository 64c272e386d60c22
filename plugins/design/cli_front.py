"""``design --pareto``: the front of two cost terms as a table, a CSV file and a plot."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cchybrid.cli.writable_files import check_writable
from cchybrid.model.errors import InputError
from cchybrid.view.screen import print_lines

if TYPE_CHECKING:
    from cchybrid.plugin.registry import Registry


def print_front(
    nodes: int,
    degree: int,
    terms: str,
    output: Path | None,
    plot: Path | None,
    as_json: bool,
    registry: Registry,
    **settings: Any,
) -> None:
    """Search for the front, write and print it, and exit.

    Parameters
    ----------
    terms
        The names of two cost terms, with a comma between them.
    settings
        Further arguments of ``cchybrid.design_front``.
    """
    from cchybrid.view.front_plot import plot_front
    from cchybrid.view.plot import check_plot

    from .front import design_front

    check_writable(output, plot)
    if output is not None and output.suffix != ".csv":
        raise InputError(
            f"a front is no {output.suffix or 'such'} file",
            where="-o",
            hint="use a name that ends in .csv",
        )
    if plot is not None:
        check_plot(plot)
    names = [name.strip() for name in terms.split(",")]
    front = design_front(nodes, degree, names, registry=registry, report=_show, **settings)
    failed: InputError | None = None
    written: list[Path] = []
    try:
        if output is not None:
            from cchybrid.model.instance import write_text

            write_text(front.to_csv(), output)
            written.append(output)
        if plot is not None and front.points:
            values = [point.values for point in front.points]
            plot_front(values, front.terms, front.maximised, front.title, plot)
            written.append(plot)
    except InputError as error:
        failed = error  # raised after the front is printed
    if as_json:
        print(json.dumps({**front.to_json(), "written": [str(path) for path in written]}))
    else:
        print_lines([*front.lines(), *(f"written to {path}" for path in written)])
    if failed is not None:
        raise failed
    raise typer.Exit(0 if front.points else 1)


def _show(line: str) -> None:
    print(line, file=sys.stderr)
