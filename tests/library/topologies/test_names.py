"""Names of networks: case, misspelling, parameters that make no sense."""

import re
import time

import pytest

from cchybrid.library.topologies import FAMILIES, network
from cchybrid.model.errors import InputError
from tests.refusals import refused


@pytest.mark.parametrize("name", ["Mesh-4X4", "  hypercube-8 ", "RING-BI-5", "Petersen"])
def test_case_and_blanks_do_not_matter(name):
    assert network(name).name == name.strip().lower()


MEANT = {
    "hypercub-8": "hypercube-8", "mesh4x4": "mesh-4x4", "mesh-4*8": "mesh-4x8",
    "4x4 mesh": "mesh-4x4", "rings-8": "ring-8", "Spidergon16": "spidergon-16",
    "hypercub-7": "hypercube-8", "mesh-\uff14x\uff14": "mesh-4x4",
}  # fmt: skip


@pytest.mark.parametrize("written", MEANT)
def test_unknown_name_suggests_the_one_that_was_meant(written):
    with refused(f"did you mean {MEANT[written]}?", "cchybrid topologies"):
        network(written)


@pytest.mark.parametrize("name", ["", "zzz", "ladder-8", "-", "x" * 10_000])
def test_unknown_name_without_likeness_says_where_the_names_are(name):
    with pytest.raises(InputError, match="`cchybrid topologies` lists") as caught:
        network(name)
    assert len(str(caught.value)) < 200


REFUSALS = {
    "hypercube-12": "hypercube-12: 12 is no power of two; use hypercube-8 or hypercube-16",
    "hypercube-0": "hypercube-0: a hypercube has at least 2 nodes; use hypercube-2",
    "hypercube": "hypercube: the parameters are missing; write hypercube-N, such as",
    "spidergon-7": "7 is odd, so there are no opposite nodes; use spidergon-6 or spidergon-8",
    "ring-bi-2": "at least 3 nodes; use ring-bi-3",
    "mesh-0x3": "mesh-0x3: an extent of 0 leaves no nodes; use mesh-1x3",
    "mesh-1x1": "one node alone is no network; use mesh-1x2",
    "mesh-16": "only one extent is given; use mesh-4x4, or mesh-1x16 for one row",
    "petersen-11": "petersen-11: this graph has 10 nodes; use petersen-10",
    "kautz-13": "with 13 nodes; use kautz-12 or kautz-36", "kautz-3": "use kautz-4",
    "levi-31": "levi-31: this graph has 30 nodes; use levi-30",
    "circulant-16-1x9": "stride 9 is not between 1 and 8; use 7 in its place",
    "circulant-16-0": "stride 0 is not between 1 and 8; use 1 in its place",
    "circulant-16-3x3": "a stride is listed twice; use circulant-16-3",
    "circulant-16-2x4": "2 components; use circulant-16-1x2x4",
    "harary-5-1": "degree 1 is too low for a Harary graph here; use harary-5-2",
    "harary-5-5": "degree 5 is too high for 5 nodes; use harary-6-5",
    "circulant-16": "did you mean circulant-16-1x4",
    "k-ring-4": "at least 5 nodes; use k-ring-5",
    "k-ring-6": "6 nodes have no second ring; use k-ring-5 or k-ring-7",
    "k-ring-10000": "use at most 4096, or give its stride: circulant-10000-1x100",
    "amp-16": "use amp-8, amp-23, amp-32, amp-42 or amp-53",
    "butterfly-9": "9 is no power of two; use butterfly-8 or butterfly-16",
    "clos-2": "at least 4 terminals here; use clos-4",
    "clos-13": "13 is prime, so it cannot be divided among switches; use clos-12 or",
    "b-tree-6": "6 is no power of two; use b-tree-4 or b-tree-8",
    "full-tree-8": "do not fill the rows of a binary tree; use full-tree-7 or full-tree-15",
    "0-fat-mesh-2x2": "no terminals at the switches; use 1-fat-mesh-2x2",
    "2-fat-omega-8": "omega-8 has switches and terminals of its own",
    "2-fat-hypercub-8": "unknown network 'hypercub-8'; did you mean hypercube-8?",
    "2-fat-ring-bi-2": "2-fat-ring-bi-2: ring-bi-2: a ring-bi has at least 3 nodes",
    "fat": "write F-fat-X, such as 2-fat-hypercube-8",
    "hyperx-1x1": "one node alone is no network; use hyperx-1x2",
    "de-bruijn-1-4": "degree 1 leads from a word to no other; use a degree of 2 or more",
    "de-bruijn-2-0": "words need at least one digit; use a diameter of 1 or more",
    "ccc-2": "with 2 dimensions two nodes would have two links between them; use ccc-3",
    "wrapped-butterfly-2": "would have two links between them; use wrapped-butterfly-3",
    "wrapped-butterfly-13": "13 dimensions have too many nodes; use at most wrapped-butterfly-12",
    "shuffle-exchange-0": "words of 0 bits are too few; use shuffle-exchange-1",
    "shuffle-exchange-17": "words of 17 bits are too many; use shuffle-exchange-16",
    "de-bruijn-bi-1-4": "degree 1 leads from a word to no other; use a degree of 2 or more",
    "de-bruijn-bi-2-0": "words need at least one digit; use a diameter of 1 or more",
    "ccc-13": "13 dimensions have too many nodes; use at most ccc-12",
    "dragonfly-0x2": "there is no network; use dragonfly-1x2",
    "slim-fly-9": "9 is no odd prime; use slim-fly-7 or slim-fly-11",
    "slim-fly-89": "89 is too large; use slim-fly-83",
    "rails-1x8": "a cluster has at least two boxes, not 1; use two",
    "cluster-4x8x0": "a box has a GPU, and a capacity from 1 to 1000; use cluster-4x8x9",
    "rail-4x8": "did you mean rails-4x8?", "rails-4": "did you mean rails-4x8",
    "1-ary-3-tree": "such a tree has no two terminals; use 2-ary-3-tree",
    "benes-12": "12 is no power of two; use benes-8 or benes-16", "benes-1": "use benes-2",
    "random-regular-9-3-1": "half a link; use random-regular-10-3-1",
    "random-regular-9-2-1": "too low for a random network; use a degree of 3 or more",
    "random-regular-4-4-1": "degree 4 is too high for 4 nodes; use at least 5 nodes",
    "random-geometric-40-3-1": "is connected; use more links, a higher degree, or fewer nodes",
    "random-links-20-18-1": "18 links cannot connect 20 nodes, each pair at most once",
    "scale-free-4-4-1": "4 nodes cannot have 4 links each; use 1 to 3",
    "small-world-24-5-1": "no degree of 5; use a degree of 6",
    "small-world-24-4-101-1": "101 percent of the links are too many; use at most 100",
    "binomial-tree-33-1-1":
        "33 is no power of two; use binomial-tree-32-1-1 or binomial-tree-64-1-1",
    "binomial-tree-32-466-1": "466 links are more than there are pairs beside the tree; use at",
    "dragonfly": "the parameters are missing; write dragonfly-AxH, such as dragonfly-4x2",
    "dgx-3": "did you mean dgx-1", "nsfnet": "did you mean nsfnet-14?",
    "4-ary-tree": "did you mean 4-ary-2-tree", "slimfly-5": "did you mean slim-fly-5?",
}  # fmt: skip
"""Messages for names whose parameters make no sense; they name sensible ones."""

