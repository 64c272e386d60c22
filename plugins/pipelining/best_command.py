"""``best``: the fastest schedule for a size, and a bound on the time of every other."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from cchybrid.cli import arguments, completion
from cchybrid.cli.plugin_loading import load_plugins
from cchybrid.cli.writable_files import check_writable
from cchybrid.host.run_result import columns
from cchybrid.model.errors import InputError
from cchybrid.model.instance import write_text
from cchybrid.view.screen import print_lines

from .rounds_commands import SEARCH

HEADS = ("whole buffer", "chunks", "steps", "rounds", "us", "bound us", "algbw GB/s", "busbw GB/s")


@arguments.with_instance("routing", "chunks", "rounds", "size", "tick", "size_matrix", exact=True)
def best(
    read_instance: arguments.ReadInstance,
    context: typer.Context,
    latency: str,
    size: list[str],
    bandwidth: str | None = None,
    output: Path | None = None,
    to: Annotated[str | None, {"autocompletion": completion.exporters}] = None,
    folder: Path | None = None,
    plot: Path | None = None,
    max_chunks: int = 24,
    max_steps: int | None = None,
    time_limit: arguments.TimeLimit = 60.0,
    seed: arguments.Seed = 0,
    threads: arguments.Threads = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Find the fastest schedule for a size, and bound the time of every other.

    The schedules are the points of pareto; an allreduce is a reduce-scatter and then an allgather.
    A schedule takes steps times latency plus rounds per chunk times size over bandwidth.

    Exit status: 0 a schedule was found, 2 bad input.

    Options
    -------
    latency : US
        Microseconds per step, such as 1.5.
    size : SIZE
        Bytes of the whole buffer, not of a message, as nccl-tests count: 64MiB; repeat for a table.
    bandwidth : GB/S
        What a capacity of 1 stands for, unless a graph file says it.
    output : -o, --output FILE
        Write the schedule; for one size.
    to : FORMAT
        The format of the file, as in export; by default a schedule file.
    folder : FOLDER
        The folder of pareto, which is continued; of an allreduce, one for both halves.
    plot : FILE
        Plot times and bounds by size: .svg, .png or .pdf.
    max_chunks : C
        Try at most C chunks.
    max_steps : S
        Consider at most S steps.
    """
    from cchybrid.view.plot import check_plot

    from .best import fastest, fronts_of, schedule_of
    from .rates import buffer_of, positive, read_bandwidth, read_size, shown_size

    check_writable(output, plot=plot)
    check_plot(plot)
    sizes = sorted(map(read_size, size))
    if output is not None and len(sizes) > 1:
        raise InputError("one file for several sizes", where="-o", hint="give one --size")
    if output is None and to is not None:
        raise InputError("no file to write", where="--to", hint="name one by -o")
    start = positive(latency, "--latency", "time") / 10**6
    registry = load_plugins()
    exporter = None if to is None else registry.exporter(to)
    instance = read_instance(registry)
    rate = read_bandwidth(read_instance, context, bandwidth, required=True)
    assert rate is not None
    search = {name: context.params[name] for name in SEARCH}
    fronts = fronts_of(instance, folder, switching=read_instance.switching, **search)
    found = [fastest(instance, fronts, each, start, 1 / (rate * 10**9)) for each in sizes]
    if output is not None:
        schedule = schedule_of(instance, found[0].points)
        if exporter is None:
            schedule.save(output)
        else:
            write_text(exporter.export(schedule), output)
    buffer = buffer_of(instance.collective)
    records = [each.to_json(buffer) for each in found]
    subject = "reduce-scatter and then allgather" if len(fronts) > 1 else "schedule"
    about = f"no {subject} takes less (certified)"
    gap = max(each.seconds / each.bound for each in found)
    late = gap > 1 and any(front.interrupted for front in fronts)
    title = replace(fronts[-1], instance=replace(fronts[-1].instance, name=instance.name)).sentence
    if plot is not None:
        _plot(records, instance.full_name, about, plot)
    if as_json:
        file = None if output is None else str(output)
        print(json.dumps({"instance": instance.full_name, "best": records, "schedule": file}))
        return
    rows = [HEADS, *(_row(shown_size(each["size"]), each) for each in records)]
    print_lines([
        f"{title}; {float(rate):g} GB/s per unit of capacity, "
        f"{float(Fraction(latency)):g} us per step",
        *columns(rows),
        f"bound us: {about}",
        *[f"remark: {float(gap):.2f} times the bound; more --time-limit may help"] * late,
        *(f"written to {path}" for path in (output, plot) if path is not None),
    ])  # fmt: skip


def _row(size: str, record: dict[str, Any]) -> tuple[str, ...]:
    parts = ("+".join(map(str, record[key])) for key in ("chunks", "steps", "rounds"))
    bus = "-" if record["busbw"] is None else f"{record['busbw']:.3f}"
    times = (f"{record[key]:.2f}" for key in ("microseconds", "bound"))
    return (size, *parts, *times, f"{record['algbw']:.3f}", bus)


def _plot(records: list[dict[str, Any]], title: str, about: str, path: Path) -> None:
    """Write a plot of the times of schedules and of the bounds by the size of the buffer."""
    from cchybrid.view.plot import COLOURS, new_plot

    from .rates import shown_size

    sizes = [record["size"] for record in records]
    with new_plot(path, title, "size of the buffer", "microseconds") as axes:
        for key, mark, label in (
            ("microseconds", "o-", "fastest schedule found"),
            ("bound", "s--", f"bound: {about}"),
        ):
            times = [record[key] for record in records]
            axes.loglog(sizes, times, mark, label=label, color=COLOURS[key == "bound"])
        axes.legend()
        axes.set_xticks(sizes, map(shown_size, sizes))
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:g}")
