"""``export``, ``import`` and ``audit``: schedules for and of other tools."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cchybrid.cli import arguments, completion
from cchybrid.cli.plugin_loading import load_plugins
from cchybrid.cli.schedules import ScheduleFile
from cchybrid.cli.single_options import given_words, refuse_given
from cchybrid.library.instance_spec import InstanceSpec, find_file, on_network, without_modes
from cchybrid.model import Collective, Network, Schedule
from cchybrid.model.errors import InputError
from cchybrid.model.instance import write_text
from cchybrid.model.shown import counted
from cchybrid.model.text import printable
from cchybrid.plugin.registry import Registry
from cchybrid.system.output import command_output_to_stderr
from cchybrid.view.screen import print_lines, print_note

if TYPE_CHECKING:
    from .audit import Audit

ForeignFile = Annotated[
    Path, typer.Argument(metavar="FILE", show_default=False, help="A file of another tool.")
]
Format = Annotated[
    str | None,
    arguments.option(
        "FORMAT",
        "msccl-xml, sccl-json, teccl, csv, ...; by default it is recognised.",
        "--from",
        autocompletion=completion.importers,
    ),
]
JudgedOn = Annotated[
    str | None,
    arguments.option(
        "TOPOLOGY|FILE",
        "The network it is judged on, capacities included.",
        "--topology",
        autocompletion=completion.topologies,
    ),
]
Performing = Annotated[
    str | None,
    arguments.option(
        "COLLECTIVE",
        "The collective it must perform, on --topology.",
        "--collective",
        autocompletion=completion.collectives,
    ),
]


def _in_steps(schedule: Schedule, name: str) -> Schedule:
    """Return a schedule in ticks as one in steps, for a format of this name that has no times.

    Transfers that begin in the same tick are a step: each begins after the ones it needs have
    ended, so it does in steps. If they use a channel one after another, each has its own step.
    """
    from cchybrid.referee.verify import verify_schedule

    network = replace(schedule.instance.network, times=(), tick=None)
    instance = replace(schedule.instance, network=network)
    read = Schedule(instance, tuple(step for step in schedule.steps if step))
    if verify_schedule(read):
        read = Schedule(instance, tuple((move,) for step in read.steps for move in step))
    steps = counted(len(read.steps), "step")
    print_note(f"the format {name} has no times: transfers stand in {steps}, in order")
    return read


def export(
    schedule: ScheduleFile,
    to: Annotated[str, {"autocompletion": completion.exporters}],
    output: Path | None = None,
    size: int | None = None,
) -> None:
    """Write a schedule for people or other tools. An invalid schedule is not exported.

    Of a file that ``throughput`` has written, one batch of chunks.

    Options
    -------
    to : FORMAT
        csv, jsonl, text, table, markdown, latex, graphml, dot, routes, msccl, mscclpp, goal,
        poseidon, anynet, mpi, or a plugin's format.
    output : -o, --output FILE
        The file; default: standard output.
    size : BYTES
        Bytes of a message, for formats with sizes: goal.
    """
    from cchybrid.referee.verify import refuse_invalid

    from .tree_schedules import read_schedule

    exporter = load_plugins().exporter(to)
    if size is not None and (size < 1 or not exporter.sized):
        what = f"{size} bytes" if exporter.sized else f"the format {exporter.name} has no sizes"
        raise InputError(
            what, where="--size", hint="use at least 1" if exporter.sized else "leave it out"
        )
    read = read_schedule(schedule)
    refuse_invalid(read, schedule)
    if read.instance.network.times and "times" not in exporter.expresses:
        read = _in_steps(read, exporter.name)
        refuse_invalid(read, schedule)
    text = exporter.export(read) if size is None else exporter.export(read, size)
    if output is None:
        print(text, end="")
    else:
        write_text(text, output)
        print(f"written to {output}")


def import_(
    file: ForeignFile,
    output: Path,
    format_name: Format = None,
    topology: JudgedOn = None,
    collective: Performing = None,
    ignore_attributes: arguments.IgnoreAttributes = False,
    unit: arguments.Unit = None,
) -> None:
    """Convert a schedule of another tool to a schedule file. An invalid one is refused.

    Options
    -------
    output : -o, --output FILE
        The schedule file to write.
    """

    from .audit import valid_schedule
    from .foreign_files import import_file

    registry = load_plugins()
    network, performed = judged_on(topology, collective, registry, ignore_attributes, unit)
    name, imported = import_file(
        file, registry, format_name=format_name, network=network, collective=performed
    )
    schedule = valid_schedule(file, imported)
    schedule.save(output)
    size = f"{counted(len(schedule.steps), 'step')}, {schedule.channel_uses} channel uses"
    print_lines([f"{schedule.instance.name}: valid, {size}, read as {name}"])
    print_lines(f"  {line}" for line in (*imported.facts, *imported.limits))
    print(f"written to {output}")


def audit(
    context: typer.Context,
    file: Path,
    format_name: Format = None,
    topology: JudgedOn = None,
    collective: Performing = None,
    ignore_attributes: arguments.IgnoreAttributes = False,
    unit: arguments.Unit = None,
    improve: bool = False,
    time_limit: Annotated[float, {"callback": arguments.check_seconds}] = 60.0,
    bound_time: Annotated[float, {"callback": arguments.check_seconds}] = 10.0,
    seed: int = 0,
    output: Path | None = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Judge a schedule of another tool: its first broken rule, or its distance from a lower bound.

    Exit status: 0 valid, or no schedule in it; 1 invalid; 2 bad input, or a file that cannot be
    judged. Of a folder: 0 every file has a verdict; an interrupted report holds those so far.

    Arguments
    ---------
    file : FILE|FOLDER
        A file, or a folder.

    Options
    -------
    improve
        Solve the instance that is bounded; show ours beside theirs.
    time_limit : SEC
        Seconds of --improve, for each file.
    bound_time : SEC
        Processor seconds for a lower bound.
    seed : N
        Seed of --improve.
    output : -o, --output DIR
        Where to write report.csv and .md.
    """

    from .audit import Bounds, audit_file

    if not improve:
        refuse_given(context, "there is no --improve", names=("time_limit", "seed"))
    registry = load_plugins()
    network, performed = judged_on(topology, collective, registry, ignore_attributes, unit)
    bounds: Bounds = {}

    def run(path: Path) -> Audit:
        # Standard output may be JSON, and plugins may print.
        with command_output_to_stderr():
            return audit_file(
                path,
                registry,
                network,
                performed,
                format_name=format_name,
                improve=time_limit if improve else None,
                bound_seconds=bound_time,
                seed=seed,
                bounds=bounds,
            )

    if file.is_dir():
        words = given_words(context, without=("output", "as_json"))
        command = shlex.join(["cchybrid", "audit", file.name, *words, "-o", "DIR"])
        _audit_folder(file, run, output, printable(command), as_json=as_json)
        return
    if output is not None:
        raise InputError("a report of one file", where="-o", hint="name a folder of files")
    found = run(file)
    if as_json:
        print(json.dumps(found.to_json()))
    else:
        _print(found)
    if found.verdict == "not judged":
        raise typer.Exit(2)
    raise typer.Exit(1 if found.verdict == "invalid" else 0)


