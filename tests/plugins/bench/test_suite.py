"""Suites: those that ship name instances that exist, and others say what is wrong with them."""

from __future__ import annotations

import json

import pytest
from cchybrid_plugins.bench.cli import run
from cchybrid_plugins.bench.features import facts_of, features
from cchybrid_plugins.bench.row import Published, Row
from cchybrid_plugins.bench.runner import digests
from cchybrid_plugins.bench.suite import read_suite, suite_names

import cchybrid
from cchybrid.library.formats.network_json import network_record
from cchybrid.library.instance_spec import InstanceSpec, resolve
from cchybrid.library.roles import senders_and_receivers
from cchybrid.model import Network
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.kinds import needs, readable_suites
from tests.plugins.bench.local_runs import suite_of


@pytest.mark.parametrize("stride", [13, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", readable_suites())
def test_every_row_of_a_suite_that_ships_names_an_instance(name, stride):
    """Every row is read; of its instances, every one of this ``stride`` is built."""
    suite = read_suite(name)
    assert suite.name == name
    assert suite.about
    registry = load_registry()
    kind = registry.benchmark(suite.kind)
    names = set()
    for number, row in enumerate(suite.rows):
        assert row.name not in names
        names.add(row.name)
        assert kind.from_json(row.to_json()) == row
        large = any(part in row.name for part in ("256", "16x16", "128", "12x12", "512"))
        if not large and number % stride == 0:  # large ones are resolved when they are run
            kind.digest(row, registry)


def test_the_help_names_every_suite():
    text = " ".join(str(run.__doc__).split())
    assert all(name in text for name in suite_names())


def test_the_thesis_suite_holds_every_row_of_the_thesis():
    suite = read_suite("thesis")
    first = {
        (row.spec.topology, row.spec.collective, row.spec.root): row for row in reversed(suite.rows)
    }
    assert len(first) == 432
    plain = list(first.values())
    assert sum(row.published.steps is None for row in plain) == 19
    assert sum(not row.published.comparable for row in plain) == 16
    longer = [row.name for row in plain if row.spec.routing is not None]
    assert longer == ["kautz-36 OAS root 0 routing 1"]
    assert all(row.published.source for row in plain)
    assert {row.published.lower_bound is None for row in plain if row.published.steps} == {False}


def test_lists_multiply_and_repeats_count_once(tmp_path):
    suite = suite_of(
        tmp_path,
        """
            about = "by hand"
            [[rows]]
            topology = ["Ring-Bi-4", "mesh-2x2"]
            collective = ["OAB", "AAS"]
            root = [0, 1]
            [[rows]]
            topology = "ring-bi-4"
            collective = "OAB"
            root = 1
            ports = 1
            fail_links = "0-1 1-2"
            receivers = "0-2"
            steps = 3
            comparable = false
            [[rows]]
            topology = "mesh-2x2"
            collective = "OAB"
            root = 1
            """,
    )
    assert suite.name == "mine"
    assert len(suite.rows) == 9
    assert suite.rows[0].name == "ring-bi-4 OAB root 0"
    assert suite.rows[8].name == "ring-bi-4 OAB root 1 to 0-2 ports 1 without link 0-1 1-2"
    assert suite.rows[8].published == Published(steps=3, comparable=False)
    assert suite.rows[8].spec == InstanceSpec(
        "ring-bi-4", "OAB", "1", None, "0-2", None, None, "1", ("0-1", "1-2")
    )


def test_rows_have_nodes_by_name(tmp_path):
    """As ``solve`` takes them: the network of the row knows the names."""
    names = ("Jiří", "lab_2", "node-6", "4")
    network = Network.from_links("lab", 4, [(0, 1), (1, 2), (2, 3), (3, 0)], node_names=names)
    (tmp_path / "lab.json").write_text(json.dumps(network_record(network)))
    text = """
        [[rows]]
        topology = "./lab.json"
        collective = "MNB"
        transmitters = "Jiří"
        receivers = "lab_2,node-6"
        [[rows]]
        topology = "./lab.json"
        collective = "AAS"
        fail_nodes = "node-6"
        [[rows]]
        topology = "./lab.json"
        collective = "OAB"
        root = "Jiri"
        """
    suite = suite_of(tmp_path, text)
    assert [row.name for row in suite.rows] == [
        "lab.json MNB from Jiří to lab_2,node-6", "lab.json AAS without node node-6",
        "lab.json OAB root Jiri",
    ]  # fmt: skip
    assert [Row.from_json(json.loads(json.dumps(row.to_json()))) for row in suite.rows] == [
        *suite.rows
    ]
    broadcast, exchange = (resolve(row.spec, load_registry()) for row in suite.rows[:2])
    facts = facts_of(broadcast)
    assert senders_and_receivers(broadcast.collective) == ((0,), (1, 2))
    assert senders_and_receivers(exchange.collective)[0] == (0, 1, 3)
    assert features(suite.rows[1], facts)["fail_nodes"] == "node-6"
    with pytest.raises(InputError, match="root Jiri: root: no node 'Jiri' in lab"):
        digests(suite, load_registry())


def test_tables_are_filtered_and_varied(tmp_path):
    (tmp_path / "values.csv").write_text(
        "# published\ntopology,collective,root,steps,lower_bound,place,source,note\n"
        "Mesh-3x3,OAB,4,2,2,centre,a paper,\nring-bi-8,AAS,,8,,,,odd\n"
    )
    suite = suite_of(
        tmp_path,
        """
            [[tables]]
            file = "values.csv"
            only = { topology = "MESH-*" }
            with = { routing = ["minimal", "any"] }
            """,
    )
    # Over any routes it is another instance, of which nothing was published.
    assert {row.name: row.published for row in suite.rows} == {
        "mesh-3x3 OAB root 4": Published(2, 2, "centre", "a paper"),
        "mesh-3x3 OAB root 4 routing any": Published(2, 2, "centre", "a paper", comparable=False),
    }


def test_suites_accept_the_names_of_mpi(tmp_path):
    (tmp_path / "values.csv").write_text("topology,collective\nmesh-3x3,all-gather\nmesh-3x3,AAS\n")
    text = """
        rows = [{ topology = "ring-bi-4", collective = ["ReduceScatter", "multicast:1"] }]
        [[tables]]
        file = "values.csv"
        only = { collective = "allgather" }
        """
    names = {row.name for row in suite_of(tmp_path, text).rows}
    assert names == {"mesh-3x3 AAB", "ring-bi-4 AAR", "ring-bi-4 multicast:1"}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("all*", "AAB AAS allreduce"), ("All-*", "AAB AAS allreduce"), ("aa?", "AAB AAS"),
        ("*[f-h]ather", "AAB"), ("all_reduce", "allreduce"), ("Multi-cast:*-?", "multicast:1,2-3"),
    ],
)  # fmt: skip
def test_a_pattern_selects_a_collective_by_any_of_its_names(tmp_path, pattern, expected):
    named = "AAB", "alltoall", "allreduce", "OAB", '"multicast:1,2-3"', '"multicast:1,23"'
    lines = "".join(f"mesh-3x3,{name}\n" for name in named)
    (tmp_path / "values.csv").write_text(f"topology,collective\n{lines}")
    text = f'[[tables]]\nfile = "values.csv"\nonly = {{ collective = "{pattern}" }}\n'
    rows = suite_of(tmp_path, text).rows
    assert " ".join(row.spec.collective for row in rows) == expected


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "mine.toml: no rows; write [[rows]]"),
        ("rows = 3", "rows: no list of tables"),
        ("x = 1", "the suite has no 'x'; use name"),
        ("[[rows]]\ncollective = 'AAS'", "rows[0]: a row without a topology"),
        ("[[rows]]", "rows[0]: a row without a topology"),
        ("[[rows]]\ntopology = 'ring-bi-4'\nnodes = 4", "nodes: no row has such a value"),
        ("[[rows]]\ntopology = 'ring-bi-4'\nsteps = 1.5", "'1.5' is no whole number"),
        ("[[rows]]\ntopology = 'ring-bi-4'\ncomparable = 3", "'3' is neither yes nor no"),
        ("[[tables]]\nfile = 'none.csv'", "none.csv: cannot be read"),
        ("[[rows]]\ntopology = ['a/net.json', 'b/net.json']", "two rows are called net.json"),
        ("[[tables]]\nnofile = 1", "nofile: no row has such a value"),
        ("[[tables]]\nfile = 3", "a table without a file"),
        ("[[rows]", "not TOML"),
        ("x = " + "9" * 5000, "not TOML"),
        ("x = " + "[" * 20000, "not TOML"),
        ("name = 'a\\nb'\n[[rows]]\ntopology = 'ring-bi-4'", "name: "),
        ("[[rows]]\ntopology = []", "an empty list"),
        ('[[tables]]\nfile = "a\\u0000b"', "no file has such a name"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, complaint):
    with pytest.raises(InputError) as raised:
        suite_of(tmp_path, text)
    assert complaint in str(raised.value)


