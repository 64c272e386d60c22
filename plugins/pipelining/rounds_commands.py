"""``rounds`` and ``pareto``: steps against rounds per chunk."""

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cchybrid.checker import EvidenceError
from cchybrid.cli import arguments
from cchybrid.cli.plugin_loading import load_plugins
from cchybrid.cli.writable_files import check_writable
from cchybrid.model.errors import InputError
from cchybrid.model.shown import counted
from cchybrid.view.screen import print_lines

if TYPE_CHECKING:
    from .rounds_front import FrontPoint

SEARCH = ("time_limit", "max_chunks", "max_steps", "seed", "threads")
"""The options of ``pareto`` and ``best`` that are arguments of ``cchybrid.pareto``."""


@arguments.with_instance("routing", "rounds", "size", "tick", "size_matrix", exact=True)
def rounds(
    read_instance: arguments.ReadInstance,
    context: typer.Context,
    steps: int,
    bandwidth: str | None = None,
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
    bandwidth : GB/S
        What a capacity of 1 stands for, unless a graph file says it.
    output : -o, --output FILE
        Write the schedule, and its certificate beside it.
    """

    from .front_files import write_changed
    from .rates import buffer_of, read_bandwidth
    from .rounds import fewest_rounds

    check_writable(output)
    instance = read_instance(load_plugins())
    rate = read_bandwidth(read_instance, context, bandwidth)
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
        if rate is not None and result.ratio is not None:
            print(buffer_of(result.instance.collective).large_messages(rate, result.ratio))
        for name in filter(None, written.values()):
            print(f"written to {name}")
    raise typer.Exit(0 if result.schedule is not None else 1)


@arguments.with_instance("routing", "chunks", "rounds", "size", "tick", "size_matrix", exact=True)
def pareto(
    read_instance: arguments.ReadInstance,
    context: typer.Context,
    latency: str | None = None,
    bandwidth: str | None = None,
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

    Messages are cut into chunks; the time of a schedule is steps times latency plus rounds per
    chunk times size over bandwidth. By default transfers cross switches within a step, if switches
    alone lead to all destinations; elsewhere messages go hop by hop.

    Exit status: 0 the front is complete and certified, 1 it is not, 2 bad input.

    Options
    -------
    latency : US
        Microseconds per step, such as 0.7: the sizes for which each point is the fastest.
    bandwidth : GB/S
        What a capacity of 1 stands for, unless a graph file says it.
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
    from .rates import buffer_of, positive, read_bandwidth, shown_size
    from .rounds_front import choices

    check_writable(None, plot=plot)
    check_plot(plot)
    start = None if latency is None else positive(latency, "--latency", "time") / 10**6
    instance = read_instance(load_plugins())
    rate = read_bandwidth(read_instance, context, bandwidth, required=start is not None)
    slug = re.sub(r"[^\w.-]+", "-", instance.name).strip("-.") or "instance"
    folder = Path(f"{slug}-front") if output is None else output
    front = find_front(
        instance,
        switching=read_instance.switching,
        folder=folder,
        **{name: context.params[name] for name in SEARCH},
        report=lambda point: print(f"found {_short(point)}", file=sys.stderr),
    )
    chosen = [] if start is None or rate is None else choices(front, start, 1 / (rate * 10**9))
    if plot is not None and front.points:
        values = [(float(point.steps), float(point.ratio)) for point in front.points]
        plot_front(values, ("steps", "rounds per chunk"), (False, False), instance.name, plot)
    if as_json:
        ranges = [
            {"from": each.smallest, "to": each.largest, "point": front.points.index(each.point)}
            for each in chosen
        ]
        print(json.dumps({**front.to_json(), **({"choices": ranges} if start is not None else {})}))
    else:
        print_lines(front.lines())
        for each in chosen:
            sizes = f"{shown_size(each.smallest)} to {shown_size(each.largest)}"
            print(f"messages of {sizes}: {_short(each.point)}")
        if rate is not None and front.points:
            ratio = front.points[-1].ratio
            print(buffer_of(front.instance.collective).large_messages(rate, ratio))
        print(f"written to {folder}" + (f" and {plot}" if plot and front.points else ""))
    if plot is not None and not front.points:
        print(f"{plot} is not written: there is no point to plot", file=sys.stderr)
    raise typer.Exit(0 if front.complete else 1)


def _short(point: "FrontPoint") -> str:
    return ", ".join(counted(getattr(point, f"{one}s"), one) for one in ("chunk", "step", "round"))


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
