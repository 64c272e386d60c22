"""Arguments that several commands share, such as the names of an instance."""

import functools
import inspect
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from cchybrid.cli import completion
from cchybrid.cli.documented import declared
from cchybrid.cli.single_options import refuse_given
from cchybrid.library.formats import NetworkFile, read_network
from cchybrid.library.formats.graph_files import is_graph_file
from cchybrid.library.graphs import EXACT
from cchybrid.library.instance_spec import InstanceSpec, Names, resolve
from cchybrid.library.network_facts import read_line
from cchybrid.library.topologies.names import rates_of
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.view.screen import print_note


def check_seconds(option: typer.CallbackParam, seconds: float) -> float:
    """Return a time; raise an ``InputError`` unless it is above 0 and finite."""
    if not 0 < seconds < math.inf:
        where = f"--{(option.name or '').replace('_', '-')}"
        raise InputError(f"{seconds:g} seconds", where=where, hint="use a number above 0")
    return seconds


def option(metavar: str, text: str, *names: str, **settings: Any) -> Any:
    """Return the declaration of an option with a value, for several commands.

    Parameters
    ----------
    metavar, text
        Its value and its meaning, as the help shows them.
    names
        Its names; by default the name of the parameter.
    settings
        Further settings of typer.
    """
    return typer.Option(*names, metavar=metavar, help=text, **settings)


INSTANCE, SEARCH = "Instance", "Search"
"""Headings of the help."""
search_option = functools.partial(option, rich_help_panel=SEARCH)

EngineOption = Annotated[
    list[str] | None,
    search_option(
        "NAME=VALUE",
        "ENGINE.NAME=VALUE: an engine's option; repeatable.",
        autocompletion=completion.options,
    ),
]
Evaluations = Annotated[
    int | None,
    search_option("N", "Evaluations per engine instead of seconds, for a repeatable result."),
]
TimeLimit = Annotated[float, option("SEC", "Seconds in all.", callback=check_seconds)]
Seed = Annotated[int, search_option("N", "Seed of all random choices.")]
Threads = Annotated[
    int | None, search_option("N", "Threads, and processors, in all; default: one per processor.")
]
Memory = Annotated[
    int | None, search_option("MIB", "Memory of the whole run; default: a tenth of the machine's.")
]
Cluster = Annotated[
    str | None,
    search_option(
        "ADDRESS",
        "Run on a cluster: tcp://HOST:PORT, or the scheduler's .json file; without an address"
        " on one of this machine.",
    ),
]
ExecutorName = Annotated[str | None, search_option("NAME", "local, or an executor of a plugin.")]
IgnoreAttributes = Annotated[
    bool,
    typer.Option(
        "--ignore-attributes",
        help="Ignore unknown attributes of a graph file, and say so.",
        rich_help_panel=INSTANCE,
    ),
]
Unit = Annotated[
    str | None,
    option(
        "U",
        "The bandwidth or capacity in a graph file for a capacity of 1; or exact.",
        rich_help_panel=INSTANCE,
    ),
]


class ReadInstance:
    """Read the instance that a user names."""

    def __init__(self, spec: InstanceSpec, ignore_attributes: bool, unit: str | None) -> None:
        self._spec, self._ignore, self._unit = spec, ignore_attributes, unit
        self._file: NetworkFile | None = None
        self.known_bandwidth: Fraction | None = None
        """The GB/s of a capacity of 1 of a named machine, which an option may change."""

    @property
    def switching(self) -> str | None:
        """The switching that the user names."""
        named = self._spec.switching
        return None if named is None else named.lower()

    def __call__(self, registry: Names) -> Instance:
        """Return the instance."""
        found = resolve(self._spec, registry, self._read, print_note)
        known = rates_of(found.network, registry.topologies.values())
        self.known_bandwidth = None if self._file or known is None else known.unit
        return found

    def _read(self, path: str | Path) -> NetworkFile:
        self._file = read_file(path, self._ignore, self._unit)
        return self._file

    def bandwidth(self, context: Any, option: str) -> Fraction | None:
        """Return the GB/s of a capacity of 1 if a graph file states it.

        The option is refused then, and where the file has another number for a capacity of 1.
        """
        if self._file is None:
            return None
        stated, unit = self._file.unit_bandwidth, self._file.unit_capacity
        if unit not in (None, 1):
            why = f"capacity 1 is written capacity {float(unit):g}, so it is unclear which is meant"
            refuse_given(context, why, names=(option,))
        if stated is not None:
            why = f"the file says it: capacity 1 is {float(stated):g} GB/s"
            refuse_given(context, why, names=(option,))
        return stated


