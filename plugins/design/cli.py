"""``design``, also of fronts, ``designers`` and ``check-design``."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from cchybrid.checker import EvidenceError
from cchybrid.cli import arguments, completion
from cchybrid.cli.listing import print_options, records_of
from cchybrid.cli.option_texts import engine_options
from cchybrid.cli.plugin_loading import load_plugins
from cchybrid.cli.writable_files import check_writable
from cchybrid.library.formats.network_json import network_record, read_network_json
from cchybrid.model import CommunicationModel
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import expect_suffix, read_text, write_text
from cchybrid.model.json_fields import parse_json
from cchybrid.plugin.registry import Registry, load_registry
from cchybrid.view.screen import print_lines

if TYPE_CHECKING:
    from cchybrid.host.run_result import RunResult

    from .result import DesignResult

Files = dict[str, tuple[Path | None, Callable[[Path], object] | None]]
"""The path of each file of a command, and what writes it; ``None`` where there is none."""
SETTINGS = (
    "layout", "max_wire", "redundant_links", "fault_tolerant", "collective", "switching", "ports",
    "routing", "initial", "time_limit", "evaluations", "seed", "threads", "memory",
)  # fmt: skip
"""The options that are arguments of ``cchybrid.design`` and of ``cchybrid.design_front``."""
SUFFIXES = (".json", ".graphml", ".edges")
"""The kinds of files to which networks are written."""


def _options(incomplete: str) -> list[completion.Completion]:
    """Return ``DESIGNER.NAME=`` for the options of designers, for completion."""
    return completion.options_of(incomplete, load_registry().designers.values())


def design(
    context: typer.Context,
    nodes: int,
    degree: int,
    cost: list[str] | None = None,
    layout: str | None = None,
    max_wire: float | None = None,
    redundant_links: bool = False,
    fault_tolerant: bool = False,
    collective: Annotated[str | None, {"autocompletion": completion.collectives}] = None,
    switching: Annotated[str | None, arguments.option_of_instance("switching")] = None,
    ports: Annotated[str | None, arguments.option_of_instance("ports")] = None,
    routing: Annotated[str | None, arguments.option_of_instance("routing")] = None,
    schedule: Path | None = None,
    pareto: str | None = None,
    plot: Path | None = None,
    initial: Annotated[str | None, {"autocompletion": completion.topologies}] = None,
    designer: Annotated[list[str] | None, {"autocompletion": completion.designers}] = None,
    target: float | None = None,
    time_limit: float | None = None,
    evaluations: int | None = None,
    seed: arguments.Seed = 0,
    threads: int | None = None,
    memory: arguments.Memory = None,
    option: Annotated[list[str] | None, {"autocompletion": _options}] = None,
    output: Path | None = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Search for a network of low cost, and check it.

    With --collective: search for a network on which it takes the fewest steps, and schedule it.

    Exit status: 0 a network was found (with --collective also a schedule), 1 none was found in
    time, 2 bad input.

    Options
    -------
    nodes : N
        The number of nodes.
    degree : D
        Links per node, at most.
    cost : TERM[=WEIGHT]
        A cost term; repeat for several.
    layout : L
        backplane, centreplane or grid-WxH.
    max_wire : R
        The longest wire, Manhattan distance.
    redundant_links
        Two nodes may have several links.
    fault_tolerant
        Any one node may fail.
    collective : NAME
        Search for its fewest steps, such as AAS.
    schedule : FILE
        Write the schedule of the collective.
    pareto : TERM,TERM
        Search for the front of two cost terms instead.
    plot : FILE
        Draw the front: .svg, .png, .pdf.
    initial : FILE|TOPOLOGY
        A network to begin with.
    designer : NAME
        A designer that takes part; repeat for several.
    target : COST
        Stop at a network of this cost.
    time_limit : SEC
        Seconds in all; 10 by default, --pareto 30, --collective 60.
    evaluations : N
        Networks per designer, for a repeatable result.
    threads : N
        Designers at a time; default: one per processor.
    option : DESIGNER.NAME=VALUE
        Set a designer's option; repeatable.
    output : -o, --output FILE
        Write the network (.json, .graphml, .edges), or the front (.csv).
    """
    from .api import DEFAULT_COST
    from .api import design as design_network

    registry = load_plugins()
    settings: dict[str, Any] = {
        **{name: context.params[name] for name in SETTINGS},
        "designers": designer or None,
        "options": engine_options(option or []),
    }
    if pareto is not None:
        for name, value in (("--cost", cost), ("--target", target), ("--schedule", schedule)):
            if value is not None and value != []:
                raise InputError(f"{name} beside --pareto", where=name, hint="drop one of them")
        _front(nodes, degree, pareto, output, plot, as_json, registry, **settings)
    if plot is not None:
        raise InputError("no front to draw", where="--plot", hint="add --pareto TERM,TERM")
    check_writable(output, schedule=schedule)
    if schedule is not None and collective is None:
        raise InputError("no collective to schedule", where="--schedule", hint="add --collective")
    if output is not None:
        expect_suffix(output, SUFFIXES, "-o")
    result = design_network(
        nodes,
        degree,
        cost=_weights(cost) if cost else DEFAULT_COST,
        target=target,
        on_event=_show_event,
        registry=registry,
        **settings,
    )
    network, steps = result.network, result.schedule
    complete = network is not None and (collective is None or steps is not None)
    files: Files = {
        "network": (output, None if network is None else lambda path: _write(result, path)),
        "schedule": (schedule, None if steps is None else steps.save),
    }
    _finish(result, files, complete, as_json, lambda written: dict.fromkeys(files) | written)


