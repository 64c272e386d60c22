"""Names of networks: case, misspelling, parameters that make no sense."""

from __future__ import annotations

import re
import time

import pytest

from cchybrid.library.topologies import FAMILIES, network
from cchybrid.model import Network
from cchybrid.model.errors import InputError
from cchybrid.plugin.records import TopologyInfo


@pytest.mark.parametrize("name", ["Mesh-4X4", "  hypercube-8 ", "RING-BI-5", "Petersen"])
def test_case_and_blanks_do_not_matter(name: str) -> None:
    assert network(name).name == name.strip().lower()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("hypercub-8", "hypercube-8"),
        ("mesh4x4", "mesh-4x4"),
        ("mesh_4x8", "mesh-4x8"),
        ("mesh-4*8", "mesh-4x8"),
        ("4x4 mesh", "mesh-4x4"),
        ("torus 3x3", "torus-3x3"),
        ("rings-8", "ring-8"),
        ("Spidergon16", "spidergon-16"),
        ("heawod", "heawood-14"),
        ("hypercub-7", "hypercube-8"),
        ("mesh-\uff14x\uff14", "mesh-4x4"),
        ("hypercube-8x8", "hypercube-8"),
    ],
)
def test_unknown_name_suggests_the_one_that_was_meant(written: str, meant: str) -> None:
    with pytest.raises(InputError) as caught:
        network(written)
    assert f"did you mean {meant}?" in str(caught.value)
    assert "cchybrid topologies" in str(caught.value)


@pytest.mark.parametrize("name", ["", "zzz", "ladder-8", "-", "x" * 10_000])
def test_unknown_name_without_likeness_says_where_the_names_are(name: str) -> None:
    with pytest.raises(InputError, match="`cchybrid topologies` lists") as caught:
        network(name)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hypercube-12", "hypercube-12: 12 is no power of two; use hypercube-8 or hypercube-16"),
        ("hypercube-0", "hypercube-0: a hypercube has at least 2 nodes; use hypercube-2"),
        ("hypercube", "hypercube: the parameters are missing; write hypercube-N, such as"),
        ("spidergon-7", "7 is odd, so there are no opposite nodes; use spidergon-6 or spidergon-8"),
        ("spidergon-2", "at least 4 nodes; use spidergon-4"),
        ("ring-bi-2", "at least 3 nodes; use ring-bi-3"),
        ("ring-uni-1", "at least 2 nodes; use ring-uni-2"),
        ("complete-1", "at least 2 nodes; use complete-2"),
        ("mesh-0x3", "mesh-0x3: an extent of 0 leaves no nodes; use mesh-1x3"),
        ("mesh-1x1", "one node alone is no network; use mesh-1x2"),
        ("mesh-16", "only one extent is given; use mesh-4x4, or mesh-1x16 for one row"),
        ("torus-16", "use torus-4x4, or ring-bi-16"),
        ("petersen-11", "petersen-11: this graph has 10 nodes; use petersen-10"),
        ("kautz-13", "with 13 nodes; use kautz-12 or kautz-36"),
        ("kautz-3", "use kautz-4"),
        ("kautz-30000", "use kautz-26244"),
    ],
)
def test_senseless_parameters_name_the_nearest_sensible_ones(name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        network(name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "hypercube-999999999999",
        "ring-bi-65537",
        "ring-uni-65537",
        "spidergon-65538",
        "kautz-78732",
        "complete-65536",
        "mesh-300x300x300",
        "torus-" + "9x" * 500 + "9",
        "mesh-4x" + "9" * 5000,
    ],
)
def test_absurd_sizes_are_refused_at_once(name: str) -> None:
    start = time.perf_counter()
    with pytest.raises(InputError, match=r"too (many|large)"):
        network(name)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_record_is_complete(family: TopologyInfo) -> None:
    assert re.fullmatch(family.pattern, family.example)
    assert family.name in family.usage.lower()
    assert family.build is not None
    assert family.summary


def test_names_are_distinct() -> None:
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)


def test_other_families_can_be_given() -> None:
    line = TopologyInfo(
        name="line",
        usage="line-N",
        pattern=r"line-(\d+)",
        build=lambda text: Network.from_links("?", int(text), [(0, 1)]),
        summary="two nodes",
        example="line-2",
    )
    assert network("LINE-2", [line]).name == "line-2"
    with pytest.raises(InputError, match="did you mean line-3"):
        network("lines-3", [line])
