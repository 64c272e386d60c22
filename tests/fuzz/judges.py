"""Plain judges of what a reader accepted: each reads the same file in another, simpler way."""

import contextlib
import json
import sqlite3
import zlib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
from jsonschema import Draft202012Validator

import cchybrid
from cchybrid.checker import EvidenceError, Network, fingerprint
from cchybrid.checker.instance import Network as CheckedNetwork
from cchybrid.checker.schedule import checked_schedule
from cchybrid.library.schemas import schema
from cchybrid.model import Collective, Instance, Message, Schedule
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry
from cchybrid.proof.refutation import refute
from cchybrid.referee.verify import verify_schedule
from tests.checker.plain_throughput import assert_true
from tests.fuzz.reader import CORPUS
from tests.plain_referee import breaches


@cache
def _validator(name: str) -> Any:
    return Draft202012Validator(schema(name))


def schedules(folder: Path) -> list[bytes]:
    """Return the schedules of the seed files."""
    pairs = sorted((*folder.glob("certificate-*.json"), *folder.glob("rounds-*.json")))
    return [json.dumps(json.loads(path.read_bytes())[0]).encode() for path in pairs]


@cache
def topology_names() -> list[str]:
    """Return an example of every family of topologies."""
    return [family.example for family in load_registry().topologies.values()]


def instance(path: Path, found: Instance) -> None:
    """Three readers agree: the model, the checker, and the JSON Schema."""
    record = json.loads(path.read_text("utf-8-sig"))
    CheckedNetwork(record)
    _validator("instance-2" if record["format"].endswith("2") else "instance-1").validate(record)
    assert Instance.from_json(found.to_json()) == found
    assert fingerprint(found.to_json()) == found.digest


def built(path: Path, found: Instance) -> None:
    """The instance that was built is one that the checker reads, and survives being written."""
    CheckedNetwork(found.to_json())
    assert Instance.from_json(found.to_json()) == found


def schedule(path: Path, found: Schedule) -> None:
    """Three judges agree: the referee, the plain referee, and the checker."""
    record = json.loads(path.read_text("utf-8-sig"))
    reported = verify_schedule(found)
    for violation in reported:
        assert len(violation.text) < 400
        assert violation.text.isprintable()
    refusal = ""
    try:
        checked_schedule(record)
    except EvidenceError as error:
        refusal = str(error)
    assert "\n" not in refusal
    assert len(refusal) < 2000
    assert bool(refusal) == bool(reported), reported[:1]
    if not found.instance.collective.with_sums:
        plain = {
            (b.rule, b.step, b.transfer, b.message) for b in breaches(found.instance, found.steps)
        }
        assert plain == {(v.rule, v.step, v.transfer, v.message) for v in reported}
    assert Schedule.from_json(found.to_json()).steps == found.steps


def certificate(path: Path, found: Any) -> None:
    """The schedule is valid, and no shorter one exists where CaDiCaL can tell."""
    verdict, (record, claim) = found
    read = Schedule.from_json(record)
    assert not verify_schedule(read)
    assert verdict.steps == len(read.steps) >= claim["claim"]["steps"] == verdict.bound
    assert claim["instance"]["sha256"] == read.instance.digest
    if read.instance.collective.with_sums or verdict.bound < 2:
        return
    if verdict.bound <= _true_claims().get(read.instance.digest, 0):
        return
    shorter = refute(Network(record["instance"]), verdict.bound - 1, 2.0, lambda: False)
    assert shorter.shorter is None, "a shorter schedule exists"


@cache
def _true_claims() -> dict[str, int]:
    """Return the steps that the seed files claim, by instance."""
    claims = [json.loads(path.read_bytes())[1] for path in CORPUS.glob("certificate-*.json")]
    found: dict[str, int] = {}
    for claim in claims:
        digest = claim["instance"]["sha256"]
        found[digest] = max(found.get(digest, 0), claim["claim"]["steps"])
    return found


