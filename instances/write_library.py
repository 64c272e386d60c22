"""Write the library of files, ``networks/`` and ``json/``: ``python instances/write_library.py``.

Networks that the suites name become files in the papers' text format, with every terminal as
transmitter and receiver; a few rows become ``cchybrid-instance/1`` files, as examples.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from cchybrid_plugins.bench.suite import read_suite

from cchybrid.library.formats import NetworkFile, write_seed_text
from cchybrid.library.instance_spec import resolve
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.model.instance import write_text
from cchybrid.plugin.registry import load_registry

SUITES = ("thesis", "today", "multistage")
EXAMPLES = (
    "dgx-1 AAB", "dgx-1 AAS", "omega-8 AAB", "ring-uni-8 AAB", "ring-uni-8 OAS root 0",
)  # fmt: skip
"""Rows whose instances are written as JSON."""


def instances() -> Iterator[tuple[str, Instance]]:
    """Yield every instance of the suites without faults and with wormhole switching, by name."""
    registry = load_registry()
    seen: set[str] = set()
    for suite in SUITES:
        for row in read_suite(suite).rows:
            plain = row.spec.routing is None
            if plain and row.spec.switching is None and row.name not in seen:
                seen.add(row.name)
                yield row.name, resolve(row.spec, registry)


def write(folder: Path) -> list[Path]:
    """Write the library into a folder and return its files."""
    written: list[Path] = []
    for part in ("networks", "json"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for name, instance in instances():
        network = instance.network
        text = folder / "networks" / f"{network.name}.txt"
        if text not in written:
            try:
                content = write_seed_text(
                    NetworkFile(network, network.terminals, network.terminals)
                )
            except InputError:
                pass  # the text format cannot represent one-way networks with endpoints
            else:
                write_text(content, text)
                written.append(text)
        if name in EXAMPLES:
            path = folder / "json" / f"{name.replace(' ', '-')}.json"
            instance.save(path)
            written.append(path)
    return written


if __name__ == "__main__":
    files = write(Path(__file__).parent)
    print(f"{len(files)} files, {sum(path.stat().st_size for path in files) // 1024} KiB")
    sys.exit(0)
