"""The readers of cchybrid: what each reads, its seed files, and a judge of what it accepts."""

import contextlib
import io
import json
import os
import tempfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import cchybrid
from cchybrid.checker import EvidenceError
from cchybrid.model.errors import InputError
from cchybrid.model.json_fields import parse_json
from tests.fuzz import judges, mutators
from tests.fuzz.mutators import Mutator
from tests.fuzz.reader import CORPUS, ROOT, Judge, Reader, files, texts
from tests.present import beside_tests, present


def _text(path: Path) -> str:
    """Return the text of a file as it would come from the command line."""
    return path.read_bytes().decode(errors="surrogateescape")


def _pair(path: Path) -> Any:
    """Check a schedule and its certificate, which stand in one list."""
    found = parse_json(path.read_text("utf-8", errors="replace"))
    if not isinstance(found, list) or len(found) != 2:
        raise InputError("no pair of a schedule and its certificate")
    names = [path.with_name(f"{part}.json") for part in ("schedule", "certificate")]
    for name, record in zip(names, found, strict=True):
        name.write_text(json.dumps(record))
    return cchybrid.check(*names), found


def _throughput(path: Path) -> Any:
    from cchybrid.checker.throughput import check_throughput
    from cchybrid.model.instance import read_text

    record = parse_json(read_text(path))
    return check_throughput(record), record


def _checker_alone(path: Path) -> Any:
    """Run ``python -m cchybrid.checker`` on a file."""
    from cchybrid.checker.__main__ import main

    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        status = main([str(path)])
    _, *about = out.getvalue().splitlines()
    assert not (status and about), out.getvalue()[:300]
    assert all(line.startswith("  ") for line in about), out.getvalue()[:300]
    assert len(out.getvalue()) < 2000, out.getvalue()[:300]
    if status:
        raise EvidenceError(out.getvalue().strip())
    return status


def _command(path: Path) -> Any:
    """Run the words of a file as a command."""
    from cchybrid.cli.app import run

    words = _text(path).replace("\0", "").split()
    if not words or "-o" in words or words[0] in ("solve", "bound", "prove", "bench", "design"):
        raise InputError("this command would search, or write a file")
    if not Path("s.json").exists():
        Path("s.json").write_bytes(judges.schedules(CORPUS)[1])
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()) as out,
    ):
        try:
            status = run(words)
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else 2
    assert status in (0, 1, 2, 3), status
    if status == 2:
        raise InputError(out.getvalue())


def _topology(path: Path) -> Any:
    return cchybrid.network(_text(path))


@cache
def _named() -> Any:
    """Return a small network whose nodes have names, some with commas and hyphens."""
    names = ("R1", "R2", "a,b", "a-b", "x>y", "7", "0-1", "last")
    links = [(node, (node + 1) % 8) for node in range(8)]
    return cchybrid.Network.from_links("named", 8, links, node_names=names)


def _collective(path: Path) -> Any:
    from cchybrid.host.instances import collective

    return collective(_text(path), _named() if "R1" in _text(path) else "mesh-3x3")


def _words(path: Path) -> Any:
    """Make an instance of lines such as ``root=3``."""
    given: dict[str, Any] = {"network": "mesh-3x3", "collective": "OAB"}
    for line in _text(path).split("\n"):
        key, equals, value = line.partition("=")
        if not equals or key.strip() not in _KEYS:
            raise InputError("no keyword of an instance")
        given[key.strip()] = value.split() if key.strip() in ("fail_links", "fail_nodes") else value
        if key.strip() == "chunks":
            given["chunks"] = len(value)
    if given["network"] == "named":
        given["network"] = _named()
    return cchybrid.instance(**given)


_KEYS = (
    "network", "collective", "root", "transmitters", "receivers", "routing", "switching", "ports",
    "fail_links", "fail_nodes", "participants", "chunks", "rounds",
)  # fmt: skip
_WORDS = texts(
    "root=3\nports=1,2\nrouting=any", "network=hypercube-8\ncollective=MNB\ntransmitters=0-3,7",
    "collective=AAS\nparticipants=0-3\nfail_links=0-1 3>4\nfail_nodes=8", "rounds=1,2,2\nchunks=xx",
    "switching=store-and-forward\nports=all\nrounds=1,2",
    "network=ring-bi-6\ncollective=pairs:0>3,2>5",
    "network=named\nroot=R2\nfail_links=R1-R2", "network=named\nparticipants=R1,a,b,7",
    "network=named\ncollective=pairs:R1>a,b,x>y>7",
)  # fmt: skip


