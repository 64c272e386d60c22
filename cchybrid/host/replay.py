"""Replay of a run from its log: the same events give the same result, without any worker."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cchybrid.checker import EvidenceError, proves_infeasible
from cchybrid.host.allreduce import AllReduceTask
from cchybrid.host.events import Event, Finished, Infeasible, Opened
from cchybrid.host.result import Result
from cchybrid.host.run_config import LOG_FORMAT, RunConfig
from cchybrid.host.schedule_task import ScheduleTask
from cchybrid.host.task import Announce
from cchybrid.host.wire import WireError, from_log
from cchybrid.model import Instance
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import read_text
from cchybrid.model.json_fields import parse_json
from cchybrid.plugin.registry import load_registry


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
    rows = enumerate(lines, 1)
    _, head = next(rows, (1, {}))
    if not isinstance(head, Mapping) or head.get("log") != LOG_FORMAT:
        raise InputError("no log of a run", hint="name a file that solve --log has written")
    with with_context("line 1"):
        config = RunConfig.from_log(head, load_registry())
        instance = Instance.from_json(head.get("instance"))
    kind = AllReduceTask if instance.collective.with_sums else ScheduleTask
    state: ScheduleTask = kind.of(instance, config)
    events: list[dict[str, Any]] = []
    finished = False
    for number, line in rows:
        if isinstance(line, Mapping) and "event" in line:
            continue
        try:
            seconds, seat, event = _read(line, state)
        except (WireError, EvidenceError) as error:
            raise InputError(
                f"unreadable: {error}",
                where=f"line {number}",
                hint="use the file as it was written",
            ) from None
        events += [
            {"event": action.event, "seconds": seconds, **action.content}
            for action in state.apply(seconds, seat, event)
            if isinstance(action, Announce)
        ]
        finished = finished or isinstance(event, Finished)
    if not finished:
        raise InputError("the run did not end", hint="use the log of a run that ended")
    return state.result(config), events


def _read(line: Any, state: ScheduleTask) -> tuple[float, int, Event]:
    """Return time, seat and event of a line that can be applied to the state."""
    if not isinstance(line, Mapping):
        raise WireError("the line is no object")
    seconds, seat, event = from_log(dict(line))
    if isinstance(event, Opened) == (seat in state.seats):
        raise WireError(f"seat {seat} is {'taken' if seat in state.seats else 'empty'}")
    if isinstance(event, Infeasible):
        proves_infeasible(state.instance.to_json(), event.evidence)
    return seconds, seat, event


def _parse(text: str, number: int) -> Any:
    try:
        return parse_json(text)
    except InputError as error:
        raise InputError(error.what, where=f"line {number}", hint=error.hint) from None


def replay_file(path: str | Path) -> Result:
    """Replay a log file of ``cchybrid solve --log``.

    Raises
    ------
    InputError
        If the file cannot be read or is no complete log.
    """
    with with_context(str(path)):
        lines = enumerate(read_text(path).splitlines(), 1)
        return replay(_parse(text, number) for number, text in lines)[0]
