"""``rounds`` and ``pareto``: steps against rounds per chunk."""

from __future__ import annotations

import json
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cchybrid.checker import EvidenceError
from cchybrid.cli import arguments
from cchybrid.cli.plugin_loading import load_plugins
from cchybrid.cli.writable_files import check_writable
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.view.screen import print_lines

if TYPE_CHECKING:
    from .rounds_front import FrontPoint


@arguments.with_instance("routing", "rounds", "size", "tick", "size_matrix", exact=True)
def rounds(
    read_instance: arguments.ReadInstance,
    steps: int,
    time_limit: arguments.TimeLimit = 60.0,
    seed: arguments.Seed = 0,
    threads: arguments.Threads = None,
    output: Path | None = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Find the fewest rounds of a schedule of at most S steps, and prove it.

    Messages are cut into chunks by --chunks. By default transfers cross switches within a step, if
    switches alone lead to all destinations; elsewhere messages go hop by hop.

    Exit status: 0 a schedule was found, 1 none was found in time, 2 bad input.

    Options
    -------
    steps : S
        Use at most S steps.
    output : -o, --output FILE
        Write the schedule, and its certificate beside it.
    """

    from .front_files import write_changed
    from .rounds import fewest_rounds

    check_writable(output)
    instance = read_instance(load_plugins())
    result = fewest_rounds(
        instance,
        steps,
        switching=read_instance.switching,
        time_limit=time_limit,
        seed=seed,
        threads=threads,
    )
    written: dict[str, str | None] = {"schedule": None, "certificate": None}
    if output is not None and result.schedule is not None:
        result.schedule.save(output)
        written["schedule"] = str(output)
        if result.certificate is not None:
            proof = output.with_name(f"{output.stem}.certificate.json")
            write_changed(result.certificate, proof)
            written["certificate"] = str(proof)
    if as_json:
        print(json.dumps({**result.to_json(), **written}))
    else:
        print_lines(result.lines())
        for name in filter(None, written.values()):
            print(f"written to {name}")
    raise typer.Exit(0 if result.schedule is not None else 1)


@arguments.with_instance("routing", "chunks", "rounds", "size", "tick", "size_matrix", exact=True)
def pareto(
    read_instance: arguments.ReadInstance,
    context: typer.Context,
    alpha: str | None = None,
    beta: str | None = None,
    output: Path | None = None,
    plot: Path | None = None,
    max_chunks: int = 24,
    max_steps: int | None = None,
    time_limit: arguments.TimeLimit = 60.0,
    seed: arguments.Seed = 0,
    threads: arguments.Threads = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Find the front of steps and rounds per chunk, every point with schedule and certificate.

    Messages are cut into chunks; the time of a schedule is steps times alpha plus rounds per chunk
    times size times beta. By default transfers cross switches within a step, if switches alone lead
    to all destinations; elsewhere messages go hop by hop.

    Exit status: 0 the front is complete and certified, 1 it is not, 2 bad input.

    Options
    -------
    alpha : SEC
        Seconds per step, such as 0.7e-6.
    beta : SEC
        Seconds per byte on a channel of capacity 1: 4e-11.
    output : -o, --output FOLDER
        The folder of schedules and certificates; an earlier run continues there.
    plot : FILE
        Plot the front: .svg, .png or .pdf.
    max_chunks : C
        Try at most C chunks.
    max_steps : S
        Consider at most S steps.
    """
    from cchybrid.view.front_plot import plot_front
    from cchybrid.view.plot import check_plot

    from .pareto import pareto as find_front
    from .rounds_front import choices

    check_writable(plot)
    if plot is not None:
        check_plot(plot)
    times = [None if text is None else _price(text) for text in (alpha, beta)]
    instance = read_instance(load_plugins())
    stated = read_instance.bandwidth(context, "beta")
    if stated is not None and alpha is not None:
        times[1] = 1 / (stated * 10**9)
    if (times[0] is None) != (times[1] is None):
        where = "--beta" if times[1] is None else "--alpha"
        raise InputError("alpha and beta belong together", where=where, hint="give both")
    folder = Path(f"{_slug(instance)}-front") if output is None else output
    front = find_front(
        instance,
        switching=read_instance.switching,
        folder=folder,
        time_limit=time_limit,
        max_chunks=max_chunks,
        max_steps=max_steps,
        seed=seed,
        threads=threads,
        report=_report,
    )
    start, per_byte = times
    timed = start is not None and per_byte is not None
    chosen = choices(front, start, per_byte) if start is not None and per_byte is not None else []
    if plot is not None and front.points:
        values = [(float(point.steps), float(point.ratio)) for point in front.points]
        plot_front(values, ("steps", "rounds per chunk"), (False, False), instance.name, plot)
    if as_json:
        ranges = [
            {"from": each.smallest, "to": each.largest, "point": front.points.index(each.point)}
            for each in chosen
        ]
        print(json.dumps({**front.to_json(), **({"choices": ranges} if timed else {})}))
    else:
        print_lines(front.lines())
        for each in chosen:
            sizes = f"{_bytes(each.smallest)} to {_bytes(each.largest)}"
            print(f"messages of {sizes}: {_short(each.point)}")
        print(f"written to {folder}" + (f" and {plot}" if plot and front.points else ""))
    if plot is not None and not front.points:
        print(f"{plot} is not written: there is no point to plot", file=sys.stderr)
    raise typer.Exit(0 if front.complete else 1)


def _report(point: FrontPoint) -> None:
    print(f"found {_short(point)}", file=sys.stderr)


def _short(point: FrontPoint) -> str:
    return f"{point.chunks} chunks, {point.steps} steps, {point.rounds} rounds"


def check_folder(folder: Path, record: Any, explain: bool, as_json: bool) -> bool:
    """Check the folder of a front from its files, print what they show, and return if it holds."""
    from cchybrid.checker.description import describe

    from .front_files import check_front

    if explain:
        raise InputError(
            "a front has an argument per certificate",
            where="--explain",
            hint="name a schedule and its certificate",
        )
    front, failure = None, ""
    try:
        front = check_front(folder)
    except EvidenceError as error:
        failure = str(error)
    if as_json:
        derived = [] if front is None else describe(front.instance.to_json())
        shown = {} if front is None else front.to_json()
        record = {"holds": front is not None, **shown, "description": derived, "failure": failure}
        print(json.dumps(record))
    elif front is None:
        print_lines([f"{folder}: FAILED: {failure}"])
    else:
        # Names prove nothing, so they come last, as the files' own words.
        about = (f"  {line}" for line in describe(front.instance.to_json()))
        print_lines([f"{folder}: every file holds", *front.lines()[1:], *about])
    return front is not None


def _price(text: str) -> Fraction:
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,15})?(e-?[0-9]{1,2})?", text):
        return Fraction(text)
    raise InputError(f"{text[:40]!r} is no number of seconds", hint="use one such as 0.7e-6")


def _bytes(number: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number >= size:
            return f"{number / size:.4g} {unit}"
    return f"{number} bytes"


def _slug(instance: Instance) -> str:
    return re.sub(r"[^\w.-]+", "-", instance.name).strip("-.") or "instance"