@needs("designs")
def test_published_numbers_keep_their_digits(tmp_path):
    text = "[[designs]]\nnodes = 4\ndegree = 2\nmean-distance = 1.30\nlatency = 1_0.50"
    (row,) = suite_of(tmp_path, text).rows
    assert row.published == {"mean-distance": "1.30", "latency": "10.50"}


def test_combinations_are_counted_before_they_are_listed(tmp_path):
    many = ", ".join(["0"] * 50)
    keys = ("root", "transmitters", "receivers", "participants", "chunks", "rounds", "ports")
    lists = "\n".join(f"{key} = [{many}]" for key in keys)
    rows = f'[[rows]]\ntopology = "ring-bi-4"\ncollective = "OAB"\n{lists}'
    with pytest.raises(InputError, match="more than 100000 combinations of the listed values"):
        suite_of(tmp_path, rows)
    (tmp_path / "t.csv").write_text("topology,collective\nring-bi-4,OAB\n")
    given = ", ".join(f"{key} = [{many}]" for key in keys)
    with pytest.raises(InputError, match="more than 100000 combinations"):
        suite_of(tmp_path, f'[[tables]]\nfile = "t.csv"\nwith = {{ {given} }}')


def test_spelling_makes_no_other_row(tmp_path):
    text = """
        [[rows]]
        topology = ["ring-bi-4", "Ring-Bi-4"]
        collective = ["AAS", "aas"]
        routing = ["minimal", "Minimal", 0]
        """
    assert len(suite_of(tmp_path, text).rows) == 1


