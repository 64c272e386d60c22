"""Trees of the throughput as schedules: one batch of chunks, with a step per level of the trees."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from cchybrid.checker import EvidenceError
from cchybrid.checker.throughput import FORMAT, check_throughput
from cchybrid.model import Instance, Schedule, Transfer
from cchybrid.model.collective import one_and_many
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import read_json


def read_schedule(path: Path) -> Schedule:
    """Return the schedule of a schedule file, or of a file of trees that the checker accepts.

    Raises
    ------
    InputError
        It is neither.
    """
    record = read_json(path)
    with with_context(path):
        if not isinstance(record, Mapping) or record.get("format") != FORMAT:
            return Schedule.from_json(record)
        try:
            check_throughput(record)
        except EvidenceError as error:
            raise InputError(str(error), hint="see: cchybrid check") from None
        return _one_batch(record)


def _one_batch(record: Mapping[str, Any]) -> Schedule:
    """Return the schedule in wormhole switching; a step has the rounds that its paths need.

    The trees of a reduction lead to the root, so their levels come in reverse order.
    """
    instance = Instance.from_json(record["instance"]).in_chunks(record["chunks"])
    backwards = instance.collective.kind == "combine"
    chunks: defaultdict[tuple[int, tuple[int, ...]], list[int]] = defaultdict(list)
    for number, (one, many) in enumerate(map(one_and_many, instance.collective.messages)):
        chunks[one, tuple(sorted(many))].append(number)
    levels: defaultdict[int, list[Transfer]] = defaultdict(list)
    for tree in record["trees"]:
        depth = {tree["root"]: 0}
        found = []
        for path in tree["paths"]:
            start, end = (path[-1], path[0]) if backwards else (path[0], path[-1])
            depth[end] = depth[start] + 1
            found.append((depth[end], tuple(path)))
        goals = tuple(sorted({*depth} - {tree["root"]}))
        for _ in range(tree["chunks"]):
            number = chunks[tree["root"], goals].pop()
            for level, path in found:
                levels[level].append(Transfer(number, path))
    size = {(a, b): capacity for a, b, capacity in instance.network.channels}
    rounds = []
    for _, step in sorted(levels.items()):
        load = Counter(hop for _, path in step for hop in pairwise(path))
        rounds.append(max(-(-count // size[hop]) for hop, count in load.items()))
    steps = [tuple(step) for _, step in sorted(levels.items(), reverse=backwards)]
    model = {"switching": "wormhole", "rounds": tuple(rounds)}
    return Schedule(instance.with_model(**model), tuple(steps))
