"""JSON Schemas (draft 2020-12) of the file formats."""

import json
from importlib import resources
from typing import Any

from cchybrid.model.errors import InputError

NAMES = (
    "instance-1", "instance-2", "schedule-1", "schedule-2", "certificate-1", "certificate-2",
    "network-1", "network-2", "design-1", "throughput-1", "front-1",
)  # fmt: skip
EMBEDDED = {
    "instance-2": ("instance-1",),
    "schedule-1": ("instance-1", "instance-2"),
    "schedule-2": ("instance-1", "instance-2"),
    "network-1": ("instance-1", "design-1"),
    "network-2": ("instance-1",),
    "design-1": ("instance-1",),
    "throughput-1": ("instance-1",),
}
"""The schemas that a schema refers to."""


def schema(name: str) -> dict[str, Any]:
    """Return a self-contained schema: the schemas that it refers to are embedded.

    Parameters
    ----------
    name
        One of ``NAMES``.

    Raises
    ------
    InputError
        There is no schema of this name.
    """
    if name not in NAMES:
        raise InputError(f"no schema {name!r}", hint=f"use {' or '.join(NAMES)}")
    record = _read(name)
    for other in EMBEDDED.get(name, ()):
        # An embedded schema with its own ``$id`` is found by that.
        record["$defs"][other.removesuffix("-1")] = _read(other)
    return record


def _read(name: str) -> dict[str, Any]:
    text = (resources.files(__name__) / f"{name}.json").read_text(encoding="utf-8")
    record: dict[str, Any] = json.loads(text)
    return record