def test_files_stand_beside_their_suite_and_keep_what_they_say(tmp_path, monkeypatch):
    """Options that override an instance file are in the name; the current folder is irrelevant."""
    cchybrid.instance("mesh-2x2", "AAS", switching="store-and-forward", ports=1).save(
        tmp_path / "mine.json"
    )
    text = """
        [[rows]]
        topology = "./mine.json"
        [[rows]]
        topology = "mine.json"
        switching = "wormhole"
        ports = "all"
        """
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    suite = suite_of(tmp_path, text)
    assert [row.name for row in suite.rows] == ["mine.json", "mine.json wormhole ports all"]
    models = [resolve(row.spec, load_registry()).model for row in suite.rows]
    assert [model.switching for model in models] == ["store-and-forward", "wormhole"]


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ("topology,collective\nring-bi-4,AAS,8\n", "line 2: too many or too few values"),
        ("# one\n# two\ntopology,steps\nring-bi-4,8\nring-bi-6,x\n", "line 5: steps: 'x' is no"),
        ('topology,note\nring-bi-4,"open\nring-bi-6,fine\n', "no CSV"),
        ("topology,steps,steps\nring-bi-4,1,2\n", "two columns have one name"),
        ("topology\nmesh-2x2\n", "no line matches"),
        ("topologgy\nring-bi-4\n", "the table has no column 'topology'"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path, table, complaint):
    (tmp_path / "v.csv").write_text(table)
    text = "[[tables]]\nfile = 'v.csv'\nonly = { topology = 'ring*' }"
    with pytest.raises(InputError) as raised:
        suite_of(tmp_path, text)
    assert complaint in str(raised.value)


def test_tables_that_leave_the_collective_open(tmp_path):
    (tmp_path / "v.csv").write_text("topology,steps\n ring-bi-4 ,8\n")
    text = """
        [[tables]]
        file = "v.csv"
        only = { topology = "ring-bi-4" }
        with = { collective = ["aas", "multicast:2,3"], routing = ["minimal", "any"] }
        """
    rows = suite_of(tmp_path, text).rows
    assert {row.name: row.published.comparable for row in rows} == {
        "ring-bi-4 AAS": True, "ring-bi-4 AAS routing any": False, "ring-bi-4 multicast:2,3": True,
        "ring-bi-4 multicast:2,3 routing any": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("column", "stated", "comparable"),
    [("yes", "", False), ("no", "", False), ("", "yes", True), ("no", "yes", True)],
)
def test_what_a_table_says_of_its_instance_is_not_said_of_another(
    tmp_path, column, stated, comparable
):
    (tmp_path / "v.csv").write_text(
        f"topology,collective,steps,comparable\nring-bi-4,AAS,2,{column}"
    )
    more = f', comparable = "{stated}"' if stated else ""
    text = f'[[tables]]\nfile = "v.csv"\nwith = {{ ports = "1"{more} }}'
    (row,) = suite_of(tmp_path, text).rows
    assert (row.name, row.published.comparable) == ("ring-bi-4 AAS ports 1", comparable)


def test_rows_have_routing_tables_by_name(tmp_path):
    text = '[[rows]]\ntopology = "mesh-2x3"\ncollective = "AAS"\nrouting = "{}"'
    (row,) = suite_of(tmp_path, text.format("XY")).rows
    assert row.name == "mesh-2x3 AAS routing xy"
    assert resolve(row.spec, load_registry()).model.table is not None
    with pytest.raises(InputError, match="a row has no file of next hops; name an instance file"):
        suite_of(tmp_path, text.format("hops.csv"))
