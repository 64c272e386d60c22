"""Plain judges of foreign files: each reads the file once more, and performs what it says."""

import csv
import io
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from xml.etree import ElementTree

from cchybrid_plugins.exchange.audit import Audit

from cchybrid.checker.schedule import checked_schedule
from cchybrid.model import Schedule
from cchybrid.model.collective import one_and_many
from cchybrid.plugin.imported import Imported
from tests.fuzz import judges
from tests.plain_referee import breaches
from tests.plugins.exchange.expected import expected, given
from tests.plugins.exchange.memory import RefusedError
from tests.plugins.exchange.msccl_interpreter import Run, parse

_MAX_CHUNKS = 64
"""Chunks of a buffer up to which a program is performed: their contents are large numbers."""


def _valid(schedule: Schedule) -> None:
    """The checker and the plain referee accept the schedule."""
    checked_schedule(schedule.to_json())
    if not schedule.instance.collective.with_sums:
        assert not breaches(schedule.instance, schedule.steps)


def imported(path: Path, found: Imported) -> None:
    """The schedule is valid, and the instance survives being written."""
    assert not found.broken
    for line in (*found.facts, *found.limits):
        assert line.isprintable()
        assert len(line) < 2000
    if found.instance is not None:
        judges.built(path, found.instance)
    if found.schedule is not None:
        _valid(found.schedule)


def audited(path: Path, found: Audit) -> None:
    """The verdict is one line; what is valid is so by the plain referee, and above its bound."""
    assert found.sentence.isprintable()
    assert len(found.sentence) < 2000
    json.dumps(found.to_json())
    if found.imported is not None:
        imported(path, found.imported)
    if found.verdict == "valid":
        assert found.length is not None
        assert found.lower <= (found.length if found.rounds is None else found.rounds)


def csv_(path: Path, found: Imported) -> None:
    """Every row is a transfer of its step, along the nodes of its path."""
    imported(path, found)
    assert found.schedule is not None
    names = found.schedule.instance.network.node_names
    first, *rows = csv.reader(io.StringIO(path.read_text("utf-8-sig")))
    keys = [key.strip().lower() for key in first]
    plain: Counter[tuple[int, int]] = Counter()
    for row in rows:
        if not any(map(str.strip, row)):
            continue
        record = dict(zip(keys, map(str.strip, row), strict=True))
        nodes = record.get("path") or "0 1"  # an empty path is the hop between both ends
        hops = nodes.count("->") if "->" in nodes else len(re.split(r"[\s,;]+", nodes)) - 1
        plain[int(record["step"]), hops] += 1
    steps = enumerate(found.schedule.steps, 1)
    assert plain == Counter((n, len(each.path) - 1) for n, step in steps for each in step)
    assert names is None or len(set(names)) == len(names)


def msccl(path: Path, found: Imported) -> None:
    """A program that an executor would load puts into every output what the collective says."""
    imported(path, found)
    assert found.instance is not None
    try:
        program = parse(path.read_text("utf-8-sig"))
    except (RefusedError, ElementTree.ParseError):
        return  # it lacks attributes that executors need, or has a colon in the name of one
    if max(map(max, program.chunks.values())) > _MAX_CHUNKS:
        return
    one, many = one_and_many(found.instance.collective.messages[0])
    root = many[0] if program.collective == "gather" else one
    inputs = program.chunks["i"][root]
    factor = {"allgather": program.gpus, "gather": program.gpus}.get(program.collective, 1)
    parts = {"reducescatter": program.gpus, "scatter": program.gpus}.get(program.collective, 1)
    outputs = inputs * factor // parts
    outcome = expected(program.collective, program.gpus, inputs, outputs, root)
    for in_place in program.modes:
        run = Run(program, given, slots=1 << 40, loops=1, in_place=in_place).perform()
        for (gpu, index), value in outcome.items():
            assert run.output(gpu, index) == value, f"GPU {gpu}, chunk {index}"


def poseidon(path: Path, found: Imported) -> None:
    """There is a node for each tile, and a message for each packet."""
    imported(path, found)
    assert found.instance is not None
    text = re.sub(r"^\s*<\?[^>]*\?>", "", path.read_text("utf-8-sig"))
    root = ElementTree.fromstring(f"<all>{text}</all>")
    size = next(each for name in ("platform", "topology") for each in root.findall(name))
    width, height = int(size.get("width", "")), int(size.get("height", ""))
    network = found.instance.network
    assert network.nodes == width * height
    if network.name.startswith("mesh"):
        links = {frozenset(channel[:2]) for channel in network.channels}
        assert len(links) == 2 * width * height - width - height
    traffic = next(each for name in ("communication", "channels") for each in root.findall(name))
    common = traffic.get("bandwidth", "1")
    packets = sum(int(each.get("bandwidth", common)) for each in traffic.findall("channel"))
    if str(traffic.get("type") or traffic.get("comType")).lower() == "all2all":
        packets = network.nodes * (network.nodes - 1) * int(common)
    assert len(found.instance.collective.messages) == packets


def sccl(path: Path, found: Imported) -> None:
    """Performed step by step, the sends bring every chunk to its nodes, within the capacities."""
    imported(path, found)
    record = json.loads(path.read_text("utf-8-sig"))
    links = record["topology"]["links"]
    chunks = [
        (number, chunk.get("addr", number), chunk["pre"], chunk["post"])
        for number, chunk in enumerate(record["collective"]["chunks"])
        if chunk["pre"] and chunk["post"]
    ]
    held: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for number, address, owners, _ in chunks:
        for node in owners:
            held[address, node].add(number)
    for step in record["steps"]:
        before = {key: set(parts) for key, parts in held.items()}
        load = Counter((source, target) for _, source, target in step["sends"])
        for (source, target), count in load.items():
            assert count <= links[target][source] * step["rounds"]
        for address, source, target in step["sends"]:
            assert before.get((address, source))
            held[address, target] |= before[address, source]
    for number, address, _, goals in chunks:
        assert all(number in held[address, node] for node in goals)


def teccl(path: Path, found: Imported) -> None:
    """No whole chunk is sent on before it has arrived, and every demand is met in time."""
    imported(path, found)
    text = path.read_text("utf-8-sig")
    record = {key.partition("-")[2].lower(): value for key, value in json.loads(text).items()}
    epochs = record["epochs_required"]
    if found.own is not None:
        assert found.own.lower <= found.own.value == epochs
    demands = [tuple(map(int, re.findall(r"\d+", key)[:3])) for key in record["chunk paths"]]
    if "volume" in text or any(path for paths in record["chunk paths"].values() for path in paths
                               if isinstance(path, list)):  # fmt: skip
        return
    arrival: dict[tuple[int, int, int], int] = {}
    flows = [tuple(map(int, re.findall(r"\d+", flow)[:5])) for flow in record["flows"]]
    for chunk, source, start, end, epoch in sorted(flows, key=lambda flow: flow[4]):
        assert start == source or arrival[source, chunk, start] <= epoch < epochs
        arrival.setdefault((source, chunk, end), epoch + 1)
    for goal, chunk, source in demands:
        assert arrival[source, chunk, goal] <= epochs