def _options(path: Path) -> Any:
    """Read options of engines, one a line."""
    import importlib

    from cchybrid.cli.option_texts import engine_options
    from cchybrid.plugin.engine import read_options
    from cchybrid.plugin.registry import load_registry

    registry = load_registry()
    found = []
    for name, given in engine_options(_text(path).split("\n")).items():
        module, _, kind = registry.engine(name).target.partition(":")
        options = getattr(importlib.import_module(module), kind).Options
        found.append(read_options(name, options, given))
    return found


def _suite(path: Path) -> Any:
    from cchybrid_plugins.bench.suite import read_suite

    papers = path.parents[1] / "papers"  # where the tables of the seeds are
    if not papers.exists():
        papers.symlink_to(ROOT / "instances" / "papers")
    return read_suite(str(path))


def _table(path: Path) -> Any:
    from cchybrid_plugins.bench.suite import read_suite

    suite = path.with_name("suite.toml")
    kind = path.suffix[1:].replace("csv", "tables")
    suite.write_text(f'name = "one"\n[[{kind}]]\nfile = "{path.name}"\n')
    return read_suite(str(suite))


def _pairs(path: Path) -> Any:
    from cchybrid.library.node_numbers import read_pairs

    return read_pairs(path, _named())


def _design(path: Path) -> Any:
    """Check a designed network as ``cchybrid check-design`` does."""
    from cchybrid.design_checker import check_design
    from cchybrid.library.formats.network_json import read_network_json
    from cchybrid.model.instance import read_text

    text = read_text(path)
    network, record = read_network_json(text).network, parse_json(text).get("design")
    if record is None:
        raise InputError("there is no design in it")
    return network, record, check_design(record)


@cache
def store_files() -> list[bytes]:
    """Return a store with two finished runs and a failed one."""
    from cchybrid_plugins.bench.contestant import Contestant
    from cchybrid_plugins.bench.row import Row
    from cchybrid_plugins.bench.store import Run, Store
    from cchybrid_plugins.bench.suite import Suite

    from cchybrid.library.instance_spec import InstanceSpec

    rows = tuple(Row(InstanceSpec("hypercube-8", name)) for name in ("OAB", "AAS"))
    record, certificate = json.loads((CORPUS / "certificate-0-linear.json").read_bytes())
    schedule = cchybrid.Schedule.from_json(record)
    steps, bound = len(schedule.steps), certificate["claim"]["steps"]
    record["lower_bound"] = {"steps": bound, "evidence": certificate["evidence"]}
    result = {
        "instance": schedule.instance.name, "status": "optimal", "steps": steps,
        "lower_bound": bound, "certified": True, "bound_by": "growth", "engine": "colouring",
        "seconds": 1.0, "seconds_to_best": 0.5, "seed": 0, "versions": {"cchybrid": "0.1.0"},
        "troubles": [], "contributions": [], "evaluations": {"colouring": 1},
        "digest": schedule.instance.digest,
    }  # fmt: skip
    packed = zlib.compress(json.dumps(record).encode())
    one = Contestant(("colouring",), "auto", None, 500)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.sqlite"
        with Store(path, write=True) as store:
            store.put_suite(Suite("two", "two rows", rows))
            store.put(Run(rows[0].name, one, 0, "", result, packed))
            store.put(Run(rows[0].name, one, 1, "", result, packed))
            store.put(Run(rows[1].name, one, 0, "exit -9", {}))
        return [path.read_bytes()]


