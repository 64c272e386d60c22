"""``throughput``: rounds per chunk as the number of chunks grows, exactly."""

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cchybrid.checker import EvidenceError, Network
from cchybrid.checker.kinds import exchanges
from cchybrid.cli import arguments
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.model.instance import write_text
from cchybrid.view.screen import print_lines

if TYPE_CHECKING:
    from .throughput import ThroughputResult


@arguments.with_instance(
    "routing", "ports", "chunks", "rounds", "size", "tick", "size_matrix", exact=True
)
def throughput(
    read_instance: arguments.ReadInstance,
    context: typer.Context,
    bandwidth: str | None = None,
    time_limit: arguments.TimeLimit = 60.0,
    output: Path | None = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Find the fewest rounds per chunk of messages cut into ever more chunks, and prove it.

    A round carries a chunk per unit of capacity. The routes are any; the schedule is a packing of
    trees or paths with integer weights, the proof a set of nodes or prices of channels. Of an
    allreduce: its reduce-scatter and its allgather, and a bound for every allreduce.

    Exit status: 0 the optimum was found and certified, 1 the trees found take more rounds than the
    certified bound, 2 bad input.

    Options
    -------
    bandwidth : GB/S
        What a capacity of 1 stands for; rates are shown.
    output : -o, --output FILE
        Write trees and proof, for check: a .json file; or the trees alone: .xml.
    """
    from cchybrid.cli.plugin_loading import load_plugins
    from cchybrid.cli.writable_files import check_writable

    from .rates import read_bandwidth
    from .rounds import in_switching
    from .throughput import throughput_of
    from .tree_xml import tree_xml

    check_writable(output)
    instance = read_instance(load_plugins())
    rate = read_bandwidth(read_instance, context, bandwidth)
    if read_instance.switching is not None:
        instance = in_switching(instance, read_instance.switching)
    if instance.collective.kind == "allreduce":
        if output is not None:
            raise InputError("two schedules", where="-o", hint="ask for reduce-scatter, allgather")
        raise typer.Exit(_print_halves(instance, time_limit, rate, as_json))
    result = throughput_of(instance, time_limit)
    if output is not None and output.suffix.lower() == ".xml":
        write_text(tree_xml(result.record), output)
    elif output is not None:
        result.save(output)
    if as_json:
        record = {**result.to_json(), "file": None if output is None else str(output)}
        if rate is not None:
            record["message_rate"] = str(result.message_rate(rate))
            record["total_rate"] = str(result.total_rate(rate))
        print(json.dumps(record))
    else:
        print_lines(_lines(result, rate))
        if output is not None:
            print(f"written to {output}")
    raise typer.Exit(0 if result.certified else 1)


def _print_halves(instance: Instance, seconds: float, unit: Fraction | None, as_json: bool) -> int:
    """Print the throughput of the halves of an allreduce, and return the exit status."""
    from .best import halves_of
    from .rates import buffer_of
    from .throughput import shown_fraction, throughput_of

    halves = [throughput_of(half, seconds / 2) for half in halves_of(instance)]
    rounds = sum((half.rounds_per_chunk for half in halves), Fraction(0))
    parts = len(halves[0].instance.collective.messages)
    needed, carried = exchanges(Network(instance.with_model(routing="any").to_json()))
    bound = Fraction(parts * needed, carried)
    lines = [line for half in halves for line in half.lines()]
    lines.append(
        f"allreduce: {shown_fraction(rounds)} rounds per chunk of each of {parts} parts, if "
        "reduce-scatter and allgather have rounds of their own; every allreduce takes at least "
        f"{shown_fraction(bound)} (certified by exchanges)"
    )
    if unit is not None:
        shown = buffer_of(instance.collective).shown(parts * unit / rounds)
        lines.append(f"as nccl-tests count: {shown}")
    record = {
        "instance": instance.full_name, "parts": parts, "rounds_per_chunk": str(rounds),
        "bound": str(bound), "halves": [half.to_json() for half in halves],
    }  # fmt: skip
    print_lines([json.dumps(record)] if as_json else lines)
    return 0 if all(half.certified for half in halves) else 1


def _lines(result: "ThroughputResult", unit: Fraction | None) -> list[str]:
    """Return the result as lines for people, with rates if a capacity of 1 is known."""
    from .rates import buffer_of

    lines = result.lines()
    if unit is not None:
        each, total = float(result.message_rate(unit)), float(result.total_rate(unit))
        messages = len(result.instance.collective.messages)
        buffer = buffer_of(result.instance.collective)
        lines.append(
            f"at {float(unit):g} GB/s per unit of capacity: {each:.3f} GB/s per message, "
            f"{total:.3f} GB/s for all {messages}"
        )
        if buffer.bus is not None:
            lines.append(f"as nccl-tests count: {buffer.shown(result.message_rate(unit))}")
    return lines


def check_file(path: Path, record: Any, explain: bool, as_json: bool) -> bool:
    """Check a throughput file by itself, print the verdict, and return whether it holds."""
    from cchybrid.checker.description import describe
    from cchybrid.checker.throughput import check_throughput

    from .throughput import shown_fraction

    verdict, failure = None, ""
    try:
        verdict = check_throughput(record)
    except EvidenceError as error:
        failure = str(error)
    instance = record.get("instance")
    name = instance.get("name") if isinstance(instance, dict) else None
    name = name if isinstance(name, str) else path.name
    about = [] if verdict is None else describe(record["instance"])
    if as_json:
        shown = {
            "holds": verdict is not None,
            "instance": name,
            "description": about,
            "rounds_per_chunk": None if verdict is None else str(verdict.rounds_per_chunk),
            "bound": None if verdict is None else str(verdict.bound),
            "kind": None if verdict is None else verdict.kind,
            "optimal": verdict is not None and verdict.optimal,
            "failure": failure,
        }
        print(json.dumps(shown))
    elif verdict is None:
        print_lines([f"{path}: FAILED: {failure}"])
    else:
        word = "optimal (certified)"
        if not verdict.optimal:
            word = f"at least {shown_fraction(verdict.bound)} are needed"
        rounds = shown_fraction(verdict.rounds_per_chunk)
        head = f"{path}: valid, {rounds} rounds per chunk, {word}; {verdict.kind}"
        print_lines([head, *(f"  {line}" for line in about)])
        if explain:
            from cchybrid.view.argument import rounds_argument

            network = Network(instance).with_any_routing()
            print_lines([f"  {x}" for x in rounds_argument(network, record["evidence"], None)])
    return verdict is not None
