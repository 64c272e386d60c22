"""Schedule files of cchybrid, so that an audit takes them as any other file."""

from __future__ import annotations

import re
from dataclasses import replace

from cchybrid.model import Schedule, Transfer
from cchybrid.model.errors import InputError
from cchybrid.model.json_fields import parse_json
from cchybrid.plugin.imported import Imported, ImportRequest

from .message_table import match_messages


def recognises_native(text: str) -> bool:
    """Return whether a text is a schedule file of cchybrid."""
    return re.search(r'"format"\s*:\s*"cchybrid-schedule/', text) is not None


def read_native(text: str, request: ImportRequest) -> Imported:
    """Return a schedule file of cchybrid, on another network or for another collective if asked.

    Messages are found in the other collective by their ends, as their numbers mean nothing there.

    Raises
    ------
    InputError
        The file cannot be read, a message is none of the collective, or the nodes have other names.
    """
    read = Schedule.from_json(parse_json(text))
    instance, steps = read.instance, read.steps
    network = request.network or instance.network
    if network.node_names != instance.network.node_names and None not in (
        network.node_names, instance.network.node_names,
    ):  # fmt: skip
        raise InputError(
            f"the nodes of {network.name} are named or numbered otherwise than in the file",
            where="--topology",
            hint="name the network of the file",
        )
    if request.collective is not None:
        listed = instance.collective.messages
        collective, numbers = match_messages(request.collective, dict(enumerate(listed)))
        # A number that the file does not list is left to the referee.
        steps = tuple(
            tuple(Transfer(numbers.get(m, len(collective.messages)), path) for m, path in step)
            for step in steps
        )
        instance = replace(instance, collective=collective, name="")
    if request.network is not None:
        instance = replace(instance, network=network, name="")
    schedule = Schedule(instance, steps, sums=read.sums)
    places = {
        (s, t): f"step {s + 1}, transfer {t + 1}"
        for s, step in enumerate(read.steps)
        for t in range(len(step))
    }
    return Imported(instance, schedule, places=places)
