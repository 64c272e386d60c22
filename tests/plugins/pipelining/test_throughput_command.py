"""``throughput``, and ``check`` of its files."""

import json
import re
from fractions import Fraction
from pathlib import Path

import networkx as nx
import pytest

import cchybrid
from tests.cli.test_commands import call

PAGE = (Path(__file__).parents[3] / "docs" / "throughput.md").read_text()
BLOCKS = {
    language: re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for language in ("console", "text", "python")
}


def test_the_optimum_in_words(tmp_path):
    done = call("throughput", "dgx-1", "allgather", cwd=tmp_path)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "dgx-1 AAB, any routing: 7/6 = 1.16667 rounds per chunk, optimal (certified)"
    assert lines[1] == (
        "bound: all messages together use the 4 channels 1->0, 2->0, 3->0, 4->0, of capacity 6, "
        "at least 7 times per chunk"
    )
    assert "trees carry 6 chunks of every message in 7 rounds" in lines[2]
    backwards = call("throughput", "dgx-1", "reduce-scatter", cwd=tmp_path).stdout
    assert "use the 4 channels 0->1, 0->2, 0->3, 0->4, " in backwards
    paths = call("throughput", "ring-bi-8", "alltoall", cwd=tmp_path).stdout
    assert "ring-bi-8 AAS, any routing: 8 rounds per chunk, optimal (certified)" in paths
    assert "paths carry 1 chunk of every message in 8 rounds" in paths


@pytest.mark.slow
def test_the_optimum_for_programs(tmp_path):
    words = ("throughput", "dgx-a100-x2", "allgather", "--json", "--bandwidth", "25")
    record = json.loads(call(*words, "-o", "trees.json", cwd=tmp_path).stdout)
    expected = {
        "rounds_per_chunk": "15/13", "bound": "15/13", "certified": True, "chunks": 13,
        "rounds": 15, "total_rate": "1040/3", "file": "trees.json",
        # The channels into GPU 0, from its network card and its switch.
        "evidence": {"kind": "linear", "channels": [[16, 0, 1], [32, 0, 1]]},
    }  # fmt: skip
    assert record.items() >= expected.items()
    text = call(*words[:3], *words[4:], cwd=tmp_path).stdout
    assert "21.667 GB/s per message, 346.667 GB/s for all 16" in text
    assert "use the 2 channels nic0.0->gpu0.0, nvswitch0->gpu0.0, of capacity 13, " in text
    done = call("check", "trees.json", "--json", cwd=tmp_path)
    shown = {"holds": True, "optimal": True, "kind": "linear"}
    assert (done.returncode, json.loads(done.stdout).items() >= shown.items()) == (0, True)