def _front(
    nodes: int,
    degree: int,
    terms: str,
    output: Path | None,
    plot: Path | None,
    as_json: bool,
    registry: Registry,
    **settings: Any,
) -> NoReturn:
    """Search for the front of two cost terms, write and print it, and exit.

    Parameters
    ----------
    terms
        The names of the terms, with a comma between them.
    settings
        Further arguments of ``cchybrid.design_front``.
    """
    from cchybrid.view.front_plot import plot_front
    from cchybrid.view.plot import check_plot

    from .front import design_front

    check_writable(output, plot=plot)
    if output is not None:
        expect_suffix(output, (".csv",), "-o")
    check_plot(plot)
    names = [name.strip() for name in terms.split(",")]

    def show(line: str) -> None:
        print(line, file=sys.stderr)

    front = design_front(nodes, degree, names, registry=registry, report=show, **settings)

    def draw(path: Path) -> None:
        values = [point.values for point in front.points]
        plot_front(values, front.terms, front.maximised, front.title, path)

    files: Files = {
        "table": (output, lambda path: write_text(front.to_csv(), path)),
        "plot": (plot, draw if front.points else None),
    }
    _finish(
        front, files, bool(front.points), as_json, lambda written: {"written": [*written.values()]}
    )


def _finish(
    result: "RunResult",
    files: Files,
    complete: bool,
    as_json: bool,
    facts: Callable[[dict[str, str]], Mapping[str, Any]],
) -> NoReturn:
    """Write files, print the result, and exit with status 0 if it is complete, otherwise 1.

    Parameters
    ----------
    facts
        Returns what the JSON object says of the files that were written, by their names.

    Raises
    ------
    InputError
        A file cannot be written; raised after the result is printed.
    """
    written: dict[str, str] = {}
    failed: InputError | None = None
    try:
        for name, (path, write) in files.items():
            if path is not None and write is not None:
                write(path)
                written[name] = str(path)
    except InputError as error:
        failed = error
    if as_json:
        print(json.dumps({**result.to_json(), **facts(written)}))
    else:
        print_lines([*result.lines(), *(f"written to {path}" for path in written.values())])
    if failed is not None:
        raise failed
    raise typer.Exit(0 if complete else 1)


