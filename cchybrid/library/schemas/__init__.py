"""JSON Schemas (draft 2020-12) of the file formats."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from cchybrid.model.errors import InputError

NAMES = ("instance-1", "schedule-1", "certificate-1")


def schema(name: str) -> dict[str, Any]:
    """Return a self-contained schema: the schemas that it refers to are embedded.

    Parameters
    ----------
    name
        ``instance-1``, ``schedule-1`` or ``certificate-1``.

    Raises
    ------
    InputError
        There is no schema of this name.
    """
    if name not in NAMES:
        raise InputError(f"no schema {name!r}", hint=f"use {' or '.join(NAMES)}")
    record = _read(name)
    if name == "schedule-1":
        # An embedded schema with its own ``$id`` is found by that.
        record["$defs"]["instance"] = _read("instance-1")
    return record


def _read(name: str) -> dict[str, Any]:
    text = (resources.files(__name__) / f"{name}.json").read_text(encoding="utf-8")
    record: dict[str, Any] = json.loads(text)
    return record
