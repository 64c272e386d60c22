"""Known optima of real instances, through the command line and the default strategy."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cchybrid.cli.app import run

OPTIMA = [
    ("spidergon-8 AAS", 4),
    ("mesh-4x4 OAS --root 1 --routing any", 5),
    ("torus-4x4 AOR", 2),
    ("mesh-4x4 AAB --switching store-and-forward", 8),
]
MORE_OPTIMA = [
    ("mesh-3x3 AAS --ports 1", 8),
    ("ring-uni-8 AAS", 28),
    ("kautz-12 AAS", 7),
    ("mesh-4x4 AAB", 8),
    ("hypercube-8 AAS", 4),
    ("hypercube-8 OAS", 3),
    ("petersen-10 AAS", 5),
    ("heawood-14 AAB", 5),
    ("ring-bi-24 OAB", 3),
    ("hypercube-8 AAB --switching store-and-forward", 3),
]


Solve = Callable[[str], dict[str, object]]


@pytest.fixture
def solve(tmp_path, monkeypatch, capsys) -> Solve:
    """The command; the engines are in processes of their own all the same."""
    monkeypatch.chdir(tmp_path)

    def command(words: str) -> dict[str, object]:
        status = run(["solve", *words.split(), "--json"])
        out, err = capsys.readouterr()
        assert status == 0, err
        record: dict[str, object] = json.loads(out)
        return record

    return command


@pytest.mark.parametrize(
    ("words", "steps"),
    [*OPTIMA, *(pytest.param(*row, marks=pytest.mark.long) for row in MORE_OPTIMA)],
)
def test_known_optima_are_found_and_certified(words, steps, solve):
    record = solve(words)
    assert (record["steps"], record["lower_bound"], record["status"]) == (steps, steps, "optimal")
    assert record["certified"] is True
    assert record["troubles"] == []


@pytest.mark.long
def test_the_thesis_example_file_is_solved(solve):
    folder = Path(__file__).parents[1] / "instances"
    record = solve(f"{folder / 'mesh-4x4-many-to-many.txt'} MNS")
    assert record["status"] == "optimal"
    record = solve(str(folder / "octagon-aas.json"))
    assert (record["steps"], record["certified"]) == (4, True)