def _store(path: Path) -> Any:
    from cchybrid_plugins.bench.report.reading import read_store

    from cchybrid.plugin.registry import load_registry

    for name in ("-journal", "-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)
    return read_store(path, None, load_registry())


def _log(path: Path) -> Any:
    from cchybrid.host.replay import replay_file

    return replay_file(path)


def _wire(path: Path) -> Any:
    """Parse the lines of a worker."""
    from cchybrid.host.wire import parse

    return [parse(raw) for raw in path.read_bytes().split(b"\n")]


_WIRE = texts(
    '{"event": "offer", "steps": [[{"message": 0, "path": [0, 1]}]], "spent": 5, "how": "a way"}',
    '{"event": "bound", "steps": 3, "evidence": {"kind": "linear", "steps": 3}, "complete": true}',
    '{"event": "progress", "steps": 3, "conflicts": 4}', '{"event": "note", "metrics": {"a": 0.5}}',
    '{"event": "started", "complete": true, "options": {"a": 1}}',
    '{"event": "end", "stop": "stalled", "evaluations": 3}',
    '{"event": "spent", "start_processor": 0.5, "start_wall": 1, "search_processor": 0,'
    ' "search_wall": 2}',
    '{"event": "designed", "links": [[0, 1], [1, 2]], "cost": 1.5, "spent": 9}',
    '{"event": "suggest", "steps": [[{"message": 0, "path": [0, 1]}]], "draft": 3}',
    '{"event": "unsupported", "text": "too large"}',
)  # fmt: skip


def _network(path: Path) -> Any:
    from cchybrid.library.formats import read_network

    return read_network(path, ignore_attributes=path.stat().st_size % 2 == 1).network


_LISTS = {
    ".edgelist": texts("0 1\n1 2\n3 4\n4 5\n0 3\n1 4\n2 5", "0 1 {'capacity': 2}\n1 2\n2 0\n"),
    ".adjlist": texts("0 1 3\n1 0 2 4\n2 1 5\n3 0 4\n4 1 3 5\n5 2 4", "a b c\nb c\n# d\n"),
}


def _graphs(suffix: str) -> Callable[[], list[bytes]]:
    """Return a function that returns networks of the library as files of NetworkX."""

    @cache
    def seeds() -> list[bytes]:
        import networkx as nx

        found = []
        for name in ("mesh-2x3", "kautz-12", "2-fat-hypercube-4", "ring-uni-8"):
            graph = nx.relabel_nodes(cchybrid.network(name).to_networkx(), str)
            for *_, data in (*graph.nodes(data=True), *graph.edges(data=True)):
                data.pop("pos", None)
            lines = (
                nx.generate_graphml(graph) if suffix == ".graphml"
                else nx.generate_gml(graph, stringizer=str)
            )  # fmt: skip
            found.append("\n".join(lines).encode())
        return found

    return seeds


def _graph_reader(name: str, suffix: str, mutate: Mutator, *more: str) -> Reader:
    own = _LISTS.get(suffix) or _graphs(suffix)
    seeds = (lambda: own() + files(*more)()) if more else own
    return Reader(name, seeds, _network, mutate, suffix, judges.plain_graph)


def _corpus_reader(name: str, kind: str, read: Any, *judge: Judge) -> Reader:
    seeds = files(f"tests/fuzz/corpus/{kind}-*.json")
    return Reader(name, seeds, read, mutators.mutate_json, ".json", *judge)


def _suite_reader(name: str, read: Any, suffix: str, plugin: str, *paths: str) -> Reader:
    seeds = files(*(f"instances/{path}" for path in paths))
    return Reader(name, seeds, read, mutators.mutate_words, suffix, judges.suite, plugin)


ALL: tuple[Reader, ...] = (
    Reader(
        "instance",
        files("instances/general/h*.json", "instances/octagon-aas.json",
               "instances/json/dgx-1-*.json", "instances/json/ring-uni-8-*.json"),
        lambda path: cchybrid.Instance.load(path), mutators.mutate_json, judge=judges.instance,
    ),
    Reader(
        "schedule", lambda: judges.schedules(CORPUS), lambda path: cchybrid.Schedule.load(path),
        mutators.mutate_json, judge=judges.schedule,
    ),
    _corpus_reader("certificate", "certificate", _pair, judges.certificate),
    _corpus_reader("certificate about rounds", "rounds", _pair, judges.rounds),
    _corpus_reader("throughput file", "throughput", _throughput, judges.throughput),
    _corpus_reader("checker alone", "throughput", _checker_alone),
    _corpus_reader("design file", "design", _design, judges.design),
    _corpus_reader("network JSON", "design", _network, judges.network),
    Reader(
        "text format", files("instances/networks/2-*.txt", "instances/mesh-4x4-many-to-many.txt"),
        _network, mutators.mutate_words, ".txt", judges.plain_text_format,
    ),
    _graph_reader("GraphML", ".graphml", mutators.mutate_xml, "docs/files/cluster.graphml"),
    _graph_reader("GML", ".gml", mutators.mutate_words),
    _graph_reader("edge list", ".edgelist", mutators.mutate_words),
    _graph_reader("adjacency list", ".adjlist", mutators.mutate_words),
    _suite_reader("suite TOML", _suite, ".toml", "bench", "suites/s*.toml",
                  "suites/multistage.toml", "suites/groups.toml"),
    _suite_reader("CSV of a suite", _table, ".csv", "bench", "papers/tacos.csv",
                  "papers/hgsa_oab.csv", "general/general.csv"),
    _suite_reader("CSV of designs", _table, ".designs", "bench design", "papers/order_degree.csv"),
    _suite_reader("CSV of throughputs", _table, ".throughputs", "bench pipelining",
                  "papers/throughput.csv"),
    Reader(
        "CSV of pairs",
        texts("source,destination\nR1,7\n0-1,last\n", "# pairs\nR1,R2\n7,last\n# one\n"),
        _pairs, mutators.mutate_words, ".csv",
    ),
    Reader(
        "topology name", lambda: [name.encode() for name in judges.topology_names()], _topology,
        mutators.mutate_words, "", judges.network,
    ),
    Reader(
        "collective name",
        texts("AAB", "all-gather", "reduce_scatter", "multicast:1,4-6", "pairs:0>3,2>5", "MNS",
               "pairs:R1>R2,a,b>7", "permutation:reverse", "allreduce"),
        _collective, mutators.mutate_words, "",
    ),
    Reader("words of an instance", _WORDS, _words, mutators.mutate_words, "", judges.built),
    Reader(
        "options of engines",
        texts("tabu.width=3\ntabu.tenure=9", "umda.population=50\numda.mutation=0.5",
               "cpsat.draws=2", "lns.units=0.5"),
        _options, mutators.mutate_words, "",
    ),
    Reader(
        "command line",
        texts(*present("network ring-bi-6 --json", "network mesh-3x3", "topologies",
               "collectives --json", "engines tabu", "plugins", "export s.json --to csv",
               "verify s.json --json", "time s.json --sizes 1024,4096 --startup 1.5",
               "topologies torus-3x3", "verify s.json", "export s.json --to markdown")),
        _command, mutators.mutate_words, "",
    ),
    Reader("store", store_files, _store, mutators.mutate_sqlite, ".sqlite", judges.store, "bench"),
    Reader("log", files("tests/fuzz/corpus/run.jsonl"), _log, mutators.mutate_words, ".jsonl",
           judges.log),
    Reader("line of a worker", _WIRE, _wire, mutators.mutate_json),
    *(each for module in beside_tests("fuzz_readers") for each in module.READERS),
)  # fmt: skip
READERS: tuple[Reader, ...] = tuple(reader for reader in ALL if reader.is_there)
"""All readers."""


def reader(name: str) -> Reader:
    """Return the reader of a name."""
    return next(each for each in (*READERS, *_WRONG) if each.name == name)


def _loop(path: Path) -> None:
    while True:
        path.stat()


def _fill(path: Path) -> int:
    return len(bytearray(1 << 40))


def _lie(path: Path, found: Any) -> None:
    assert path.read_bytes() == b"a", "wrong"


_WRONG = tuple(
    Reader(f"test: {name}", texts("a"), read, mutators.mutate_bytes, judge=judge)
    for name, read, judge in (
        ("loops", lambda path: path.read_bytes() == b"a" or _loop(path), lambda path, found: None),
        ("dies", lambda path: path.read_bytes() == b"a" or os._exit(9), lambda path, found: None),
        ("fails", lambda path: path.read_bytes() == b"a" or 1 / 0, lambda path, found: None),
        ("fills", lambda path: path.read_bytes() == b"a" or _fill(path), lambda path, found: None),
        ("lies", Path.read_bytes, _lie),
    )
)
"""Readers that do what no reader must, for the tests of the fuzzer."""
