"""A reader under test: its seed files, what it does, and the judge of what it accepts."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from cchybrid.checker import EvidenceError
from cchybrid.host.wire import WireError
from cchybrid.model.errors import CchybridError
from cchybrid.plugin.registry import load_registry
from tests.fuzz.mutators import Mutator

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).parent / "corpus"
ANSWERS = (CchybridError, EvidenceError, WireError)
"""The errors by which a reader may answer."""

Judge = Callable[[Path, Any], None]


@dataclass(frozen=True)
class Reader:
    """A reader under test.

    Parameters
    ----------
    name
        Its name in reports.
    seeds
        Returns the contents of its seed files.
    read
        Reads a file; what it returns was accepted.
    mutate
        The mutations of its files.
    suffix
        The suffix of its files.
    judge
        Raises an ``AssertionError`` if the file must not be accepted as what was read.
    plugin
        The folders of ``plugins`` that read it; "" for what ``cchybrid`` itself reads.
    """

    name: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], Any]
    mutate: Mutator
    suffix: str = ".json"
    judge: Judge = field(default=lambda path, found: None)
    plugin: str = ""

    @property
    def is_there(self) -> bool:
        """Whether its plugins are there."""
        return not self.plugin or set(self.plugin.split()) <= {
            row.name.rpartition(".")[2] for row in load_registry().plugins
        }


def read_corpus(name: str) -> Any:
    """Return the JSON value of a file of the corpus."""
    return json.loads((CORPUS / f"{name}.json").read_bytes())


def files(*patterns: str) -> Callable[[], list[bytes]]:
    """Return a function that returns the contents of files of the repository."""

    @cache
    def seeds() -> list[bytes]:
        paths = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
        assert paths, patterns
        return [path.read_bytes() for path in paths]

    return seeds


def texts(*texts: str) -> Callable[[], list[bytes]]:
    return lambda: [text.encode() for text in texts]