def rounds(path: Path, found: Any) -> None:
    """The schedule is valid, and does not refute the claim."""
    verdict, (record, _) = found
    read = Schedule.from_json(record)
    assert not verify_schedule(read)
    assert (verdict.chunks, verdict.steps) == (read.instance.collective.chunks, len(read.steps))
    assert verdict.rounds == sum(read.rounds)
    assert verdict.rounds_per_chunk >= verdict.bound


def throughput(path: Path, found: Any) -> None:
    """The trees attain what is claimed, and the bound holds by its slow definition."""
    assert_true(*found)


def design(path: Path, found: Any) -> None:
    """NetworkX finds the same diameter and mean distance."""
    network(path, found[0])
    record, figures = found[1:]
    graph = nx.MultiGraph(tuple(link) for link in record["links"])
    assert sorted(graph) == list(range(record["nodes"]))
    assert max(degree for _, degree in graph.degree()) <= record["degree"]
    assert nx.diameter(graph) == figures.diameter
    assert abs(nx.average_shortest_path_length(graph) - float(figures.mean)) < 1e-9


def network(path: Path, found: cchybrid.Network) -> None:
    """The checker reads the network, and it survives being written."""
    assert cchybrid.Network.from_json(found.to_json()) == found
    if found.nodes > 1:
        messages = (Message(0, (1,)),)
        CheckedNetwork(Instance(found, Collective("one", messages)).to_json())


def plain_text_format(path: Path, found: cchybrid.Network) -> None:
    """The channels are those of the rows."""
    network(path, found)
    lines = path.read_text("utf-8-sig").split("\n")
    (count, _), *rows = filter(None, (line.split("#")[0].split() for line in lines))
    assert found.nodes == int(count) == len(rows)
    arcs = Counter((int(row[0]), int(to)) for row in rows for to in row[2:])
    assert Counter({(a, b): size for a, b, size in found.channels}) == arcs


def plain_graph(path: Path, found: cchybrid.Network) -> None:
    """The nodes and the number of links are those that NetworkX, or the lines of the file, have."""
    network(path, found)
    text = path.read_text("utf-8-sig")
    if path.suffix in (".graphml", ".gml"):
        graph = (
            nx.parse_graphml(text, force_multigraph=True)
            if path.suffix == ".graphml"
            else nx.parse_gml(text, label="id")
        )
        nodes, links = len(graph), set(map(frozenset, graph.to_undirected().edges()))
    else:
        rows = [line.split("#")[0].split() for line in text.split("\n")]
        ends = 2 if path.suffix == ".edgelist" else None
        rows = [row[:ends] for row in rows if row]
        nodes = len({word for row in rows for word in row})
        links = {frozenset((row[0], to)) for row in rows for to in row[1:]}
    assert found.nodes == nodes
    assert len({frozenset(channel[:2]) for channel in found.channels}) == len(links)


def suite(path: Path, found: Any) -> None:
    """Every row survives being written, and rows have names of their own."""
    kind = load_registry().benchmark(found.kind)
    for row in found.rows:
        assert kind.from_json(json.loads(json.dumps(row.to_json()))).name == row.name
    names = [row.name.casefold() for row in found.rows]
    assert len(set(names)) == len(names)


def store(path: Path, found: Any) -> None:
    """Every run that counts has a schedule that the plain referee accepts, of as many steps."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        stored = database.execute("SELECT seed, schedule FROM runs").fetchall()
    for run in found.runs.itertuples():
        if not run.held or run.failure or run.steps != run.steps:
            continue
        # Of any row: the index of a damaged database may name a row otherwise than its table.
        read = []
        for seed, packed in stored:
            with contextlib.suppress(zlib.error, TypeError, ValueError, InputError):
                if seed == run.seed:
                    read.append(Schedule.from_json(json.loads(zlib.decompress(packed))))
        assert any(
            len(each.steps) == run.steps and not breaches(each.instance, each.steps)
            for each in read
        )
        if run.certified:
            assert run.lower_bound <= run.steps


def log(path: Path, found: Any) -> None:
    """The schedule is valid by the plain referee, and no bound exceeds it."""
    best = found.schedule
    if best is not None:
        assert not breaches(best.instance, best.steps)
        assert found.lower_bound.steps <= len(best.steps)
