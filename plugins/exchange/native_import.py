"""Schedule files of cchybrid, so that an audit takes them as any other file."""

from __future__ import annotations

import re
from dataclasses import replace

from cchybrid.model import Schedule
from cchybrid.model.json_fields import parse_json
from cchybrid.plugin.imported import Imported, ImportRequest


def recognises_native(text: str) -> bool:
    """Return whether a text is a schedule file of cchybrid."""
    return re.search(r'"format"\s*:\s*"cchybrid-schedule/', text) is not None


def read_native(text: str, request: ImportRequest) -> Imported:
    """Return a schedule file of cchybrid, on another network or for another collective if asked."""
    read = Schedule.from_json(parse_json(text))
    instance = read.instance
    if request.network is not None or request.collective is not None:
        instance = replace(
            instance,
            network=request.network or instance.network,
            collective=request.collective or instance.collective,
            name="",
        )
    schedule = Schedule(instance, read.steps, sums=read.sums)
    places = {
        (s, t): f"step {s + 1}, transfer {t + 1}"
        for s, step in enumerate(read.steps)
        for t in range(len(step))
    }
    return Imported(instance, schedule, places=places)
