"""Links of the pages to files of the repository that are no pages of the documentation.

On the repository's own site every relative link leads to a file. In the built documentation

- ``README.md`` at the top of the repository is replaced by the home page;
- other pages there, such as ``CONTRIBUTING.md``, are copied to ``generated/``;
- reports are pages, but not in the table of contents, which would be long;
- folders and other files are named, without a link;
- the pages of a folder with a ``README.md`` are listed below it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from written_pages import write_page

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent

COPIES = {
    ROOT / "CONTRIBUTING.md": DOCS / "generated" / "contributing.md",
    ROOT / "SECURITY.md": DOCS / "generated" / "security.md",
    ROOT / "CHANGELOG.md": DOCS / "generated" / "changelog.md",
    ROOT / "instances" / "README.md": DOCS / "generated" / "instances.md",
}
"""Pages outside ``docs/``, and where they are in the built documentation."""

HOME = {ROOT / "README.md": DOCS / "index.md"}
"""The page for readers of the repository, and the one for readers of the site."""

FENCE = re.compile(r"^( *```.*?^ *```)", re.MULTILINE | re.DOTALL)
REPORTS = DOCS / "reports"

FOLDERS = (DOCS / "decisions", DOCS / "engines", REPORTS)
"""Folders of pages whose ``README.md`` is the parent of all others in the table of contents."""

PARTS = {
    DOCS / "draw.md": ("gallery",),
    DOCS / "python.md": ("python-gallery",),
    DOCS / "how-to" / "prove-a-network.md": ("read-a-certificate", "other-checkers"),
    DOCS / "how-to" / "compare-engines.md": ("many-cores", "cluster", "reproduce-the-thesis"),
    DOCS / "how-to" / "gpu-cluster.md": (
        "../rounds", "../throughput", "../allreduce", "../run", "../export",
    ),
}  # fmt: skip
"""Pages below another one in the table of contents, which would be too long with all of them."""

CONTENTS = "\n```{toctree}\n:hidden:\n:glob:\n\n%s\n```\n"

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def setup(app: Any) -> dict[str, bool]:
    """Connect to the events of Sphinx."""
    app.connect("builder-inited", copy_pages)
    app.connect("source-read", resolve_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def copy_pages(app: Any) -> None:
    """Write the copies of pages outside ``docs/``."""
    for source, page in COPIES.items():
        write_page(page, resolved(source.read_text(encoding="utf-8"), source, page))


def resolve_page(app: Any, name: str, content: list[str]) -> None:
    """Resolve the links of a page when Sphinx reads it."""
    page = Path(app.env.doc2path(name))
    if page.suffix == ".md" and page.parent.name != "generated":
        content[0] = resolved(content[0], page, page)
        if page.name == "README.md" and page.parent in FOLDERS:
            content[0] += CONTENTS % "*"
        if page in PARTS:
            content[0] += CONTENTS % "\n".join(PARTS[page])
        if page.parent.parent == REPORTS:
            content[0] = f"---\norphan: true\n---\n\n{content[0]}"


def resolved(text: str, source: Path, page: Path) -> str:
    """Return the text of a file, to be the page at ``page``, with links that lead somewhere."""
    parts = FENCE.split(text)
    parts[::2] = [LINK.sub(lambda found: _link(found, source, page), part) for part in parts[::2]]
    return "".join(parts)


def _link(found: re.Match[str], source: Path, page: Path) -> str:
    mark, label, target = found.groups()
    path, _, anchor = target.partition("#")
    if not path or re.match(r"\w+:", target):
        return found[0]
    there = (source.parent / path).resolve()
    if (there / "README.md").exists():
        there /= "README.md"
    there = {**COPIES, **HOME}.get(there, there)
    address = os.path.relpath(there, page.parent)
    if there.is_dir() or not there.is_relative_to(DOCS):
        return label
    return f"{mark}[{label}]({address}{'#' if anchor else ''}{anchor})"
