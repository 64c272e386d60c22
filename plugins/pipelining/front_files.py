"""The folder of a front: written by ``pareto``, and judged by the content of its files.

The names of files carry no claim. A front is complete if, for every number of steps from the
fewest on, the best schedule of at most as many steps attains the bound of a certificate about as
many steps or more, up to one that attains the throughput, which bounds every number of steps.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from cchybrid.checker import EvidenceError, RoundsVerdict, proven_steps
from cchybrid.checker.certificate import ROUNDS_FORMAT
from cchybrid.checker.throughput import FORMAT as THROUGHPUT_FORMAT
from cchybrid.host.certificates import check_rounds
from cchybrid.model import Instance, Schedule
from cchybrid.model.errors import InputError
from cchybrid.model.instance import read_json, write_text
from cchybrid.model.json_fields import only_keys
from cchybrid.referee.verify import verify_schedule

from .rounds_front import Front, FrontPoint
from .throughput import ThroughputResult, checked_throughput, throughput_instance

FORMAT = "cchybrid-front/1"
"""The format of the index of a folder."""
KEYS = ("format", "sha256", "instance", "complete", "points", "throughput", "open_steps")
"""The keys of the index."""
MAX_STEPS = 10_000
"""Certificates about more steps are refused in a front, as each number of steps is looked at."""
_SCHEDULE_FORMAT = "cchybrid-schedule/"
_T = TypeVar("_T")


class _Bound(NamedTuple):
    """A checked certificate, the number of steps that it is about, and its file."""

    steps: int
    verdict: RoundsVerdict
    record: dict[str, Any]
    file: Path | None = None


class Stored(NamedTuple):
    """Points, bounds of numbers of steps, and the throughput that files of a folder prove."""

    points: tuple[FrontPoint, ...] = ()
    bounds: tuple[tuple[int, Fraction], ...] = ()
    limit: ThroughputResult | None = None


def save_front(front: Front, folder: Path) -> None:
    """Write the index of a front, ``front.json``, and its ``throughput.json``."""
    if front.throughput is not None:
        limit = {key: value for key, value in front.throughput.record.items() if key != "made_by"}
        write_changed(limit, folder / "throughput.json")
    record = front.to_json()
    for point in record["points"]:
        for key in ("schedule", "certificate"):
            point[key] = None if point[key] is None else Path(point[key]).name
    kept = {key: value for key, value in record.items() if key in KEYS}
    index = {"format": FORMAT, "sha256": front.instance.digest, **kept}
    write_changed(index, folder / "front.json")


def write_changed(record: Mapping[str, Any], path: Path) -> None:
    """Write a JSON file unless it holds this object already."""
    text = json.dumps(record, separators=(",", ":")) + "\n"
    try:
        if path.read_text(encoding="utf-8") == text:
            return
    except (OSError, UnicodeDecodeError):
        pass
    write_text(text, path)


def read_stored(folder: Path, whole: Instance) -> Stored:
    """Return what the files of a folder prove about an instance; files that do not hold are left.

    A folder with the front of another instance raises an ``InputError``.
    """
    files: dict[Path, Any] = {}
    schedules: dict[Path, Schedule] = {}
    bounds: list[_Bound] = []
    limit, others = None, False
    for path in sorted(folder.glob("*.json")):
        # What does not hold is judged by ``check``; here only what holds is of use.
        with suppress(EvidenceError, InputError):
            files[path] = record = read_json(path)
            others |= _format(record) == FORMAT and record.get("sha256") != whole.digest
            if _format(record).startswith(_SCHEDULE_FORMAT):
                schedules[path] = _without_bound(_schedule(record, whole.digest))
    names = {each.instance.network.node_names for each in schedules.values()}
    if others or names - {whole.network.node_names}:
        raise InputError(
            "it holds the front of another instance", where=str(folder), hint="name another folder"
        )
    for path, record in files.items():
        with suppress(EvidenceError, InputError):
            if _format(record) == ROUNDS_FORMAT and schedules:
                bounds.append(_bound(record, [*schedules.values()])._replace(file=path))
            elif _format(record) == THROUGHPUT_FORMAT:
                limit = _throughput(record, whole)
    points = [FrontPoint(each, None, None, path) for path, each in schedules.items()]
    return Stored(tuple(_possible_points(points, bounds)), _ratios(bounds), limit)


def check_front(folder: str | Path) -> Front:
    """Check every JSON file of a folder of ``pareto``, and return the front that they show.

    Parameters
    ----------
    folder
        The folder that ``pareto`` wrote. Names of files play no part.

    Raises
    ------
    EvidenceError
        A file does not hold, is about another instance, or the index claims more than is shown.
    InputError
        A file cannot be read, or the folder has no index, or no points.

    Examples
    --------
    >>> import tempfile
    >>> import cchybrid
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     front = cchybrid.pareto("ring-bi-4", "allgather", folder=folder, time_limit=60)
    ...     cchybrid.check_front(folder).complete
    True
    """
    files = {path.name: read_json(path) for path in sorted(Path(folder).glob("*.json"))}
    indices = [name for name, record in files.items() if _format(record) == FORMAT]
    if len(indices) != 1:
        raise InputError(
            f"{len(indices)} files of the format {FORMAT}",
            where=str(folder),
            hint="name a folder that pareto wrote",
        )
    name = indices[0]
    index = files.pop(name)
    _named(name, only_keys, index, KEYS, "")
    schedules = [
        _named(file, _checked_schedule, record, index.get("sha256"))
        for file, record in files.items()
        if _format(record).startswith(_SCHEDULE_FORMAT)
    ]
    if not schedules:
        if index.get("points") == []:
            raise InputError(
                "the front has no points, so there is nothing to check",
                where=str(folder),
                hint="run pareto again, with a longer --time-limit",
            )
        raise EvidenceError("no schedule lies here, and the index has points")
    whole = schedules[0].instance.in_chunks(1).with_model(rounds=())
    if any(each.instance.network.node_names != whole.network.node_names for each in schedules):
        raise EvidenceError("the schedules name the nodes differently")
    bounds: list[_Bound] = []
    limit: ThroughputResult | None = None
    for file, record in files.items():
        kind = _format(record)
        if kind == ROUNDS_FORMAT:
            bounds.append(_named(file, _bound, record, schedules))
        elif kind == THROUGHPUT_FORMAT:
            limit = _named(file, _throughput, record, whole)
        elif not kind.startswith(_SCHEDULE_FORMAT):
            raise EvidenceError(f"{file}: this is no file of a front")
    points = _named(name, _points, index, schedules, bounds)
    # What the index leaves out is not part of the front that it shows.
    front = Front(
        instance=whole, points=points, throughput=limit, bounds=_ratios(bounds), seconds=0.0
    )
    if index.get("throughput") != (None if limit is None else str(limit.bound)):
        raise EvidenceError(f"{name}: the throughput is not what the files show")
    if index.get("complete") is not False and not front.complete:
        open_steps = front.open_steps
        shown = f"{open_steps[0]} steps" if open_steps else "every further number of steps"
        raise EvidenceError(f"{name} says complete, but no file shows the optimum of {shown}")
    return front


def _ratios(bounds: Iterable[_Bound]) -> tuple[tuple[int, Fraction], ...]:
    return tuple((each.steps, each.verdict.bound) for each in bounds)


def _named(file: str, judge: Callable[..., _T], *arguments: Any) -> _T:
    """Return the result of a function, whose errors then name the file."""
    try:
        return judge(*arguments)
    except (EvidenceError, InputError) as error:
        raise EvidenceError(f"{file}: {error}") from None


def _schedule(record: Any, digest: Any) -> Schedule:
    found = Schedule.from_json(record)
    if found.instance.in_chunks(1).with_model(rounds=()).digest != digest:
        raise EvidenceError("the schedule is about another instance")
    if found.instance.model.periodic:
        raise EvidenceError("a front is not about time slots")
    violations = verify_schedule(found)
    if violations:
        raise EvidenceError(f"the schedule is not valid: {violations[0].text}")
    return found


def _checked_schedule(record: Any, digest: Any) -> Schedule:
    """Return the schedule of a file; a lower bound that the file states has to be shown by it."""
    found = _schedule(record, digest)
    if (stated := found.lower_bound) is not None and stated.steps > 1:
        if not stated.evidence:
            raise EvidenceError(
                f"it states a lower bound of {stated.steps} steps, without evidence"
            )
        if proven_steps(found.instance.to_json(), stated.evidence) < stated.steps:
            raise EvidenceError(
                f"its evidence does not show its lower bound of {stated.steps} steps"
            )
    return _without_bound(found)


def _without_bound(schedule: Schedule) -> Schedule:
    """Return the schedule alone: certificates of the front have its bounds."""
    return Schedule(schedule.instance, schedule.steps)


def _bound(record: dict[str, Any], schedules: list[Schedule]) -> _Bound:
    shortest = min(schedules, key=lambda each: len(each.steps))
    verdict = check_rounds(shortest.to_json(), record)
    steps = record["claim"]["steps"]
    if steps > MAX_STEPS:
        raise EvidenceError(f"a claim about {steps} steps, {MAX_STEPS} at most")
    if any(len(each.steps) <= steps and _ratio(each) < verdict.bound for each in schedules):
        raise EvidenceError("a schedule of the front refutes the claim")
    return _Bound(steps, verdict, record)


def _throughput(record: dict[str, Any], whole: Instance) -> ThroughputResult:
    about = Instance.from_json(record.get("instance"))
    if about.digest != throughput_instance(whole).digest:
        raise EvidenceError("the throughput is about another instance")
    return checked_throughput(about, record)


def _points(
    index: Mapping[str, Any], schedules: list[Schedule], bounds: list[_Bound]
) -> tuple[FrontPoint, ...]:
    """Return the points of the index, each with the schedule and the certificate that show it."""
    listed = index.get("points")
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise EvidenceError("the points are no list of objects")
    if not listed:
        raise EvidenceError("the front has no points")
    points = []
    possible = [*_possible_points([FrontPoint(each, None, None) for each in schedules], bounds)]
    for number, entry in enumerate(listed):
        claimed = {k: v for k, v in entry.items() if k not in ("schedule", "certificate")}
        for point in possible:
            shown = point.to_json()
            if claimed == {key: shown[key] for key in shown if key in claimed}:
                points.append(point)
                break
        else:
            raise EvidenceError(f"no files show point {number}")
    for number, (one, other) in enumerate(pairwise(points)):
        # The first row, of one chunk, may be beside another of as many steps.
        beside = number == 0 and one.chunks == 1 and one.steps == other.steps
        if one.ratio <= other.ratio or not (beside or one.steps < other.steps):
            raise EvidenceError(
                f"point {number + 1} has not more steps and fewer rounds per chunk than the one"
                " before it"
            )
    return tuple(points)


def _possible_points(points: list[FrontPoint], bounds: list[_Bound]) -> Iterator[FrontPoint]:
    """Yield points with certificates about as many steps or more, the best first, and without."""
    for point in points:
        for each in sorted(bounds, key=lambda each: -each.verdict.bound):
            if each.steps >= point.steps:
                verdict = each.verdict._replace(
                    steps=point.steps, rounds=point.rounds, chunks=point.chunks
                )
                yield replace(
                    point, certificate=each.record, verdict=verdict, certificate_file=each.file
                )
        yield point


def _ratio(schedule: Schedule) -> Fraction:
    return Fraction(sum(schedule.rounds), schedule.instance.collective.chunks)


def _format(record: Any) -> str:
    return str(record.get("format")) if isinstance(record, dict) else ""
