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
    from cchybrid.host.designs.front import DesignFront
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
    from cchybrid.host.designs.front import design_front
    from cchybrid.view.front_plot import check_plot, plot_front

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
            plot_front(values, front.terms, front.maximised, _title(front), plot)
            written.append(plot)
    except InputError as error:
        failed = error  # raised after the front is printed
    if as_json:
        print(json.dumps({**front.to_json(), "written": [str(path) for path in written]}))
    else:
        print_lines([*_lines(front), *(f"written to {path}" for path in written)])
    if failed is not None:
        raise failed
    raise typer.Exit(0 if front.points else 1)


def _title(front: DesignFront) -> str:
    return (
        f"{front.task.nodes} nodes of degree {front.task.degree}: {' against '.join(front.terms)}"
    )


def _lines(front: DesignFront) -> list[str]:
    """Return the front as a table, and what is to be known of the search."""
    rows = [
        front.terms,
        *((f"{first:.6g}", f"{second:.6g}") for first, second in (p.values for p in front.points)),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_title(front)] if front.points else [f"{_title(front)}: no network was found"]
    if front.points:
        lines += [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in rows
        ]
    if len(front.points) == 1:
        lines.append("this network is the best one found in both terms")
    elif front.points:
        lines.append(f"{len(front.points)} networks, of which none beats another in both terms")
    lines.append(f"{front.runs} runs, {front.seconds:.1f} s, seed {front.seed}")
    if front.interrupted:
        lines.append("interrupted")
    return lines + [f"trouble: {text}" for text in front.troubles]


def _show(line: str) -> None:
    print(line, file=sys.stderr)