def _instance(
    topology: Annotated[str, {"autocompletion": completion.topologies}],
    collective: Annotated[str | None, {"autocompletion": completion.collectives}] = None,
    root: str | None = None,
    routing: str | None = None,
    switching: str | None = None,
    ports: str | None = None,
    fail_link: list[str] | None = None,
    fail_node: list[str] | None = None,
    transmitters: str | None = None,
    receivers: str | None = None,
    participants: str | None = None,
    chunks: int | None = None,
    rounds: str | None = None,
    size: str | None = None,
    tick: str | None = None,
    size_matrix: str | None = None,
) -> None:
    """Name an instance.

    Arguments
    ---------
    topology : TOPOLOGY|FILE
        A topology such as mesh-4x4, a network file, or an instance file.
    collective : COLLECTIVE
        A collective such as AAS or alltoall; not with an instance file.

    Options
    -------
    root : NODE
        The node of one-to-all and all-to-one.
    routing : R
        minimal, any, a number of extra hops, xy, yx, e-cube, or a file of next hops.
    switching : W
        wormhole, store-and-forward (hop by hop), or tdm: time slots.
    ports : K
        all, K per node, or INJECT,ACCEPT.

    Instance
    --------
    fail_link : A-B
        Remove a link (A>B: one direction). May be repeated.
    fail_node : NODE
        Remove a node's links. May be repeated.
    transmitters : NODES
        Who sends in MNB and MNS: 0-3,7 or names.
    receivers : NODES
        Who receives in MNB, MNS, multicast: 4-6 or names.
    participants : NODES
        Who takes part, others only forward: 0-3,8 or names.
    chunks : C
        Cut every message into C equal chunks.
    rounds : R1,R2,...
        Rounds per step: capacities are multiplied by them.
    size : BYTES
        Bytes of each message (1MiB), not of all: steps are ticks.
    tick : US
        Microseconds of a tick; times are rounded up to it.
    size_matrix : CSV
        For alltoallv: bytes from every node to every other.
    """


_SPEC = declared(_instance)
"""The parameters of a command that name an instance."""
_FIELDS = {"fail_link": "fail_links", "fail_node": "fail_nodes"}
"""The fields of ``InstanceSpec`` of options that may be repeated."""


def option_of_instance(name: str) -> Any:
    """Return an option that names an instance, for a command of another task."""
    return _SPEC[name].annotation.__metadata__[0]


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def with_instance(
    *without: str, exact: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the decorator of a command that replaces its first argument by those of an instance.

    The command gets a function that returns the instance, given the registry. Without the options
    of these names, which the command does not use. With ``exact``, only the ratios of capacities
    count, so by default a graph file has the exact ones.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        named = {name: each for name, each in _SPEC.items() if name not in without}
        _, *own = inspect.signature(command, eval_str=True).parameters.values()

        @functools.wraps(command)
        def call(**given: Any) -> None:
            words = {_FIELDS.get(name, name): given.pop(name) for name in named}
            ignore, unit = given.pop("ignore_attributes"), given.pop("unit")
            check_graph_options(words["topology"], ignore, unit)
            for_graphs = ignore, unit or (EXACT if exact or words.get("size") else None)
            failed = {name: tuple(words[name] or ()) for name in _FIELDS.values() if name in words}
            command(ReadInstance(InstanceSpec(**{**words, **failed}), *for_graphs), **given)

        _, *graph_options = inspect.signature(read_file, eval_str=True).parameters.values()
        # Parameters without a default come first.
        first = [each for each in own if each.default is each.empty]
        rest = [each for each in own if each not in first]
        call.__signature__ = inspect.Signature([*first, *named.values(), *graph_options, *rest])  # type: ignore[attr-defined]
        return call

    return decorate


def check_graph_options(source: str, ignore_attributes: bool, unit: str | None) -> None:
    """Raise an ``InputError`` for options on the attributes of a graph file if there is none."""
    for where, given in (("--ignore-attributes", ignore_attributes), ("--unit", unit is not None)):
        if given and not is_graph_file(source):
            raise InputError(
                f"{source} is no graph file with attributes", where=where, hint="leave it out"
            )


def read_file(
    path: str | Path, ignore_attributes: IgnoreAttributes = False, unit: Unit = None
) -> NetworkFile:
    """Return the content of a network file; what a graph file holds is shown in one line."""
    file = read_network(path, ignore_attributes=ignore_attributes, unit=unit)
    if is_graph_file(path):
        line = "; ".join((read_line(file.network), *file.notes))
        print(f"read {Path(path).name}: {line}", file=sys.stderr)
    return file
