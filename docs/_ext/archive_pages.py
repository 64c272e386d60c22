"""The pages of the archive: plain HTML, written from ``docs/archive`` when the site is built.

The checker runs in the reader's browser, in Pyodide. The build copies that from npm's package, in
``docs/generated``; where there is no npm, the pages say that the check is not available.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

from cchybrid_plugins.bench.archive import ENTRIES, Archive, Entry
from cchybrid_plugins.drawing.figure_styles import figure_bytes
from cchybrid_plugins.drawing.figures import draw
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import cchybrid
from cchybrid.model import Schedule
from cchybrid.model.errors import InputError

PYODIDE = "314.0.7"
"""The version of Pyodide, fixed so that every build has the same checker in the browser."""
PYODIDE_FILES = (
    "pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip",
)  # fmt: skip
SOURCES = Path(__file__).with_name("archive")
GENERATED = Path(__file__).parents[1] / "generated"
"""Not in the repository; it keeps Pyodide and the pictures for the next build."""
MAX_TRANSFERS, MAX_STEPS = 24, 8
"""Sizes of a schedule above which the picture is that of the network: it is drawn faster."""
MAX_CHANNELS = 300
"""Channels of a network above which there is no picture: drawing it takes seconds."""


def setup(app: Any) -> dict[str, bool]:
    """Connect to the events of Sphinx."""
    app.connect("build-finished", write_archive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_archive(app: Any, error: Exception | None) -> None:
    """Write the pages beside the built ones."""
    if error is None and app.builder.format == "html":
        write_pages(Path(app.srcdir) / "archive", Path(app.outdir) / "archive", app.config.release)


def write_pages(source: Path, folder: Path, release: str) -> None:
    """Write the index, a page per instance, and what the check in the browser needs."""
    archive = Archive(source)
    for name in (ENTRIES, "pages", "pictures"):  # without those of entries that were replaced
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    for file in ("archive.css", "index.js", "check.js", "check_worker.mjs", "check_entry.py"):
        shutil.copy(SOURCES / file, folder)
    with zipfile.ZipFile(folder / "checker.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted((Path(cchybrid.__file__).parent / "checker").glob("*.py")):
            packed.write(file, f"cchybrid/checker/{file.name}")
    environment = Environment(
        loader=FileSystemLoader(SOURCES), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    common = {"release": release, "pyodide": copy_pyodide(folder / "pyodide")}
    instances: dict[str, list[Entry]] = {}
    for entry in archive.entries.values():
        instances.setdefault(entry.digest, []).append(entry)
    template = environment.get_template("entry.html.j2")
    for digest, entries in instances.items():
        picture, facts = "", {}
        if entries[0].file:
            shutil.copy(source / ENTRIES / entries[0].file, folder / ENTRIES)
            record, proof = archive.records(entries[0])
            schedule = Schedule.from_json(record)
            facts = _facts(schedule, proof)
            picture = _picture(schedule, entries[0].file, folder / "pictures")
        text = template.render(
            entries=entries, entry=entries[0], picture=picture, facts=facts, **common
        )
        (folder / "pages" / page_name(digest)).write_text(text, encoding="utf-8")
    suites = sorted({entry.suite for entry in archive.entries.values()})
    rows = [(entry, page_name(entry.digest)) for entry in archive.entries.values()]
    optimal = sum(entry.steps == entry.bound for entry in archive.entries.values())
    index = environment.get_template("index.html.j2")
    text = index.render(rows=rows, suites=suites, optimal=optimal, **common)
    (folder / "index.html").write_text(text, encoding="utf-8")


def page_name(digest: str) -> str:
    """Return the name of the page of an instance."""
    return f"{digest[:16]}.html"


def copy_pyodide(folder: Path) -> bool:
    """Copy Pyodide into a folder of the site; return whether it is there."""
    package = GENERATED / "node_modules" / "pyodide"
    if _version(package) != PYODIDE and shutil.which("npm"):
        GENERATED.mkdir(exist_ok=True)
        subprocess.run(
            ["npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund",
             "--prefix", str(GENERATED), f"pyodide@{PYODIDE}"],
            check=False, capture_output=True, timeout=300,
        )  # fmt: skip
    if _version(package) != PYODIDE:
        return False
    folder.mkdir(exist_ok=True)
    for name in PYODIDE_FILES:
        shutil.copy(package / name, folder)
    return True


def _version(package: Path) -> str:
    path = package / "package.json"
    return json.loads(path.read_text("utf-8"))["version"] if path.exists() else ""


def _facts(schedule: Schedule, proof: dict[str, Any] | None) -> dict[str, str]:
    """Return what the page lists about the instance and the proof."""
    network, model = schedule.instance.network, schedule.instance.model
    facts = {
        "Network": f"{network.name}: {network.nodes} nodes, {len(network.channels)} channels",
        "Collective": f"{schedule.instance.collective.name}, {model.switching}",
        "Transfers": f"{sum(map(len, schedule.steps)):,}",
    }
    if proof is not None:
        facts["Proof"] = f"{proof['evidence']['kind']}; holds for {proof['claim']['scope']}"
    return facts


def _picture(schedule: Schedule, file: str, folder: Path) -> str:
    """Write the figure of the steps, or of the network of a large schedule; return its name."""
    network = schedule.instance.network
    steps = schedule.steps
    if len(steps) <= MAX_STEPS and sum(map(len, steps)) <= MAX_TRANSFERS:
        try:
            return _drawn(schedule, f"steps-{file.removesuffix('.jsonl.gz')}", folder)
        except InputError:  # steps that no figure shows, such as those of time slots
            pass
    if len(network.channels) > MAX_CHANNELS:
        return ""
    key = hashlib.sha256(json.dumps(network.to_json()).encode()).hexdigest()[:16]
    return _drawn(network, f"network-{key}", folder)


def _drawn(found: Any, name: str, folder: Path) -> str:
    """Copy a figure into the folder, drawn first if no build has done so; return its name."""
    kept = GENERATED / "archive" / f"{name}.svg"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(figure_bytes(draw(found), ".svg"))
    shutil.copy(kept, folder)
    return kept.name
