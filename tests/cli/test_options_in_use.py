"""No option is ignored: what has no use beside the others is refused in one line."""

from __future__ import annotations

import pytest

import cchybrid
from cchybrid.cli.app import run
from cchybrid.model.errors import InputError

HOPS = "--switching store-and-forward"
BY_ITSELF = "every hop is a path of its own; leave it out"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (f"solve mesh-2x2 AAB {HOPS} --routing any", BY_ITSELF),
        (f"bound mesh-2x2 AAB {HOPS} --routing 3", BY_ITSELF),
        ("solve mesh-2x2 AAB --strategy race --evaluations 9", "run one after another; leave it"),
        ("instance mesh-2x2 AAB --chunks 3 -o i.txt", "the text format holds no chunks"),
        ("solve mesh-2x2 AAB --ignore-attributes", "mesh-2x2 is no graph file with attributes"),
        ("network mesh-2x2 --ignore-attributes", "mesh-2x2 is no graph file with attributes"),
        ("bound mesh-2x2 AAB --unit 25", "--unit: mesh-2x2 is no graph file with attributes"),
        ("check s.json c.json --explain --json", "--explain: the argument is sentences; leave"),
        ("check s.json --explain --json", "--explain: the argument is sentences; leave"),
        ("check .", "no plugin checks it without a certificate; name the certificate after the"),
        ("bound mesh-2x2 MNB --transmitters 0-2 --fail-node 2", "transmitters: node 2 fails"),
        ("warm-up tabu --all", "--all: all, and some by name; leave one of them out"),
    ],
)  # fmt: skip
def test_what_has_no_use_is_refused(words, line, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(words.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert line in err
    assert not list(tmp_path.iterdir())


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
