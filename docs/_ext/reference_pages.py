"""Pages of the reference, written from the code when the documentation is built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from interface_pages import plugin_page, python_page
from option_pages import engines_page
from repository_links import COPIES
from written_pages import code, table, write_page

from cchybrid.library.schemas import NAMES, schema
from cchybrid.plugin.registry import load_registry


def setup(app: Any) -> dict[str, bool]:
    """Connect to the events of Sphinx."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_pages(app: Any) -> None:
    """Write every page of the reference to ``generated/``, and remove pages of older builds."""
    folder = Path(app.srcdir) / "generated"
    pages = {folder / f"{name}.md": page for name, page in PAGES.items()}
    for page, text in pages.items():
        write_page(page, text())
    for page in {*folder.glob("*.md")} - {*pages} - {*COPIES.values()}:
        page.unlink()


def library_page() -> str:
    """Return the families of networks, the collectives and the export formats."""
    registry = load_registry()
    topologies = [
        (code(each.usage), each.summary, code(each.example))
        for each in registry.topologies.values()
    ]
    collectives = [
        (code(each.usage), ", ".join(map(code, each.aliases)), each.summary)
        for each in registry.collectives.values()
    ]
    exporters = [(code(each.name), each.summary) for each in registry.exporters.values()]
    importers = [(code(each.name), each.summary) for each in registry.importers.values()]
    return "\n\n".join([
        "# Networks, collectives and exports by name",
        "## Networks",
        "Written wherever a command or `cchybrid.network` takes a network.",
        table(("name", "network", "example"), topologies),
        "## Collectives",
        "Case, hyphens and underscores of a name do not count.",
        table(("papers", "MPI, NCCL, SCCL", "messages"), collectives),
        "## Export formats",
        "Written after `cchybrid export SCHEDULE --to`.",
        table(("format", "contents"), exporters),
        "## Import formats",
        "Written after `cchybrid audit FILE --from`, and recognised if left out.",
        table(("format", "contents"), importers),
    ])  # fmt: skip


def schemas_page() -> str:
    """Return the keys of the JSON formats, from their schemas."""
    text = [
        "# Keys of the file formats",
        "From the JSON Schemas that `cchybrid.library.schemas.schema` returns;"
        " [File formats](../formats.md) has examples. Unknown keys are refused.",
    ]
    for name in NAMES:
        record = schema(name)
        text += [f"## {record['title']}", record["description"], _keys(record)]
        for part, inner in record.get("$defs", {}).items():
            if "properties" in inner and "$id" not in inner:
                text += [f"### {part} ({name})", inner.get("description", ""), _keys(inner)]
    return "\n\n".join(text)


def _keys(record: dict[str, Any]) -> str:
    required = record.get("required", ())
    rows = [
        (code(key), "yes" if key in required else "", _meaning(value))
        for key, value in record["properties"].items()
    ]
    return table(("key", "required", "meaning"), rows)


def _meaning(value: dict[str, Any]) -> str:
    if "$ref" in value:
        return f"see {value['$ref'].rpartition('/')[2]}"
    return str(value.get("description", ""))


PAGES: dict[str, Callable[[], str]] = {
    "engines": engines_page,
    "formats": schemas_page,
    "library": library_page,
    "plugin": plugin_page,
    "python": python_page,
}
"""The pages by the name of their file."""
