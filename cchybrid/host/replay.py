"""Replay of a run from its log: the same events give the same result, without any worker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cchybrid.host.conclusion import conclude
from cchybrid.host.result import Result
from cchybrid.host.run_config import LOG_FORMAT, RunConfig
from cchybrid.host.run_state import Announce, RunState
from cchybrid.host.wire import WireError, from_log
from cchybrid.model import Instance
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import read_text
from cchybrid.model.json_fields import parse_json


def replay(lines: Iterable[Mapping[str, Any]]) -> tuple[Result, list[dict[str, Any]]]:
    """Apply the events of a log to a new state.

    Every schedule is verified and every bound is checked again. Errors of observers are not
    repeated.

    Returns
    -------
    tuple[Result, list[dict[str, Any]]]
        The result, and the events for observers, without ``run`` and ``result``.

    Raises
    ------
    InputError
        If the lines are no log of a run, or the log is not complete.
    """
    rows = iter(lines)
    head = next(rows, {})
    if head.get("log") != LOG_FORMAT:
        raise InputError("no log of a run", hint="name a file that solve --log has written")
    config = RunConfig.from_log(head)
    state = RunState(
        Instance.from_json(head["instance"]),
        target=config.target,
        provable=config.certify and not config.blind,
        strategy=config.strategy,
    )
    events: list[dict[str, Any]] = []
    finished = False
    for line in rows:
        if "input" not in line:
            continue
        try:
            seconds, seat, event = from_log(dict(line))
        except WireError as error:
            raise InputError(
                f"unreadable: {error}", hint="use the file as it was written"
            ) from None
        events += [
            {"event": action.event, "seconds": seconds, **action.content}
            for action in state.apply(seconds, seat, event)
            if isinstance(action, Announce)
        ]
        finished = finished or line["input"] == "finished"
    if not finished:
        raise InputError("the run did not end", hint="use the log of a run that ended")
    return conclude(state, config), events


def replay_file(path: str | Path) -> Result:
    """Replay a log file of ``cchybrid solve --log``.

    Raises
    ------
    InputError
        If the file cannot be read or is no complete log.
    """
    with with_context(str(path)):
        return replay(parse_json(line) for line in read_text(path).splitlines())[0]