def judged_on(
    topology: str | None,
    collective: str | None,
    registry: Registry,
    ignore_attributes: bool = False,
    unit: str | None = None,
) -> tuple[Network | None, Collective | None]:
    """Return the network and the collective by name, if they are given, as ``solve`` has them.

    Raises
    ------
    InputError
        They are unknown, or there is a collective, or an option of graph files, without a network.
    """

    arguments.check_graph_options(topology or "its own network", ignore_attributes, unit)
    if topology is None:
        if collective is None:
            return None, None
        raise InputError(
            "a collective without a network", where="--collective", hint="set --topology"
        )
    read = partial(arguments.read_file, ignore_attributes=ignore_attributes, unit=unit)
    file = find_file(topology, registry, read)
    if collective is None:
        return without_modes(file, print_note), None
    instance = on_network(file, InstanceSpec(topology, collective), registry, print_note)
    # GPUs of programs are the terminals in their order, so the others must be marked.
    idle = {*file.network.terminals} - {*file.transmitters, *file.receivers}
    switches = tuple(sorted({*file.network.switches, *idle}))
    return replace(file.network, switches=switches), instance.collective


def _print(found: Audit) -> None:
    lines = [f"{found.file}: {found.sentence}"]
    if found.importer:
        lines.append(f"  read as {found.importer}")
    if found.lower and found.bound_by:
        lines.append(f"  lower bound {found.compared(found.lower)}: {found.bound_by}")
    lines += [f"  {line}" for line in found.facts]
    lines += [f"  not in this model: {line}" for line in found.limits]
    if found.ours is not None and found.spent is not None:
        optimal = ", optimal" if found.ours_optimal else ""
        theirs, ours = map(found.compared, (found.spent, found.ours))
        lines.append(f"  theirs {theirs}, ours {ours}{optimal}")
    print_lines(lines)


def _audit_folder(
    folder: Path, run: Callable[[Path], Audit], output: Path | None, command: str, *, as_json: bool
) -> None:
    """Audit every file of a folder; print a line for each, and write the report."""

    from .audit_report import files_in, write_report

    found: list[Audit] = []
    paths = files_in(folder)
    try:
        for path in paths:
            audit = replace(run(path), file=printable(str(path.relative_to(folder))), imported=None)
            found.append(audit)
            if as_json:
                print(json.dumps(audit.to_json()), flush=True)
            else:
                print_lines([f"{audit.file}: {audit.sentence}"])
    finally:
        if output is not None and found:
            written = write_report(found, output, command)
            if not as_json:
                print(f"written to {written[0]} and {written[1].name}")