ABSURD = """
    hyperx-65536 hyperx-300x300x300 de-bruijn-2-17 de-bruijn-3000-1 de-bruijn-2-999999999999999
    ccc-999999999999999 dragonfly-999999x999999 slim-fly-999999999999 2-ary-999999999999999-tree
    2-ary-16-tree benes-65536 random-regular-65538-3-1 random-regular-65536-64-1
    random-regular-8-3-9999999999999999 random-geometric-65536-64-1 random-links-65536-9999999-1
    scale-free-65536-64-1 small-world-65538-4-1 hypercube-999999999999 ring-bi-65537 ring-uni-65537
    spidergon-65538 kautz-78732 complete-65536 mesh-300x300x300 circulant-99999999-1x2
    midimew-65537 omega-65536 omega-99999999999999 clos-99999999-9999999-999999 clos-99999999999999
    harary-65537-4 harary-65536-99 shuffle-exchange-999999999 wrapped-butterfly-999999999
    de-bruijn-bi-2-17 de-bruijn-bi-1500-1 binomial-tree-131072-1-1 binomial-tree-65536-999999999-1
    small-world-65538-4-50-1 b-tree-65536 full-tree-131071 fat-tree-32768
    99999999-fat-mesh-9x9 2-fat-mesh-999999x9
    rails-99999x99999 cluster-65536x1 rails-4x8x99999999999999999
"""


@pytest.mark.parametrize("name", REFUSALS)
def test_senseless_parameters_name_the_nearest_sensible_ones(name):
    with refused(REFUSALS[name]):
        network(name)


@pytest.mark.parametrize(
    "name",
    [
        *ABSURD.split(), "torus-" + "9x" * 500 + "9", "mesh-4x" + "9" * 5000,
        "9" * 5000 + "-fat-mesh-2x2", "circulant-60000-" + "x".join(map(str, range(1, 40))),
    ],
)  # fmt: skip
def test_absurd_sizes_are_refused_at_once(name):
    start = time.perf_counter()
    with pytest.raises(InputError, match=r"too (many|large)"):
        network(name)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_record_is_complete(family):
    assert re.fullmatch(family.pattern, family.example)
    assert family.name in family.usage.lower()
    assert family.build is not None
    assert family.summary