def designers(
    name: Annotated[str | None, {"autocompletion": completion.designers}] = None,
    as_json: arguments.AsJson = False,
) -> None:
    """List the designers of networks and the cost terms, or show the options of one designer.

    Arguments
    ---------
    name : NAME
        A designer; default: all.
    """
    registry = load_plugins()
    if name is not None:
        print_options(registry.designer(name), as_json)
        return
    found = sorted(registry.designers.values(), key=lambda info: (-info.priority, info.name))
    terms = list(registry.cost_terms.values())
    if as_json:
        rows = records_of(found, "name", "kind", "summary")
        costs = records_of(terms, "name", "summary", "maximised")
        print(json.dumps({"designers": rows, "cost_terms": costs}))
        return
    width = max(len(name) for name in (*registry.designers, *registry.cost_terms))
    print("designers:")
    print_lines(f"  {info.name:{width}}  {info.summary} ({info.kind})" for info in found)
    print("cost terms:")
    print_lines(
        f"  {term.name:{width}}  {term.summary}{', to be large' if term.maximised else ''}"
        for term in terms
    )


def check_design(file: Path, as_json: arguments.AsJson = False) -> None:
    """Check the claims in a network file of ``design`` by the independent checker.

    Exit status: 0 they hold, 1 one does not, 2 bad input.

    Arguments
    ---------
    file : FILE
        A network file of design.
    """
    from cchybrid.design_checker import check_network

    with with_context(file):
        text = read_text(file)
        read_network_json(text)
        file_record = parse_json(text)
        record = file_record.get("design")
        if record is None:
            raise InputError("there is no design in it", hint="write one by cchybrid design -o")
    try:
        figures = check_network(file_record)
    except EvidenceError as error:
        print_lines([f"{file}: {error}"])
        raise typer.Exit(1) from None
    facts = {
        "diameter": figures.diameter,
        "diameter_bound": figures.diameter_bound,
        "mean_distance": str(figures.mean),
        "mean_distance_bound": str(figures.mean_bound),
        "optimal": figures.optimal,
    }
    steps = record["claims"].get("steps_bound") if "claims" in record else None
    if steps is not None:
        model = CommunicationModel.from_json(record.get("model", {})).to_json()
        facts |= {"collective": record["collective"], "model": model, "steps_bound": steps}
        # With limited wires the nodes differ, and the bound is about node 0.
        at_root = record.get("max_wire") is not None and "O" in record["collective"]
        facts |= {"root": 0} if at_root else {}
    if as_json:
        print(json.dumps(facts))
        return
    mean, bound = float(figures.mean), float(figures.mean_bound)
    lines = [
        f"{file}: diameter {figures.diameter} (at least {figures.diameter_bound}),"
        f" mean distance of different nodes {mean:.4f} (at least {bound:.4f}): checked"
    ]
    if steps is not None:
        words = ", ".join(f"{name} {value}" for name, value in model.items())
        root = " with root 0" if at_root else ""
        lines.append(
            f"{record['collective']}: at least {steps} steps{root} on every network of these nodes,"
            f" this degree and these wires ({words}): checked"
        )
    print_lines(lines)


def _weights(texts: list[str]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            weight = float(value) if equals else 1.0
        except ValueError:
            raise InputError(
                f"{value!r} is no weight", where="--cost", hint="write TERM=NUMBER"
            ) from None
        if name in weights:
            raise InputError(f"{name} is listed twice", where="--cost", hint="name it once")
        weights[name] = weight
    return weights


def _write(result: "DesignResult", path: Path) -> None:

    network = result.network
    assert network is not None
    if path.suffix == ".json":
        write_text(json.dumps(network_record(network, result.record())) + "\n", path)
    elif path.suffix == ".edges":
        write_text("".join(f"{a} {b}\n" for a, b in result.links), path)
    else:
        import networkx as nx

        graph: Any = nx.MultiGraph() if result.task.redundant_links else nx.Graph()
        graph.add_nodes_from(range(network.nodes))
        for node, (x, y) in enumerate(network.positions or ()):
            graph.add_node(node, x=x, y=y)
        graph.add_edges_from(result.links)
        write_text("\n".join(nx.generate_graphml(graph)) + "\n", path)


def _show_event(event: Mapping[str, Any]) -> None:
    """Print better networks, schedules of networks and troubles on standard error."""
    if event["event"] == "network":
        values = ", ".join(f"{name} {value:.6g}" for name, value in event["values"].items())
        print(f"{event['seconds']:8.2f} s  {event['designer']}: {values}", file=sys.stderr)
    elif event["event"] in ("solved", "trouble"):
        print(f"{event['seconds']:8.2f} s  {event['text']}", file=sys.stderr)