def test_check_names_what_is_wrong(tmp_path):
    call("throughput", "mesh-2x3", "alltoall", "-o", "flow.json", cwd=tmp_path)
    file = tmp_path / "flow.json"
    assert "optimal (certified); linear" in call("check", "flow.json", cwd=tmp_path).stdout
    explained = call("check", "flow.json", "--explain", cwd=tmp_path).stdout.splitlines()
    assert explained[1].startswith("  network: 6 nodes, counted from 0, 14 channels of capacity 1")
    assert "  Let the messages be cut into equal chunks and take any number of steps." in explained
    assert explained[-1].endswith(" rounds per chunk: at least 4.")
    record = json.loads(file.read_text())
    record["trees"].pop()
    file.write_text(json.dumps(record))
    done = call("check", "flow.json", cwd=tmp_path)
    assert done.returncode == 1
    assert "FAILED: the trees of a message carry more or fewer chunks than it has" in done.stdout
    done = call("check", "flow.json", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["holds"] is False


def test_a_gap_has_its_own_exit_status(tmp_path):
    channels = [[0, 4], [4, 1], [4, 2], [4, 3]]
    network = {"name": "copier", "nodes": 5, "switches": [4], "channels": channels}
    record = {"format": "cchybrid-network/1", "network": network}
    (tmp_path / "copier.json").write_text(json.dumps(record))
    done = call("throughput", "copier.json", "broadcast", "-o", "gap.json", cwd=tmp_path)
    assert done.returncode == 1
    assert "3 rounds per chunk; at least 1 are needed (certified)" in done.stdout
    done = call("check", "gap.json", cwd=tmp_path)
    assert done.returncode == 0
    assert "valid, 3 rounds per chunk, at least 1 are needed; linear" in done.stdout


def test_what_a_limit_left_out_is_said(tmp_path):
    words = "left out: flows over all paths: 300 sources times 600 channels are too many"
    done = call("throughput", "ring-bi-300", "alltoall", "--time-limit", "5", cwd=tmp_path)
    assert done.returncode == 1
    assert words in done.stdout


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with instances: one with rounds, one with a routing table."""
    folder = tmp_path_factory.mktemp("instances")
    for name, network, more in (
        ("two", "ring-bi-4", {"rounds": [2]}),
        ("xy", "mesh-2x3", {"routing": "xy"}),
    ):
        cchybrid.instance(network, "AAS", **more).save(folder / f"{name}.json")
    return folder


TABLE = "a routing table is for wormhole switching; leave it out"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("throughput", "see: cchybrid throughput --help"),
        ("throughput dgx-1", "no collective is named for dgx-1"),
        ("throughput dgx-1 allgathr", "did you mean"),
        ("throughput dgx-1 allgather --bandwidth 1e9", "--bandwidth: '1e9' is no bandwidth"),
        ("throughput dgx-1 allgather --bandwidth -3", "--bandwidth: '-3' is no bandwidth"),
        ("throughput dgx-1 allgather --bandwidth 0", "is no bandwidth"),
        ("throughput dgx-1 allgather --ignore-attributes", "dgx-1 is no graph file with attrib"),
        ("throughput dgx-1 allgather --unit 25", "--unit: dgx-1 is no graph file with attrib"),
        ("throughput dgx-1 allgather -o no/such/file.json", "does not exist"),
        ("throughput dgx-1 broadcast --root 9", "root 9 is no terminal"),
        ("throughput ring-bi-300 alltoall --time-limit 0", "--time-limit: "),
        ("throughput dgx-1 allreduce -o x.json", "-o: two schedules; ask for reduce-scatter, allg"),
        ("throughput dgx-1 scan", "scan is not part of throughput"),
        ("throughput two.json", "rounds of steps are not part of throughput; leave them out"),
        ("throughput xy.json", "a routing table is not part of throughput; use another routing"),
        ("rounds xy.json --steps 3", TABLE),
        ("pareto xy.json", TABLE),
        ("check two.json", "no plugin checks it without a certificate; name the certificate"),
        ("check nothing.json", "cannot be read"),
    ],
)
def test_bad_input_gets_one_line(words, line, files):
    done = call(*words.split(), cwd=files)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert line in done.stderr


@pytest.mark.parametrize(
    ("name", "rounds", "every"),
    [("ring-bi-4", "3", "3"), ("mesh-2x3", "5", "30/7"), ("dgx-1", "7/3", "7/3")],
)
def test_an_allreduce_is_two_halves_beside_a_bound_for_all(name, rounds, every, tmp_path):
    done = call("throughput", name, "allreduce", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (done.returncode, found["rounds_per_chunk"], found["bound"]) == (0, rounds, every)
    halves = found["halves"]
    assert all(half["certified"] for half in halves)
    assert sum(Fraction(half["rounds_per_chunk"]) for half in halves) == Fraction(rounds)
    done = call("throughput", name, "allreduce", "--bandwidth", "1", cwd=tmp_path)
    text = (
        f"rounds per chunk of each of {found['parts']} parts, if reduce-scatter and allgather have"
    )
    assert text in done.stdout
    network = cchybrid.network(name)
    channels = sum(channel.capacity for channel in network.channels)
    n = network.nodes
    # n parts, each of which takes 2 (n - 1) transfers.
    assert Fraction(every) == Fraction(2 * n * (n - 1), channels)
    assert f"algorithm bandwidth {n / float(Fraction(rounds)):.3f} GB/s" in done.stdout


def test_the_page_shows_what_is_printed(tmp_path, capsys):
    command = BLOCKS["console"][0].splitlines()[0].removeprefix("$ cchybrid ")
    assert call(*command.split(), cwd=tmp_path).stdout == BLOCKS["text"][0]
    exec(BLOCKS["python"][0], {})
    assert capsys.readouterr().out.startswith("15/13 True 346.6666666666667\n0 [[0, ")


@pytest.mark.slow
def test_bandwidths_of_a_file_price_its_capacities(tmp_path):
    # 25 GB/s per unit of capacity.
    graph = nx.Graph()
    for name, size in (("R1", 25), ("R2", 25), ("R3", 50), ("R4", 25), ("R-5", 25)):
        graph.add_edge("S", name, bandwidth=size)
    nx.write_graphml(graph, tmp_path / "plain.graphml")
    graph.add_edge("R1", "R2", bandwidth=25, duplex="half")
    nx.write_graphml(graph, tmp_path / "cluster.graphml")
    plain = ("throughput", "plain.graphml", "broadcast")
    words = ("pareto", "cluster.graphml", "broadcast", "--root", "R3", "--latency", "1")
    rate = json.loads(call(*plain, "--json", cwd=tmp_path).stdout)
    assert float(Fraction(rate["message_rate"])) == 25 / float(Fraction(rate["rounds_per_chunk"]))
    priced = call(*words, "--json", "--max-steps", "2", "-o", "front", cwd=tmp_path)
    assert json.loads(priced.stdout)["choices"]
    for refused in ((*plain, "--bandwidth", "25"), (*words, "--bandwidth", "25")):
        done = call(*refused, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("cchybrid:")) == (2, 1)
        assert "the file says it: capacity 1 is 25 GB/s; leave it out" in done.stderr


def test_no_bandwidth_of_a_capacity_of_1_that_the_file_has_not(tmp_path):
    graph = nx.Graph()
    for a, b, capacity in (("a", "b", 0.5), ("b", "c", 1), ("c", "a", 1)):
        graph.add_edge(a, b, capacity=capacity)
    nx.write_graphml(graph, tmp_path / "half.graphml")
    words = ("half.graphml", "allgather")
    for refused in (
        ("throughput", *words, "--bandwidth", "25"),
        ("pareto", *words, "--latency", "1", "--bandwidth", "25"),
    ):
        done = call(*refused, cwd=tmp_path)
        assert done.returncode == 2
        assert "capacity 1 is written capacity 0.5, so it is unclear which is meant" in done.stderr
    assert call("throughput", *words, "--unit", "1", "--bandwidth", "25", cwd=tmp_path).returncode
    assert call("throughput", *words, cwd=tmp_path).returncode == 0


@pytest.mark.slow
def test_any_divisor_of_bandwidths_is_used_exactly(tmp_path):
    graph = nx.Graph()
    for box in ("a", "b"):
        graph.add_node(f"switch-{box}", switch=True)
        for gpu in range(2):
            graph.add_edge(f"{box}{gpu}", f"switch-{box}", bandwidth=300)
            graph.add_edge(f"{box}{gpu}", "ib", bandwidth=23.7)
    graph.nodes["ib"]["switch"] = True
    nx.write_graphml(graph, tmp_path / "two.graphml")
    words = ("two.graphml", "allgather")
    found = json.loads(call("throughput", *words, "--json", cwd=tmp_path).stdout)
    # Two messages enter a box over two adapters of 79 units of 0.3 GB/s.
    assert (found["rounds_per_chunk"], found["certified"]) == ("1/79", True)
    done = call("pareto", *words, "--max-steps", "2", "--time-limit", "20", cwd=tmp_path)
    assert done.returncode == 1
    assert "wormhole switching" in done.stdout
    checked = call("check", "two-AAB-front", "--json", cwd=tmp_path)
    points = json.loads(checked.stdout)["points"]
    assert all(point["chunks"] % 26 == 0 for point in points)
    best, bound = Fraction(points[-1]["ratio"]), Fraction(points[-1]["bound"])
    assert Fraction(1, 79) <= bound <= best < 2 * bound
    through = call("throughput", *words, "--switching", "wormhole", cwd=tmp_path).stdout
    assert "as nccl-tests count: algorithm bandwidth 94.800 GB/s, bus bandwidth 71.100" in through
