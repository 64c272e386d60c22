"""``solve``, ``bound`` and ``instance``."""

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from cchybrid.cli import arguments, completion
from cchybrid.cli.option_texts import engine_options
from cchybrid.cli.plugin_loading import load_plugins
from cchybrid.cli.writable_files import check_writable
from cchybrid.library.formats import NetworkFile, read_seed_text, write_seed_text
from cchybrid.library.instance_spec import InstanceSpec, no_note, on_network
from cchybrid.library.roles import senders_and_receivers
from cchybrid.model import CommunicationModel, Instance
from cchybrid.model.errors import InputError
from cchybrid.model.instance import expect_suffix, write_text
from cchybrid.model.shown import counted_steps
from cchybrid.plugin.records import Observer
from cchybrid.plugin.registry import Registry
from cchybrid.view.screen import print_lines, print_note

INFEASIBLE = 3
"""The exit status if it is certain that there is no such schedule."""


@arguments.with_instance()
def solve(
    read_instance: arguments.ReadInstance,
    engine: Annotated[list[str] | None, {"autocompletion": completion.engines}] = None,
    without: Annotated[list[str] | None, {"autocompletion": completion.engines}] = None,
    strategy: Annotated[str, {"autocompletion": completion.strategies}] = "auto",
    steps: int | None = None,
    time_limit: float | None = None,
    evaluations: arguments.Evaluations = None,
    seed: arguments.Seed = 0,
    threads: arguments.Threads = None,
    memory: arguments.Memory = None,
    first_schedule: bool = True,
    certify: bool = True,
    option: arguments.EngineOption = None,
    cluster: arguments.Cluster = None,
    executor: arguments.ExecutorName = None,
    initial: Path | None = None,
    output: Path | None = None,
    log: Path | None = None,
    as_json: arguments.AsJson = False,
    verbose: bool = False,
) -> None:
    """Find a schedule with the fewest steps, verify it, and prove that there is no shorter one.

    Exit status: 0 a verified schedule was found, 1 none was found in time, 2 bad input,
    3 there is no schedule (with --steps: none of so few steps).

    Options
    -------
    engine : NAME
        An engine that takes part; repeat for several.
    steps : S
        Look only for at most S steps.
    time_limit : SEC
        Seconds in all; 60 by default.
    output : -o, --output FILE
        Write the schedule.
    verbose : -v, --verbose
        Show every event.

    Search
    ------
    without : NAME
        An engine that is left out; repeat for several.
    strategy : NAME
        auto, race, relay or quotients.
    first_schedule
        Make a greedy schedule before any engine starts.
    certify
        Use the time left to prove what an engine only claims.
    initial : FILE
        Begin with this schedule.
    log : FILE
        Write the log, a JSON line per event.
    """
    from cchybrid.host import api
    from cchybrid.system.background import avoid_full_collections
    from cchybrid.system.processes import processor_count
    from cchybrid.system.processors import limited_to

    avoid_full_collections()
    registry = load_plugins()
    check_writable(output, log=log)
    instance = read_instance(registry)
    with ExitStack() as stack:
        machines = None
        if cluster is None and executor is None:
            stack.enter_context(limited_to(threads))
        else:
            from cchybrid.host.executors import executor_name, opened

            per_slice = max(1, threads or api.SLICE_THREADS)
            machines = stack.enter_context(
                opened(
                    registry, executor_name(registry, executor, cluster), cluster,
                    max(1, processor_count() // per_slice), per_slice, print_note,
                )
            )  # fmt: skip
        observers: list[Observer] = [stack.enter_context(_view(instance.name, verbose))]
        result = api.solve(
            instance,
            engines=engine or None,
            without=without or (),
            strategy=strategy.lower(),
            steps=steps,
            time_limit=time_limit,
            evaluations=evaluations,
            seed=seed,
            threads=threads,
            memory=memory,
            first_schedule=first_schedule,
            certify=certify,
            options=engine_options(option or []),
            initial_schedule=initial,
            executor=machines,
            observers=observers,
            log=None if log is None else _log_to(log, stack),
            registry=registry,
        )
    written, failed = None, None
    if output is not None and result.schedule is not None:
        try:
            result.schedule.save(output)
            written = str(output)
        except InputError as error:
            failed = error  # raised after the verdict is printed
    if as_json:
        print(json.dumps({**result.to_json(), "schedule": written}))
    else:
        from rich.console import Console

        from cchybrid.view.table import steps_table

        if result.schedule is not None:
            console = Console(highlight=False, markup=False)
            console.print(steps_table(result.schedule, console.width, console.height))
        print_lines(result.lines(explain=verbose))
        if written is not None:
            print(f"written to {written}")
    if failed is not None:
        raise failed
    if result.status == "infeasible" and result.certified:
        raise typer.Exit(INFEASIBLE)
    raise typer.Exit(0 if result.schedule is not None else 1)


@arguments.with_instance()
def bound(
    read_instance: arguments.ReadInstance,
    time_limit: arguments.TimeLimit = 60.0,
    as_json: arguments.AsJson = False,
) -> None:
    """Find the best certified lower bound on the number of steps, without any schedule.

    Exit status: 0 a bound was certified, 1 it was interrupted, 2 bad input, 3 there is no
    schedule.
    """
    from cchybrid.host import api
    from cchybrid.system.background import avoid_full_collections

    avoid_full_collections()
    registry = load_plugins()
    instance = read_instance(registry)
    found: dict[str, int] = {}

    def record_bound(event: Mapping[str, Any]) -> None:
        if event["event"] == "bound":
            found[event["engine"]] = event["steps"]

    with _view(instance.name, verbose=False) as view:
        result = api.bound(
            instance, time_limit=time_limit, observers=[record_bound, view], registry=registry
        )
    if as_json:
        record = result.to_json()
        keys = ("instance", "lower_bound", "certified", "bound_by", "seconds", "status")
        kept = {key: record[key] for key in (*keys, "unreachable", "troubles")}
        print(json.dumps({**kept, "evidence": result.lower_bound.evidence}))
    elif result.status == "infeasible":
        print_lines([result.sentence])
    else:
        steps, author = result.lower_bound.steps, result.bound_by
        how = f"certified by {author}" if author else "as there is something to send"
        print_lines([
            f"{instance.full_name}: at least {counted_steps(instance, steps)}, {how}",
            *(f"  {name}: {shown}" for name, shown in found.items()),
            *(f"trouble: {text}" for text in result.troubles),
        ])  # fmt: skip
    if result.status == "infeasible" and result.certified:
        raise typer.Exit(INFEASIBLE)
    raise typer.Exit(1 if result.interrupted else 0)


@arguments.with_instance()
def instance(
    read_instance: arguments.ReadInstance,
    output: Path = ...,  # type: ignore[assignment]
) -> None:
    """Write an instance to a file: JSON, or its network and roles in the seeds' text format.

    Options
    -------
    output : -o, --output FILE
        A .json file, or .txt: the network.
    """

    registry = load_plugins()
    instance = read_instance(registry)
    expect_suffix(output, (".json", ".txt"), "-o")
    if output.suffix == ".txt":
        if instance.model != CommunicationModel() or instance.collective.chunks > 1:
            raise InputError(
                "the text format holds no chunks, switching, ports or routing",
                where=str(output),
                hint="write a .json file, or give them to solve",
            )
        write_text(_network_and_roles(instance, registry), output)
        if instance.network.node_names:
            print(f"{output}: the text format holds no names of nodes", file=sys.stderr)
    else:
        instance.save(output)
    print_lines([f"{instance.name}: written to {output}"])


def _network_and_roles(instance: Instance, registry: Registry) -> str:
    """Return the text format, or refuse a collective that has other messages when read from it."""

    network, collective = instance.network, instance.collective
    text = write_seed_text(NetworkFile(network, *senders_and_receivers(collective)))
    spec = InstanceSpec(network.name, collective.name.partition(" among ")[0])
    try:
        read = on_network(read_seed_text(text, network.name), spec, registry, no_note)
        same = read.collective.messages == collective.messages
    except InputError:
        same = True  # this name cannot be given again, so none is misread
    if not same:
        raise InputError(
            "read from the text format, which holds only the modes of the nodes, it has other "
            "messages",
            where=instance.name,
            hint="write a .json file",
        )
    return text


def _view(title: str, verbose: bool) -> Any:
    from rich.console import Console

    from cchybrid.view.live import LiveView, PlainView

    console = Console(stderr=True)
    if console.is_terminal and not console.is_dumb_terminal and not verbose:
        return LiveView(console, title)
    return PlainView(console, verbose)


def _log_to(path: Path, stack: ExitStack) -> Callable[[Mapping[str, Any]], None]:
    try:
        file = path.open("w", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}", where="--log", hint="name another file"
        ) from None

    def close() -> None:
        with suppress(OSError):  # what could not be written is written again
            file.close()

    stack.callback(close)

    def write(line: Mapping[str, Any]) -> None:
        file.write(json.dumps(line) + "\n")
        file.flush()

    return write
