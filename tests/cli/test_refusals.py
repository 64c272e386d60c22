"""Refusals of the command line: one line, status 2, and nothing is written."""

import json

import pytest

import cchybrid
from cchybrid.cli.app import run
from cchybrid.model.errors import InputError
from tests.cli.test_proving import save

HOPS = "--switching store-and-forward"
BY_ITSELF = "every hop is a path of its own; leave it out"
NO_GRAPH = "mesh-2x2 is no graph file with attributes"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a schedule, one without its last step, a file that is no JSON."""
    path = tmp_path_factory.mktemp("refusals")
    save(path / "s.json", "ring-bi-4", "AAB")
    record = json.loads((path / "s.json").read_text())
    record["steps"].pop()
    (path / "broken.json").write_text(json.dumps(record))
    (path / "garbled.json").write_text("certificate")
    (path / "empty").mkdir()
    (path / "noc").write_text("a b")
    return path


@pytest.mark.parametrize(
    ("words", "line"),
    [
        # Instances and options that do not exist, or have a wrong form.
        ("solve hypercube-12 AAS", "use hypercube-8 or hypercube-16"),
        ("solve spidergon-8 AAX", "did you mean AAS or alltoall or AAR or reduce-scatter?"),
        ("solve spidergon-8 allreduce --evaluations 9", "evaluations: not available for allreduce"),
        ("solve spidergon-8", "no collective is named for spidergon-8"),
        ("solve ring-bi-4 AAS --without umda", "without: umda does not take part anyway; drop it"),
        ("solve ring-bi-4 AAS --engine lns --without lns", "without: no engine is left"),
        ("solve ring-bi-4 AAS --ports many", "use all, K, or INJECT,ACCEPT"),
        ("solve ring-bi-4 AAS --fail-link 0-2", "no link 0-2 in ring-bi-4"),
        ("solve ring-bi-4 AAS --time-limit 5s",
         "--time-limit: '5s' is no number of seconds; use a number such as 5"),
        ("solve ring-bi-4 AAS --seed=x", "--seed: 'x' is no whole number; use a whole number"),
        ("solve ring-bi-4 AAS --switching hop-by-hop", "store-and-forward (hop by hop) or tdm"),
        ("network noc", "unknown network 'noc'; there is a file noc; give it an extension such as"),
        ("solve ring-bi-4 AAS --time-limit 0", "use a number above 0"),
        ("solve ring-bi-4 AAS --steps 0", "use a whole number above 0"),
        ("solve ring-bi-4 AAS --option cpsat", "write ENGINE.NAME=VALUE"),
        ("solve ring-bi-4 AAS --option absent.x=1", "no engine is called absent"),
        ("solve ring-bi-4 AAS --engine umda --option cpsat.log=1", "does not take part"),
        ("solve ring-bi-4 permutation:3>1,3>2", "node 3 sends twice"),
        ("engines absent", "see: cchybrid engines"),
        ("solve", "see: cchybrid solve --help"),
        ("prove", "see: cchybrid prove --help"),
        ("dance", "see: cchybrid --help"),
        # The nearest name.
        ("slove ring-bi-4 AAS", "did you mean solve? see: cchybrid --help"),
        ("solve ring-bi-4 AAS --time-limt 3", "did you mean --time-limit? see: cchybrid solve"),
        ("solve ring-bi-4 AAS --strategy rely", "did you mean relay? use auto, race, relay"),
        ("solve ring-bi-4 AAS --option umda.popsize=3",
         "umda has no option popsize; did you mean population? `cchybrid engines umda` lists"),
        ("solve ring-bi-4 AAS --option umda.population",
         "the value of umda.population is missing; write --option umda.population=VALUE"),
        ("engines tbu", "did you mean tabu?"),
        # Files.
        ("solve nothing.json", "nothing.json: cannot be read: No such file"),
        ("prove nothing.json", "nothing.json: cannot be read: No such file"),
        ("check nothing.json nothing.json", "nothing.json: cannot be read: No such file"),
        ("check s.json garbled.json", "garbled.json: line 1, column 1: not valid JSON"),
        ("prove s.json -o s.json", "this is the schedule; name another file"),
        ("prove broken.json", "not a valid schedule"),
        ("solve ring-bi-4 AAS -o no/such/folder.json", "a folder that does not exist"),
        ("solve ring-bi-4 AAS -o .", "-o: . is a folder"),
        ("solve ring-bi-4 AAS --log .", "--log: . is a folder"),
        ("solve ring-bi-4 AAS -o a.json --log a.json", "two results in a.json"),
        ("instance ring-bi-4 AAS -o instance.xml", "use a name that ends in .json or .txt"),
        ("instance ring-bi-4 AAS --ports 1 -o x.txt", "no chunks, switching, ports or routing"),
        # No option is ignored: what has no use beside the others is refused.
        (f"solve mesh-2x2 AAB {HOPS} --routing any", BY_ITSELF),
        (f"bound mesh-2x2 AAB {HOPS} --routing 3", BY_ITSELF),
        ("solve mesh-2x2 AAB --strategy race --evaluations 9", "run one after another; leave it"),
        ("instance mesh-2x4 permutation:bit-reversal -o i.txt", "it has other messages; write a"),
        ("instance mesh-2x2 permutation:random-1 -o i.txt", "only the modes of the nodes, it has"),
        ("instance mesh-1x2 gather --root 1 -o i.txt", "it has other messages; write a .json"),
        ("instance mesh-2x2 AAB --chunks 3 -o i.txt", "the text format holds no chunks"),
        ("solve mesh-2x2 AAB --ignore-attributes", NO_GRAPH),
        ("network mesh-2x2 --ignore-attributes", NO_GRAPH),
        ("bound mesh-2x2 AAB --unit 25", f"--unit: {NO_GRAPH}"),
        ("check s.json c.json --explain --json", "--explain: the argument is sentences; leave"),
        ("check s.json --explain --json", "--explain: the argument is sentences; leave"),
        ("check empty", "no plugin checks it without a certificate; name the certificate after"),
        ("bound mesh-2x2 MNB --transmitters 0-2 --fail-node 2", "transmitters: node 2 fails"),
        ("warm-up tabu --all", "--all: all, and some by name; leave one of them out"),
        # Two values of one option.
        ("solve mesh-4x4 OAB --root 0 --root=15", "--root: given twice"),
        ("solve mesh-4x4 OAB --certify --no-certify", "--certify: given twice"),
        ("solve mesh-3x3 OAB --option tabu.tenure=1 --option tabu.tenure=2",
         "--option: tabu.tenure is given twice"),
        ("solve ring-bi-4 AAS --strategy luck", "use auto, race, relay"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused(words, line, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    assert run(words.split()) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("cchybrid: ")
    assert line in err
    assert sorted(folder.iterdir()) == before


def test_no_error_is_longer_than_a_screen(capsys):
    for words in (f"topologies {'x' * 9000}", f"solve ring-bi-4 {'y' * 9000}"):
        assert run(words.split()) == 2
        assert len(capsys.readouterr().err) < 1100


def test_routing_beside_store_and_forward_in_python(tmp_path):
    with pytest.raises(InputError, match="routing: no routing in store-and-forward switching"):
        cchybrid.instance("mesh-2x2", "AAB", switching="store-and-forward", routing="minimal")
    cchybrid.instance("mesh-2x2", "AAB", switching="store-and-forward").save(tmp_path / "i.json")
    with pytest.raises(InputError, match="routing: no routing in store-and-forward switching"):
        cchybrid.instance(tmp_path / "i.json", routing="any")


def test_a_kind_that_a_collective_does_not_have_in_python():
    found = cchybrid.instance("mesh-2x2", "AAB").collective
    for pattern in ("AAB", found, found.messages):
        with pytest.raises(InputError, match=r"kind: .+ is of kind deliver; leave it out"):
            cchybrid.collective(pattern, "mesh-2x2", kind="combine")
