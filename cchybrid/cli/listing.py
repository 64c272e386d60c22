"""``topologies``, ``collectives``, ``engines`` and ``plugins``: lists of what is installed."""

import dataclasses
import json
from collections.abc import Iterable
from typing import Annotated, Any

from cchybrid.cli import completion
from cchybrid.cli.arguments import AsJson
from cchybrid.cli.plugin_loading import load_plugins
from cchybrid.library.network_facts import diameter_text, network_facts
from cchybrid.library.topologies import network
from cchybrid.library.topologies.names import rates_of
from cchybrid.model.errors import PluginError
from cchybrid.model.text import error_line
from cchybrid.plugin.records import DesignerInfo, EngineInfo, load_target
from cchybrid.plugin.registry import GROUP, load_registry
from cchybrid.view.screen import print_lines, print_table


def records_of(infos: Iterable[object], *keys: str) -> list[dict[str, Any]]:
    """Return these attributes of each as a JSON object."""
    return [{key: getattr(info, key) for key in keys} for info in infos]


def topologies(
    name: Annotated[str | None, {"autocompletion": completion.networks}] = None,
    as_json: AsJson = False,
) -> None:
    """List the families of networks, or show the facts of one network (mesh-4x4).

    Of machines these are also the bandwidths and latencies, and their sources.

    Arguments
    ---------
    name : NAME
        A network such as mesh-4x4; default: all families.
    """

    registry = load_plugins()
    if name is None:
        infos = registry.topologies.values()
        found = records_of(infos, "name", "usage", "summary", "example")
        if as_json:
            print(json.dumps({"topologies": found}))
        else:
            print_table(
                ("name", "summary", "example"),
                [(each["usage"], each["summary"], each["example"]) for each in found],
            )
        return

    named = network(name, registry.topologies.values())
    facts = network_facts(named)
    rates = rates_of(named, registry.topologies.values())
    kinds = [] if rates is None else sorted({*rates.of(named)})
    links = [{"bandwidth": float(width), "latency": float(late)} for width, late in kinds]
    sources = [] if rates is None else [*rates.sources]
    low, high = facts["out_degree"]
    if as_json:
        names = ("name", "nodes", "channels", "out_degree", "diameter")
        shown = {key: facts[key] for key in names}
        rated = {"links": links, "sources": sources} if links else {}
        print(json.dumps({**shown, "terminals": len(named.terminals), **rated}))
        return
    print_lines([
        f"{named.name}: {named.nodes} nodes, {len(named.channels)} channels",
        f"  out-degree: {low if low == high else f'{low} to {high}'}",
        f"  diameter: {diameter_text(named, facts['diameter'])}",
        f"  terminals: {len(named.terminals)}",
        *(f"  links: {each['bandwidth']:g} GB/s, {each['latency']:g} us" for each in links),
        *(f"  source: {text}" for text in sources),
    ])  # fmt: skip


def collectives(as_json: AsJson = False) -> None:
    """List the collectives; case, hyphens and underscores of a name do not count."""

    infos = load_plugins().collectives.values()
    if as_json:
        found = records_of(infos, "name", "usage", "aliases", "summary")
        print(json.dumps({"collectives": found}))
        return
    print_table(
        ("name", "MPI, NCCL, SCCL", "summary"),
        [(info.usage, " or ".join(info.aliases), info.summary) for info in infos],
    )


def engines(
    name: Annotated[str | None, {"autocompletion": completion.engines}] = None,
    as_json: AsJson = False,
) -> None:
    """List the engines, or show the options of one.

    Arguments
    ---------
    name : NAME
        An engine; default: all.
    """

    registry = load_plugins()
    if name is None:
        infos = registry.engines.values()
        if as_json:
            found = records_of(infos, "name", "kind", "baseline", "summary")
            print(json.dumps({"engines": found}))
            return
        print_table(
            ("name", "kind", "takes part", "summary"),
            [(i.name, i.kind, "if named" if i.baseline else "always", i.summary) for i in infos],
        )
        return
    print_options(registry.engine(name), as_json)


def print_options(info: EngineInfo | DesignerInfo, as_json: bool) -> None:
    """Print the options of an engine or a designer, with their defaults."""

    try:
        fields = dataclasses.fields(load_target(info.target).Options)
    except Exception as error:
        what = type(info).__name__.removesuffix("Info").lower()
        raise PluginError(f"{what} {info.name} cannot be loaded: {error_line(error)}") from error
    if as_json:
        options: dict[str, Any] = {field.name: field.default for field in fields}
        record = {"name": info.name, "kind": info.kind, "summary": info.summary}
        print(json.dumps({**record, "options": options}))
        return
    print_lines([f"{info.name}: {info.summary}"])
    if not fields:
        print("  it has no options")
    for field in fields:
        print(f"  --option {info.name}.{field.name}={field.default}")


def plugins(as_json: AsJson = False) -> None:
    """List the plugins, what each provides, and its errors."""

    # Those from outside first.
    found = sorted(load_registry().plugins, key=lambda row: row.source.partition(" ")[0] == GROUP)
    if as_json:
        print(json.dumps({"plugins": [dataclasses.asdict(row) for row in found]}))
        return
    rows = [(row.name, row.source, row.trouble or "ok", ", ".join(row.provides)) for row in found]
    print_table(("plugin", "from", "state", "provides"), rows)
