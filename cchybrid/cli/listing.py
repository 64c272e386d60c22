"""``topologies``, ``collectives``, ``engines`` and ``plugins``: lists of what is installed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Annotated

import typer

from cchybrid.model.errors import PluginError
from cchybrid.model.text import error_line

NameArgument = Annotated[str | None, typer.Argument(metavar="NAME", show_default=False)]


def topologies(name: NameArgument = None) -> None:
    """List the families of networks, or show the facts of one network (mesh-4x4)."""
    from cchybrid.plugin.registry import load_registry

    registry = load_registry()
    if name is None:
        _table(("name", "summary", "example"), (
            (info.usage, info.summary, info.example) for info in registry.topologies.values()
        ))  # fmt: skip
        return
    from cchybrid.library.topologies import network
    from cchybrid.referee.distances import hop_distances

    found = network(name, registry.topologies.values())
    distance = hop_distances(found, range(found.nodes))
    out = [len(targets) for targets in found.successors]
    print(f"{found.name}: {found.nodes} nodes, {len(found.channels)} channels")
    print(f"  out-degree: {out[0] if min(out) == max(out) else f'{min(out)} to {max(out)}'}")
    print(f"  diameter: {int(distance.max())} hops")
    print(f"  terminals: {len(found.terminals)}")


def collectives() -> None:
    """List the collectives; case, hyphens and underscores of a name do not count."""
    from cchybrid.library.collectives import ALLREDUCE
    from cchybrid.plugin.registry import load_registry

    _table(("name", "MPI, NCCL, SCCL", "summary"), (
        (info.usage, " or ".join(info.aliases), info.summary)
        for info in load_registry().collectives.values()
    ))  # fmt: skip
    print(f"  allreduce: {ALLREDUCE}")


def engines(name: NameArgument = None) -> None:
    """List the engines, or show the options of one."""
    from cchybrid.plugin.registry import load_registry

    registry = load_registry()
    if name is None:
        _table(("name", "kind", "takes part", "summary"), (
            (info.name, info.kind, "if named" if info.baseline else "always", info.summary)
            for info in registry.engines.values()
        ))  # fmt: skip
        return
    from cchybrid.plugin.records import load_target

    info = registry.engine(name)
    try:
        fields = dataclasses.fields(load_target(info.target).Options)
    except Exception as error:
        raise PluginError(f"engine {info.name} cannot be loaded: {error_line(error)}") from error
    print(f"{info.name}: {info.summary}")
    if not fields:
        print("  it has no options")
    for field in fields:
        print(f"  --option {info.name}.{field.name}={field.default}")


def plugins() -> None:
    """List the plugins, what each provides, and its errors."""
    from cchybrid.plugin.registry import load_registry

    rows = [
        (row.name, row.source, row.trouble or "ok", ", ".join(row.provides))
        for row in load_registry().plugins
    ]
    _table(("plugin", "from", "state", "provides"), rows)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(*heads, box=box.SIMPLE_HEAD)
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False)
    # Without a terminal the width is fixed, so that nothing is cut.
    console.print(table, width=None if console.is_terminal else 200)
